package archtest

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The transcripts of command/t_hash_scan.go are in node/testdata/transcripts: in the folder
// hash, or in a file of another folder whose name begins with "hash". So are those of server/admin/acl.go for "acl".
func TestEachFileOfCommandsHasTranscripts(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	var names []string
	for _, pattern := range []string{"*", "*/*.txt"} {
		found, err := filepath.Glob(filepath.Join(root, "node", "testdata", "transcripts", pattern))
		require.NoError(t, err)
		names = append(names, found...)
	}
	require.NotEmpty(t, names)
	checked := 0
	for _, pattern := range []string{"command/t_*.go", "command/cmd_*.go", "server/admin/*.go"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		require.NoError(t, err)
		for _, file := range files {
			topic := strings.TrimSuffix(filepath.Base(file), ".go")
			if strings.HasPrefix(pattern, "command/") {
				_, topic, _ = strings.Cut(topic, "_")
			}
			topic, _, _ = strings.Cut(topic, "_")
			if strings.HasSuffix(file, "_test.go") || topic == "help" { // the texts of HELP are our own
				continue
			}
			checked++
			require.True(t, slices.ContainsFunc(names, func(name string) bool {
				return strings.HasPrefix(filepath.Base(name), topic)
			}), "no transcripts for %s", file)
		}
	}
	require.NotZero(t, checked)
}
