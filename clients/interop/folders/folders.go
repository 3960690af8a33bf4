// Package folders lists ecosystems: folders whose programs share a contract, which clients/interop/README.md
// describes. A folder takes part in what it has a program for, so a new one needs no line in a tool.
package folders

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// With returns the names of the folders in dir that have the program. If only is not empty, it returns just
// those of only, and each of them has to be there.
func With(program, dir string, only []string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if _, err := os.Stat(filepath.Join(dir, e.Name(), program)); e.IsDir() && err == nil {
			if len(only) == 0 || slices.Contains(only, e.Name()) {
				names = append(names, e.Name())
			}
		}
	}
	for _, name := range only {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("there is no ecosystem %q with a program %s in %s", name, program, dir)
		}
	}
	return names, nil
}
