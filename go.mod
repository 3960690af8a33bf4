module github.com/miniredisd/miniredisd

go 1.26.0

// The Lua virtual machine that runs scripts.
require github.com/yuin/gopher-lua v1.1.2

// RESP as others read and write it: the oracle of the fuzz tests, and a baseline in bench.
require github.com/tidwall/redcon v1.6.2

// The system calls of Linux.
require golang.org/x/sys v0.49.0

// Tests, and the proof that a history of a lock is linearizable.
require (
	github.com/anishathalye/porcupine v1.3.1
	github.com/stretchr/testify v1.12.1
	go.uber.org/goleak v1.3.0
)

// Drawings in bench.
require gonum.org/v1/plot v0.16.0

require (
	codeberg.org/go-fonts/liberation v0.5.0 // indirect
	codeberg.org/go-latex/latex v0.1.0 // indirect
	codeberg.org/go-pdf/fpdf v0.10.0 // indirect
	git.sr.ht/~sbinet/gg v0.6.0 // indirect
	github.com/ajstarks/svgo v0.0.0-20211024235047-1546f124cd8b // indirect
	github.com/campoy/embedmd v1.0.0 // indirect
	github.com/golang/freetype v0.0.0-20170609003504-e2365dfdc4a0 // indirect
	github.com/pmezard/go-difflib v1.0.0 // indirect
	github.com/tidwall/btree v1.1.0 // indirect
	github.com/tidwall/match v1.1.1 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/image v0.25.0 // indirect
	golang.org/x/text v0.23.0 // indirect
)
