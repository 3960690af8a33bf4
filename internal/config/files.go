package config

import (
	"os"
	"slices"
)

// Unsaved returns, for the log, which directives ask for more than this server saves. With names, it looks at these
// directives only.
func (c *Config) Unsaved(names ...string) (lines []string) {
	const name = "appendonly"
	if len(names) > 0 && !slices.Contains(names, name) {
		return nil
	}
	r, _ := lookup(name)
	if value := c.given(r); value != r.def {
		lines = append(lines, "'"+name+" "+value+"' has no effect: there is no append only file")
	}
	return lines
}

// Unread returns the paths of data that redis-server would load from dir at the start, and this server does not.
func (c *Config) Unread() (paths []string) {
	r, _ := lookup("appenddirname")
	path := c.Relative(c.value(r))
	if _, err := os.Stat(path); err == nil {
		paths = append(paths, path)
	}
	return paths
}
