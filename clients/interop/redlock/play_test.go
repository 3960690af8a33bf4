package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func history(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "lab", "verdict", "testdata", name))
	require.NoError(t, err)
	return text
}

func TestASceneFailsWhenTheVerdictIsNotTheOneItHasToBe(t *testing.T) {
	p := &play{options: options{folder: t.TempDir()}}
	for _, c := range []struct {
		file         string
		broken, fits bool
	}{
		{"clock-jump.json", true, true},
		{"clock-jump.json", false, false},
		{"delayed-restart.json", false, true},
		{"delayed-restart.json", true, false},
	} {
		_, err := p.judge(scene{name: "s", broken: c.broken}, "client 1.0 (of 2.0)", history(t, c.file), io.Discard)
		if c.fits {
			require.NoError(t, err, c.file)
		} else {
			require.ErrorContains(t, err, "the verdict is", c.file)
		}
	}
	picture, err := os.ReadFile(filepath.Join(p.folder, "client-1.0-of-2.0.s.html"))
	require.NoError(t, err)
	require.True(t, bytes.Contains(picture, []byte("<html")))
	require.FileExists(t, filepath.Join(p.folder, "client-1.0-of-2.0.s.json"))
}

func TestAHistoryInWhichNobodyTookTheLockIsNoProof(t *testing.T) {
	p := &play{options: options{folder: t.TempDir()}}
	none := []byte(`{"format":"miniredisd-history/1","master":1,"masters":5,"entries":[]}`)
	_, err := p.judge(scene{name: "s"}, "c", none, io.Discard)
	require.ErrorContains(t, err, "logged no lock")
}

// Those who write LAB are told by the server what is wrong with it; the rest is checked here.
func TestScenesHaveNamesAndStepsOfTheirOwn(t *testing.T) {
	names := map[string]bool{}
	for _, s := range scenes() {
		require.False(t, names[s.name], s.name)
		names[s.name] = true
		require.NotEmpty(t, s.about)
		for step := range strings.Lines(s.steps) {
			if step = strings.TrimSpace(step); step != "" {
				require.Regexp(t, `^(LAB .+|[ab] (takes|is refused|releases))$`, step)
			}
		}
	}
}

func TestAStepThatIsNoneFails(t *testing.T) {
	st := &stage{out: io.Discard}
	require.ErrorContains(t, st.do(t.Context(), "a sleeps"), "a sleeps: is no step")
}
