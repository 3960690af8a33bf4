package verdict

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Any text is judged as a history or refused.
func FuzzJudge(f *testing.F) {
	files, err := filepath.Glob("testdata/*.json")
	require.NoError(f, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		histories, err := Read(bytes.NewReader(text))
		if err != nil {
			return
		}
		for _, h := range histories {
			if h.Masters > 9 || len(h.Entries) > 30 {
				return // the search would take too long
			}
		}
		v, err := Judge(histories)
		if err != nil {
			return
		}
		v.Print(io.Discard)
		require.NoError(t, v.Picture(io.Discard))
	})
}
