package documents

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestTheDocumentsDoWhatTheySay runs the blocks of every page. It takes minutes, so it has to be asked for.
func TestTheDocumentsDoWhatTheySay(t *testing.T) {
	if os.Getenv("MINIREDISD_DOCUMENTS") != "yes" {
		t.Skip("MINIREDISD_DOCUMENTS=yes runs the blocks of all pages, which takes minutes")
	}
	tree := copyOfTheTree(t)
	program := filepath.Join(buildInASandbox(t, tree), filepath.Base(sandboxBin))
	for _, p := range pages(t) {
		if len(p.blocks) == 0 || isTranslation(p.name) {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			tmp := t.TempDir()
			require.NoError(t, os.CopyFS(filepath.Join(tmp, filepath.Base(sandboxTop)), os.DirFS(tree)))
			require.NoError(t, copyProgram(filepath.Join(tmp, filepath.Base(sandboxBin)), program))
			output, code := sandbox(t, tmp, p.name, quietLimit)
			judge(t, output, code)
		})
	}
}

// copyProgram copies a folder of programs while no process starts. Until a child runs its own program, it has
// the files that are open here, and the kernel runs no file that is open for writing ("text file busy").
func copyProgram(to, from string) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.CopyFS(to, os.DirFS(from))
}

// judge ends a test by the exit code of a sandbox. Outside CI a tool that is missing is no failure.
func judge(t *testing.T, output string, code int) {
	t.Helper()
	if (code == exitMissing || code == exitNoSandbox) && os.Getenv("CI") != "true" {
		t.Skip(output)
	}
	if code != exitPlayed {
		t.Fatal(output)
	}
	t.Log(output)
}

// copyOfTheTree returns a folder with the files that a clone would have, with changes that are not
// committed.
func copyOfTheTree(t *testing.T) string {
	t.Helper()
	list := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = top()
	names, err := list.Output()
	if err != nil && os.Getenv("CI") != "true" {
		t.Skip("git does not know the files of this folder: ", err)
	}
	require.NoError(t, err)
	tree := t.TempDir()
	for name := range strings.SplitSeq(strings.Trim(string(names), "\x00"), "\x00") {
		from, to := filepath.Join(top(), name), filepath.Join(tree, name)
		info, err := os.Lstat(from)
		if os.IsNotExist(err) {
			continue // deleted, and not committed
		}
		require.NoError(t, err)
		require.True(t, info.Mode().IsRegular(), name)
		text, err := os.ReadFile(from)
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(filepath.Dir(to), 0o755))
		require.NoError(t, os.WriteFile(to, text, info.Mode()))
	}
	return tree
}

// buildInASandbox builds the program miniredisd where the pages build it, which fills Go's cache for them.
func buildInASandbox(t *testing.T, tree string) (tmp string) {
	t.Helper()
	tmp = t.TempDir()
	require.NoError(t, os.CopyFS(filepath.Join(tmp, filepath.Base(sandboxTop)), os.DirFS(tree)))
	build := "```sh\ngo build -o " + sandboxBin + "/miniredisd ./cmd/miniredisd\n```\n"
	require.NoError(t, os.WriteFile(filepath.Join(tmp, filepath.Base(sandboxTop), "build.md"), []byte(build), 0o600))
	began := time.Now()
	output, code := sandbox(t, tmp, "build.md", quietLimit)
	judge(t, output, code)
	t.Logf("built in %.0f s", time.Since(began).Seconds())
	return tmp
}
