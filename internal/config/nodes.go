package config

// Nodes returns how many servers the process has: the masters, then the replicas of the first, and so on.
func (c *Config) Nodes() int { return c.Masters * (1 + c.Replicas) }

// MasterOf returns the number of the master to which a node belongs. All numbers begin with 1. A master belongs to
// itself.
func (c *Config) MasterOf(node int) int {
	if node <= c.Masters {
		return node
	}
	return (node-c.Masters-1)/c.Replicas + 1
}
