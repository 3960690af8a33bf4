module github.com/miniredisd/miniredisd

go 1.26.0

// The Lua virtual machine that runs scripts.
require github.com/yuin/gopher-lua v1.1.2

// RESP as others read and write it: the oracle of the fuzz tests.
require github.com/tidwall/redcon v1.6.2

// The digest of a string, which Redis 8.4 compares.
require github.com/zeebo/xxh3 v1.1.0

// The system calls of Linux.
require golang.org/x/sys v0.49.0

// Tests, and the proof that a history of a lock is linearizable.
require (
	github.com/anishathalye/porcupine v1.3.1
	github.com/stretchr/testify v1.12.1
	go.uber.org/goleak v1.3.0
)

require (
	github.com/klauspost/cpuid/v2 v2.2.10 // indirect
	github.com/tidwall/btree v1.1.0 // indirect
	github.com/tidwall/match v1.1.1 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
)
