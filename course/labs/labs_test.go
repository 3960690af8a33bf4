package labs

import (
	"errors"
	"go/format"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// folders returns the folders of all labs.
func folders(t *testing.T) (names []string) {
	t.Helper()
	entries, err := files.ReadDir(".")
	require.NoError(t, err)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "L") {
			names = append(names, e.Name())
		}
	}
	require.NotEmpty(t, names)
	return names
}

// isClient reports whether a skeleton uses the common files.
func isClient(t *testing.T, folder string) bool {
	t.Helper()
	text, err := files.ReadFile(folder + "/python/main.py")
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	require.NoError(t, err)
	return strings.Contains(string(text), "from lab import")
}

func TestALabHasASkeletonOfItsOwnInAllLanguagesOrInNone(t *testing.T) {
	for _, folder := range folders(t) {
		entries, err := files.ReadDir(folder)
		require.NoError(t, err)
		own := 0
		for _, e := range entries {
			if e.IsDir() {
				own++
			}
		}
		require.Contains(t, []int{0, len(Languages())}, own, folder)
	}
}

// written writes the skeletons of one language, each into a folder of its own, and returns the folders.
func written(t *testing.T, language string) (dirs []string) {
	t.Helper()
	top := t.TempDir()
	for _, folder := range folders(t) {
		dir := filepath.Join(top, folder)
		names, err := WriteTemplate(folder, language, dir, isClient(t, folder))
		require.NoError(t, err)
		require.NotEmpty(t, names)
		dirs = append(dirs, dir)
	}
	return dirs
}

// have skips the test where a tool is missing. CI installs the tools late, and then asks for them.
func have(t *testing.T, tool string) string {
	t.Helper()
	path, err := exec.LookPath(tool)
	if err != nil && os.Getenv("MINIREDISD_TEMPLATES") == "" {
		t.Skipf("needs %s", tool)
	}
	require.NoError(t, err)
	return path
}

func succeeds(t *testing.T, dir, tool string, args ...string) {
	t.Helper()
	cmd := exec.Command(tool, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s: %s", dir, out)
}

func TestTemplatesInGoCompile(t *testing.T) {
	t.Parallel()
	dirs := written(t, "go")
	for _, dir := range dirs {
		require.NoError(t, os.Remove(filepath.Join(dir, "go.mod")))
		sources, err := filepath.Glob(filepath.Join(dir, "*.go"))
		require.NoError(t, err)
		for _, path := range sources {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			tidy, err := format.Source(text)
			require.NoError(t, err, path)
			require.Equal(t, string(tidy), string(text), path)
		}
	}
	top := filepath.Dir(dirs[0])
	require.NoError(t, os.WriteFile(filepath.Join(top, "go.mod"), []byte("module labs\n\ngo 1.24\n"), 0o600))
	succeeds(t, top, "go", "vet", "./...") // one module, so that it vets all of them at once
}

func TestTemplatesInPythonCompile(t *testing.T) {
	t.Parallel()
	python := have(t, "python3")
	for _, dir := range written(t, "python") {
		paths, err := filepath.Glob(filepath.Join(dir, "*.py"))
		require.NoError(t, err)
		succeeds(t, dir, python, append([]string{"-m", "py_compile"}, paths...)...)
	}
}

func TestTemplatesInJavaScriptParse(t *testing.T) {
	t.Parallel()
	node := have(t, "node")
	for _, dir := range written(t, "node") {
		paths, err := filepath.Glob(filepath.Join(dir, "*.mjs"))
		require.NoError(t, err)
		for _, path := range paths {
			succeeds(t, dir, node, "--check", path)
		}
	}
}

// One compiler compiles all labs, because its start takes longest. Each lab has a class Main, so each gets
// a package here.
func TestTemplatesInJavaCompile(t *testing.T) {
	t.Parallel()
	javac := have(t, "javac")
	args := []string{"-Xlint:all,-serial", "-Werror", "-d", t.TempDir()}
	for _, dir := range written(t, "java") {
		paths, err := filepath.Glob(filepath.Join(dir, "*.java"))
		require.NoError(t, err)
		for _, path := range paths {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			pkg := strings.ToLower(strings.ReplaceAll(filepath.Base(dir), "-", "_"))
			require.NoError(t, os.WriteFile(path, append([]byte("package "+pkg+";\n"), text...), 0o600))
			args = append(args, path)
		}
	}
	succeeds(t, t.TempDir(), javac, args...)
}

func TestTemplatesInCCompile(t *testing.T) {
	t.Parallel()
	cc := have(t, "cc")
	for _, dir := range written(t, "c") {
		paths, err := filepath.Glob(filepath.Join(dir, "*.c"))
		require.NoError(t, err)
		if strings.Contains(textOf(t, paths), "<sys/epoll.h>") && runtime.GOOS != "linux" {
			continue
		}
		succeeds(t, dir, cc, append([]string{"-O1", "-Wall", "-Wextra", "-Werror", "-pthread", "-o", "main"}, paths...)...)
	}
}

// No crate is needed, and no code is generated, so this is fast.
func TestTemplatesInRustCompile(t *testing.T) {
	t.Parallel()
	rustc := have(t, "rustc")
	for _, dir := range written(t, "rust") {
		succeeds(t, dir, rustc, "--edition", "2021", "-D", "warnings", "--emit=metadata", "-o", "main.rmeta", "main.rs")
	}
}

// textOf returns the text of files.
func textOf(t *testing.T, paths []string) (all string) {
	t.Helper()
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		all += string(text)
	}
	return all
}

func TestTheReactorHasAtMost250Lines(t *testing.T) {
	for _, language := range Languages() {
		all, err := Template("L04-reactor", language, false)
		require.NoError(t, err)
		for _, name := range slices.Sorted(maps.Keys(all)) {
			require.LessOrEqual(t, strings.Count(all[name], "\n"), 250, "%s %s", language, name)
		}
	}
}

func TestATemplateOverwritesNothing(t *testing.T) {
	dir := t.TempDir()
	_, err := WriteTemplate("L07-delete", "go", dir, true)
	require.NoError(t, err)
	_, err = WriteTemplate("L07-delete", "go", dir, true)
	require.ErrorIs(t, err, os.ErrExist)
	_, err = WriteTemplate("L07-delete", "cobol", dir, true)
	require.ErrorContains(t, err, "there is no template in 'cobol', only in python, java, node, go, c, rust")
}
