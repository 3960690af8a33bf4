package config

import "os"

// Unread returns the folder of the append only file if it exists and appendonly is off: then nobody loads it.
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
