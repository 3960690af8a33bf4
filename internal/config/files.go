package config

import "os"

// Unread returns the paths of data that redis-server would load from dir at the start, and this server does not.
func (c *Config) Unread() (paths []string) {
	if c.AppendOnly {
		return nil
	}
	path := c.Relative(c.AppendDirname)
	if _, err := os.Stat(path); err == nil {
		paths = append(paths, path)
	}
	return paths
}
