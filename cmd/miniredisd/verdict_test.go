package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

// history copies a history of lab/verdict into a folder of the test.
func history(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "lab", "verdict", "testdata", name))
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(file, text, 0o600))
	return file
}

// runFile runs a subcommand and returns its exit code and its output.
func runFile(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	p := start(t, "miniredisd", "", args...)
	code = p.exit()
	return code, p.out.String(), p.errs.String()
}

func TestVerdictOfAGoodHistoryDrawsNothing(t *testing.T) {
	file := history(t, "good.json")
	code, out, errs := runFile(t, "verdict", file)
	require.Zero(t, code, errs)
	require.Contains(t, out, "OK: no two holders at one time, and linearizable\n")
	require.NoFileExists(t, pictureOf(file))

	picture := filepath.Join(t.TempDir(), "good.svg")
	code, out, _ = runFile(t, "verdict", "-o", picture, file)
	require.Zero(t, code)
	require.FileExists(t, picture)
	require.Contains(t, out, "picture: "+picture+"\n")

	page := filepath.Join(t.TempDir(), "good.html")
	code, _, errs = runFile(t, "verdict", "-o", page, file)
	require.Equal(t, exitNoInput, code)
	require.Contains(t, errs, "the second view gets that name")
	require.NoFileExists(t, page)
}

func TestVerdictOfABrokenLockDrawsItBesideTheFile(t *testing.T) {
	file := history(t, "clock-jump.json")
	code, out, _ := runFile(t, "verdict", file)
	require.Equal(t, exitBroken, code)
	require.Contains(t, out, "TWO HOLDERS of lock:job\n")
	base := strings.TrimSuffix(file, ".json")
	require.True(t, strings.HasSuffix(out, "picture: "+base+".svg\noperations: "+base+".html\n"), out)
	svg, err := os.ReadFile(base + ".svg")
	require.NoError(t, err)
	want, err := os.ReadFile("../../lab/verdict/testdata/pictures/clock-jump.svg")
	require.NoError(t, err)
	require.Equal(t, ownPicture+string(want), string(svg))
	require.FileExists(t, base+".html")
}

func TestVerdictDoesNotWriteOverTheHistory(t *testing.T) {
	for _, ending := range []string{".svg", ".html"} {
		file := history(t, "clock-jump.json")
		named := strings.TrimSuffix(file, ".json") + ending
		require.NoError(t, os.Rename(file, named))
		before, err := os.ReadFile(named)
		require.NoError(t, err)
		code, _, errs := runFile(t, "verdict", named)
		require.Equal(t, exitNoInput, code)
		require.Contains(t, errs, "the picture would replace the history "+named)
		after, err := os.ReadFile(named)
		require.NoError(t, err)
		require.Equal(t, before, after)
	}
}

// The picture has the history's name in another spelling, or the history has two names.
func TestVerdictKnowsItsHistoryUnderEveryName(t *testing.T) {
	dir := t.TempDir()
	text, err := os.ReadFile(history(t, "clock-jump.json"))
	require.NoError(t, err)
	file := filepath.Join(dir, "good.json")
	require.NoError(t, os.Mkdir(filepath.Join(dir, "sub"), 0o700))
	require.NoError(t, os.WriteFile(file, text, 0o600))
	require.NoError(t, os.Symlink("good.json", filepath.Join(dir, "link.svg")))
	require.NoError(t, os.Link(file, filepath.Join(dir, "hard.svg")))
	require.NoError(t, os.Symlink("good.json", filepath.Join(dir, "page.html")))
	for _, picture := range []string{
		"./good.json", file, "sub/../good.json", "link.svg", "hard.svg", "page.svg",
	} {
		p := startIn(t, dir, "miniredisd", "", "verdict", "-o", picture, "good.json")
		require.Equal(t, exitNoInput, p.exit(), picture)
		require.Equal(t, "verdict: the picture would replace the history good.json: name another file with -o\n",
			p.errs.String(), picture)
		after, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, string(text), string(after), picture)
	}
	require.NoFileExists(t, filepath.Join(dir, "page.svg"), "neither view is written")

	stdin, err := os.Open(file)
	require.NoError(t, err)
	defer stdin.Close()
	judge := exec.Command(filepath.Join(bin, "miniredisd"), "verdict", "-o", file, "-")
	judge.Stdin = stdin
	out, err := judge.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "the picture would replace the history -:")
}

func TestVerdictReplacesItsOwnPicturesOnly(t *testing.T) {
	for _, ending := range []string{".svg", ".html"} {
		file := history(t, "clock-jump.json")
		foreign := strings.TrimSuffix(file, ".json") + ending
		for _, text := range []string{"<!DOCTYPE html>my page", "<svg", "<!-- miniredisd verdict --"} {
			require.NoError(t, os.WriteFile(foreign, []byte(text), 0o600))
			code, _, errs := runFile(t, "verdict", file)
			require.Equal(t, exitNoInput, code)
			require.Equal(t, "verdict: "+foreign+
				" is not a picture of a verdict, and would be replaced: name another file with -o\n", errs)
			after, err := os.ReadFile(foreign)
			require.NoError(t, err)
			require.Equal(t, text, string(after))
		}
		require.NoError(t, os.Truncate(foreign, 0))
		for range 2 {
			code, _, errs := runFile(t, "verdict", file)
			require.Equal(t, exitBroken, code, errs)
		}
	}
	code, _, errs := runFile(t, "verdict", "-o", t.TempDir(), history(t, "good.json"))
	require.Equal(t, exitNoInput, code)
	require.Contains(t, errs, "is not a regular file")
}

