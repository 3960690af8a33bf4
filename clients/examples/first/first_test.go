// Package first has the tests of docs/lab/first-test.md in four languages, and those of docs/lab/topology.md.
// The script run runs them. Those in Rust are with the tests of its fixture, where CI builds redis-rs anyway.
// This test keeps the chapters equal to the files.
package first

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheChaptersShowTheFilesThatRun(t *testing.T) {
	for _, shown := range []struct{ page, file, language string }{
		{"first-test.md", "python/test_lock.py", "python"},
		{"first-test.md", "java/src/test/java/LockTest.java", "java"},
		{"first-test.md", "node/lock.test.js", "js"},
		{"first-test.md", "go/lock_test.go", "go"},
		{"topology.md", "python/test_topology.py", "python"},
		{"topology.md", "java/src/test/java/TopologyTest.java", "java"},
		{"topology.md", "node/topology.test.js", "js"},
		{"topology.md", "go/topology_test.go", "go"},
		{"topology.md", "../../interop/fixtures/rust/tests/first_topology.rs", "rust"},
	} {
		page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "lab", shown.page))
		require.NoError(t, err)
		text, err := os.ReadFile(shown.file)
		require.NoError(t, err)
		require.Contains(t, string(page), "```"+shown.language+"\n"+string(text)+"```\n", shown.file)
	}
}
