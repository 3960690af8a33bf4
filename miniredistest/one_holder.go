package miniredistest

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/miniredisd/miniredisd/lab/verdict"
	"github.com/miniredisd/miniredisd/store"
)

// AssertOneHolder fails the test unless the locks whose keys match glob were safe: no two clients
// held one lock at the same time, and there is an order of all attempts and releases in which each
// of them is legal (they are linearizable). It also fails if the log cannot tell, if one of the keys
// is no lock of one holder, if no such key changed, or if too many attempts were open at once to try
// all their orders. Packages lab/proof and lab/verdict say how long a holder may believe in a lock.
//
// The message names the holders with their commands and times. It also names two files that outlast
// the test: a picture, verdict.html, and the history, history.json, which "miniredisd verdict" can
// judge again. With go test -artifacts they are in ArtifactDir, otherwise in a temporary folder.
//
// Restore and FLUSHALL take a lock from its holder, and the lock counts as lost. Call ResetLog if a
// test starts again in this way.
func (s *Server) AssertOneHolder(glob string) {
	s.t.Helper()
	assertOneHolder(s.t, s.name, s.History(), glob)
}

// AssertOneHolder judges all masters together: a client holds a lock if more than half of them
// granted it.
func (m Masters) AssertOneHolder(glob string) {
	t := m[0].t
	t.Helper()
	assertOneHolder(t, "", m.History(), glob)
}

func assertOneHolder(t testing.TB, name, history, glob string) {
	t.Helper()
	histories, err := verdict.Read(strings.NewReader(history))
	var v *verdict.Verdict
	if err == nil {
		v, err = verdict.JudgeLocks(histories, func(key string) bool {
			return store.Match([]byte(glob), []byte(key), false)
		})
	}
	if err != nil {
		t.Fatalf("%sthe history: %v", name, err)
	}
	if v.Result() == verdict.Safe {
		return
	}
	var text strings.Builder
	v.Print(&text)
	what := "cannot be judged"
	if v.Violated() {
		what = "were not safe"
	}
	dir, err := keep(t, v, history)
	if err != nil {
		t.Errorf("%sthe files of the verdict: %v", name, err)
	}
	t.Errorf("%slocks that match %s %s\n%s\npicture: %s\nhistory: %s", name, glob, what, text.String(),
		filepath.Join(dir, "verdict.html"), filepath.Join(dir, "history.json"))
}

const longestName = 100 // bytes of a test's name in the name of a folder

// keep writes the picture and the history to a folder that outlasts the test.
func keep(t testing.TB, v *verdict.Verdict, history string) (dir string, err error) {
	dir, err = keptDir(t, "verdict-")
	if err != nil {
		return dir, err
	}
	picture, err := os.Create(filepath.Join(dir, "verdict.html"))
	if err != nil {
		return dir, err
	}
	return dir, errors.Join(v.Picture(picture), picture.Close(),
		os.WriteFile(filepath.Join(dir, "history.json"), []byte(history), 0o600))
}

// keptDir makes a folder that outlasts the test.
func keptDir(t testing.TB, prefix string) (string, error) {
	parent := os.TempDir()
	if f := flag.Lookup("test.artifacts"); f != nil && f.Value.String() == "true" {
		parent = t.ArtifactDir() // without the flag, go test removes it
	}
	name := strings.Map(inFileName, t.Name())
	return os.MkdirTemp(parent, prefix+name[:min(len(name), longestName)]+"-")
}

func inFileName(r rune) rune {
	if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_' {
		return r
	}
	return '-'
}
