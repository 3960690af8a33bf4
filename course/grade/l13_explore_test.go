package grade

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/lab/glass"
)

// inTwoSteps takes the lock with one command and gives it a lease with the next one.
type inTwoSteps struct{ *patient }

func (s inTwoSteps) take() (bool, error) {
	s.token = token()
	v, err := s.one("SETNX", s.key, s.token)
	if err != nil || v.Int != 1 {
		return false, err
	}
	_, err = s.one("PEXPIRE", s.key, s.lease)
	return err == nil, err
}

// unready ends at the first error.
type unready struct{ *patient }

func (u unready) take() (bool, error) {
	ok, err := u.patient.take()
	if err != nil {
		panic(err)
	}
	return ok, nil
}

// errorsAreReplies takes an error reply for a reply that is not nil.
func errorsAreReplies(p *patient) (bool, error) {
	v, err := p.one("SET", p.key, p.token, "NX", "PX", p.lease)
	if v.Kind == '-' {
		return true, nil
	}
	return v.Str == "OK", err
}

func lab13Students() map[string]func() {
	all := map[string]func(){"L13/liar": liar}
	add := func(name string, newLock func(o *owner) lock) {
		all["L13/"+name] = play("a lock in Go", newLock)
	}
	patiently := func(o *owner) *patient { return &patient{owner: o, grab: setAndLook, again: attempts} }
	add("look", func(o *owner) lock { return patiently(o) })
	add("two-steps", func(o *owner) lock { return inTwoSteps{patiently(o)} })
	add("unready", func(o *owner) lock {
		return unready{&patient{owner: o, grab: (*patient).set, again: attempts}}
	})
	add("hope", func(o *owner) lock { return &patient{owner: o, grab: hope, again: attempts} })
	add("any-reply", func(o *owner) lock { return &patient{owner: o, grab: errorsAreReplies, again: attempts} })
	add("no-look", func(o *owner) lock { return &patient{owner: o, grab: setAgain, again: attempts} })
	add("one-release", func(o *owner) lock { return &patient{owner: o, grab: setAndLook, again: 1} })
	for name, drop := range map[string]func(*simple) (bool, error){
		"delete": deleteAtOnce, "get-delete": compareThenDelete,
	} {
		add(name, func(o *owner) lock { return &simple{owner: o, drop: drop} })
	}
	add("hang", func(o *owner) lock { return &hanging{simple: &simple{owner: o, drop: deleteByScript}} })
	add("keeps", func(o *owner) lock {
		return &simple{owner: o, drop: func(*simple) (bool, error) { return true, nil }}
	})
	return all
}

// hanging does nothing more after an error.
type hanging struct{ *simple }

func (h *hanging) take() (bool, error) {
	ok, err := h.simple.take()
	if err != nil {
		waitForEver()
	}
	return ok, err
}

func TestNoSingleFailureMayBreakTheLock(t *testing.T) {
	t.Parallel()
	full(t, "L13", "look")
	loses(t, "L13", "keeps", map[int]string{1: "a has released the lock: `take b` answered `refused`"})
	loses(t, "L13", "two-steps", map[int]string{
		2: "If the reply to a's first SETNX is lost, nobody can ever take lock:order:",
		4: "nobody can ever take lock:order:",
	})
	loses(t, "L13", "unready", map[int]string{2: "The failure was: request lost at a's first SET."})
	loses(t, "L13", "hang", map[int]string{2: "gave no answer to the order `take a`"})
	loses(t, "L13", "hope", map[int]string{2: "If a's first SET is lost, the check after the run fails."})
	loses(t, "L13", "any-reply", map[int]string{4: "`take b` answered `held` while a held the lock"})
	loses(t, "L13", "delete", map[int]string{3: "DEL waits until the lease of its client is over, "})
	loses(t, "L13", "get-delete", map[int]string{3: "If a's first DEL waits until the lease of its client is over, "})
	loses(t, "L13", "no-look", map[int]string{5: "If the reply to a's first SET is lost, lock:order:"})
	loses(t, "L13", "one-release", map[int]string{5: "stays taken until its lease ends, and nobody holds it."})
}

func TestAnExploredTestLeavesTheRecordingOfItsFirstFinding(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := gradeOf(t, "L13", "delete", func(o *Options) {
		some := *o.Lab
		some.tests = some.tests[2:3]
		o.Lab, o.Recordings, o.Lang = &some, dir, "zh"
	})
	require.Contains(t, r.Tests[0].Output, "LAB FAULT ADD explore-1 KEY "+lockOf(7)+" CLIENT a ")
	require.Contains(t, r.Tests[0].Output, "长时间停顿")
	f, err := os.Open(filepath.Join(dir, "L13-1.loop.gz"))
	require.NoError(t, err)
	defer f.Close()
	recording, err := glass.ReadRecording(f)
	require.NoError(t, err)
	require.NotEmpty(t, recording.Lines)
}

// The skeleton in Python with a right and a wrong lock.
func TestExploreJudgesLocksInPython(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil && os.Getenv("CI") != "true" {
		t.Skip("needs python3")
	}
	require.NoError(t, err)
	l, err := Find("L13")
	require.NoError(t, err)
	dir := t.TempDir()
	_, err = l.WriteTemplate("python", dir)
	require.NoError(t, err)
	for name, points := range map[string][]int{"right.py": {10, 25, 25, 20, 20}, "wrong.py": {10, 25, 0, 20, 0}} {
		text, err := os.ReadFile(filepath.Join("testdata", "L13", name))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
		r := gradeOf(t, "L13", name, func(o *Options) { o.Command = []string{python, filepath.Join(dir, name)} })
		for i, test := range r.Tests {
			require.Equal(t, points[i], test.Score, "%s, %s: %s", name, test.Name, test.Output)
		}
		if name == "wrong.py" {
			require.Contains(t, r.Tests[2].Output, "If a's first DEL waits until the lease of its client is over, ")
			require.Contains(t, r.Tests[4].Output, "If the reply to a's first SET is lost, "+lockOf(7)+" stays taken")
		}
	}
}
