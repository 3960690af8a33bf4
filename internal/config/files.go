package config

import (
	"os"
	"slices"
	"strings"
)

// Unsaved returns the directives, with their values, that ask for data to be saved, which
// this server does not do. Given names, it looks at those directives alone.
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

// Unread returns the paths of the data that redis-server would find in dir when it starts.
// They are not read here.
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
