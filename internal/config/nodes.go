package config

// Nodes returns how many servers the process has: the masters, then the replicas of the first, and so on.
func (c *Config) Nodes() int { return c.Masters * (1 + c.Replicas) }

// Servers returns Nodes with the Sentinels, which come last.
func (c *Config) Servers() int { return c.Nodes() + c.Sentinels }

// IsSentinel reports whether the server with a number is a Sentinel.
func (c *Config) IsSentinel(server int) bool { return server > c.Nodes() }

// MasterOf returns the number of the master to which a server belongs. All numbers begin with 1. A master and a
// Sentinel belong to themselves.
func (c *Config) MasterOf(node int) int {
	if node <= c.Masters || c.IsSentinel(node) {
		return node
	}
	return (node-c.Masters-1)/c.Replicas + 1
}