func TestVerdictThatProvesNothingHasACodeOfItsOwn(t *testing.T) {
	file := history(t, "undecided.json")
	code, out, _ := runFile(t, "verdict", file)
	require.Equal(t, exitUnknown, code)
	require.Contains(t, out, "UNDECIDED: lock:job")
	require.FileExists(t, pictureOf(file))

	const head = `{"format":"miniredisd-history/1","master":1,"masters":1,"entries":`
	for name, text := range map[string]string{
		"nobody.json":     head + "[]}",
		"incomplete.json": head + `[{"seq":5,"event":"expired","key":"k","outcome":"executed"}]}`,
	} {
		file := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		code, _, _ := runFile(t, "verdict", file)
		require.Equal(t, exitUnknown, code, name)
	}
}

func TestAKeyThatIsNoLockHasACodeOfItsOwn(t *testing.T) {
	file := filepath.Join(t.TempDir(), "counter.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"format":"miniredisd-history/2","master":1,"masters":1,"entries":[
		{"seq":1,"client":7,"name":"a","event":"command","cmd":["INCR","n"],"key":"n","outcome":"executed","reply":"1",
			"changes":[{"key":"n","after":{"type":"string","text":"1"}}]},
		{"seq":2,"client":8,"name":"b","event":"command","cmd":["INCR","n"],"key":"n","outcome":"executed","reply":"2",
			"changes":[{"key":"n","before":{"type":"string","text":"1"},"after":{"type":"string","text":"2"}}]}]}`), 0o600))
	code, out, _ := runFile(t, "verdict", file)
	require.Equal(t, exitNotJudged, code)
	require.Contains(t, out, "NOT JUDGED: n\n  Why: n is a counter that several clients change.\n"+
		"  Fix: say what it is: LAB LOG WATCH n AS MUTEX")
}

func TestAFileWithoutAHistoryIsRefusedByName(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.json")
	require.NoError(t, os.WriteFile(bad, []byte("{"), 0o600))
	good := history(t, "good.json")
	for _, subcommand := range []string{"verdict", "doctor"} {
		for args, why := range map[string]string{
			"":                 subcommand + ": name a file that LAB LOG EXPORT has made\n",
			"-x":               subcommand + ": there is no option -x. miniredisd help " + subcommand + " lists them.\n",
			bad:                subcommand + ": " + bad + ": is not JSON: unexpected EOF\n",
			"/nowhere.json":    subcommand + ": /nowhere.json: no such file or directory\n",
			good + " " + good:  subcommand + ": there are two histories of master 1\n",
			good + " /nowhere": subcommand + ": /nowhere: no such file or directory\n",
		} {
			code, _, errs := runFile(t, append([]string{subcommand}, strings.Fields(args)...)...)
			require.Equal(t, exitNoInput, code, args)
			require.Contains(t, errs, why)
		}
	}
}

// mistakes makes two mistakes of lock clients on a server, and returns its exported history.
func mistakes(t *testing.T) (file string, c *redistest.Conn) {
	t.Helper()
	p := start(t, "miniredisd", "", "--port", "0", "--bind", "127.0.0.1", "--save", "", "--lab", "yes")
	c = redistest.Dial(t, p.addr())
	c.Do("LAB", "LOG", "WATCH", "lock:*")
	c.Do("CLIENT", "SETNAME", "worker")
	c.Do("SETNX", "lock:a", "1")
	c.Do("EXPIRE", "lock:a", "30")
	c.Do("SET", "lock:b", "token-of-worker", "NX", "PX", "30000")
	c.Do("GET", "lock:b")
	c.Do("DEL", "lock:b")
	file = filepath.Join(t.TempDir(), "history.json")
	require.NoError(t, os.WriteFile(file, []byte(c.Do("LAB", "LOG", "EXPORT").Str), 0o600))
	return file, c
}

func TestDoctorFindsInAHistoryWhatItFindsInAServer(t *testing.T) {
	file, c := mistakes(t)
	code, out, errs := runFile(t, "doctor", file)
	require.Equal(t, exitBroken, code, errs)
	found := c.Do("LAB", "DOCTOR").Elems
	require.Len(t, found, 2)
	for _, f := range found {
		require.Contains(t, out, f.Elems[1].Str+": "+f.Elems[3].Str+"\n", "the pattern and the key")
	}
	require.Regexp(t, `(?m)^get-then-del: lock:b
  \d+, client \d+ worker: SET lock:b token-of-worker NX PX 30000 -> OK
  \d+, client \d+ worker: GET lock:b -> token-of-worker
  \d+, client \d+ worker: DEL lock:b -> 1
  Why: GET compared`, out)
	require.Contains(t, out, "A history cannot show closed connections")
}

func TestDoctorOfAGoodHistoryFindsNothing(t *testing.T) {
	code, out, errs := runFile(t, "doctor", history(t, "good-majority.json"))
	require.Zero(t, code, out+errs)
	require.Contains(t, out, "No mistake found.\nA history cannot show")
}
