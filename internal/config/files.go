package config

import (
	"os"
	"slices"
	"strings"
)

// Unsaved returns the directives that ask the server to save data, with their values. The server does
// not save data. With names, Unsaved looks at these directives only.
func (c *Config) Unsaved(names ...string) []string {
	var lines []string
	for _, name := range []string{"save", "appendonly", "shutdown-on-sigint", "shutdown-on-sigterm"} {
		if len(names) > 0 && !slices.Contains(names, name) {
			continue
		}
		r, _ := lookup(name)
		value := c.given(r)
		asks := value != r.def
		if r.kind == words {
			asks = slices.Contains(strings.Fields(value), "save")
		}
		if asks {
			lines = append(lines, name+" "+value)
		}
	}
	return lines
}

// Unread returns the paths of data files that redis-server would load from dir at the start. This server
// does not load them.
func (c *Config) Unread() []string {
	var paths []string
	for _, name := range []string{"dbfilename", "appenddirname"} {
		r, _ := lookup(name)
		value := c.value(r)
		if value == "" {
			continue
		}
		if _, err := os.Stat(c.Relative(value)); err == nil {
			paths = append(paths, c.Relative(value))
		}
	}
	return paths
}
