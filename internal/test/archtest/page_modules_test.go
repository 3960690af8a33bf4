package archtest

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The modules of the --watch page import in one direction, as the packages do. In a circle, a module
// can run before what it imports has a value.
func TestModulesOfThePageDoNotImportInACircle(t *testing.T) {
	require.Empty(t, circle(pageModules(t)))
}

func TestACircleOfModulesIsFound(t *testing.T) {
	require.Equal(t, []string{"b", "c", "d", "b"},
		circle(map[string][]string{"a": {"b"}, "b": {"e", "c"}, "c": {"d"}, "d": {"e", "b"}, "e": nil}))
	require.Equal(t, []string{"a", "a"}, circle(map[string][]string{"a": {"a"}}))
	require.Empty(t, circle(map[string][]string{"a": {"b", "c"}, "b": {"c"}, "c": nil}))
}

// pageModules returns what each module imports, at its beginning or later. Names are relative to the
// folder of the page.
func pageModules(t *testing.T) map[string][]string {
	t.Helper()
	page := filepath.Join(top(), "lab", "glass", "glasshttp", "page")
	imported := regexp.MustCompile(`\b(?:from|import)[ (]*['"](\.[^'"]+)['"]`)
	modules := map[string][]string{}
	for _, pattern := range []string{"*.js", "text/*.js"} {
		paths, err := filepath.Glob(filepath.Join(page, pattern))
		require.NoError(t, err)
		require.NotEmpty(t, paths, pattern)
		for _, path := range paths {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			name := strings.TrimPrefix(path, page+string(filepath.Separator))
			modules[filepath.ToSlash(name)] = nil
			for _, m := range imported.FindAllStringSubmatch(string(text), -1) {
				modules[filepath.ToSlash(name)] = append(modules[filepath.ToSlash(name)],
					filepath.ToSlash(filepath.Join(filepath.Dir(name), m[1])))
			}
		}
	}
	for name, to := range modules {
		for _, other := range to {
			require.Contains(t, modules, other, "%s imports it", name)
		}
	}
	require.Contains(t, modules["app.js"], "loop.js", "imports of a function are arrows too")
	return modules
}

// circle returns a path that ends where it begins, or nil if there is none.
func circle(arrows map[string][]string) (path []string) {
	done := map[string]bool{}
	var visit func(name string) []string
	visit = func(name string) []string {
		if i := slices.Index(path, name); i >= 0 {
			return append(slices.Clone(path[i:]), name)
		}
		if done[name] {
			return nil
		}
		path = append(path, name)
		for _, to := range arrows[name] {
			if found := visit(to); found != nil {
				return found
			}
		}
		path, done[name] = path[:len(path)-1], true
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(arrows)) {
		if found := visit(name); found != nil {
			return found
		}
	}
	return nil
}
