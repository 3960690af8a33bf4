package config

type Config struct {
	Bind         []string
	Port         int
	UnixSocket   string
	MaxClients   int
	MaxMemory    int64
	TCPBacklog   int
	TCPKeepAlive int
	RequirePass  string
	Databases    int
	Seed         uint64
}
