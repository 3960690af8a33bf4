// The module of bench keeps what draws its pictures away from those who import miniredistest.
module github.com/miniredisd/miniredisd/bench

go 1.26.0

require github.com/miniredisd/miniredisd v0.0.0

// Drawings.
require gonum.org/v1/plot v0.16.0

// A baseline among the threading models: RESP as others read and write it.
require github.com/tidwall/redcon v1.6.2

// The system calls of Linux.
require golang.org/x/sys v0.49.0

// Tests.
require github.com/stretchr/testify v1.12.1

require (
	codeberg.org/go-fonts/liberation v0.5.0 // indirect
	codeberg.org/go-latex/latex v0.1.0 // indirect
	codeberg.org/go-pdf/fpdf v0.10.0 // indirect
	git.sr.ht/~sbinet/gg v0.6.0 // indirect
	github.com/ajstarks/svgo v0.0.0-20211024235047-1546f124cd8b // indirect
	github.com/campoy/embedmd v1.0.0 // indirect
	github.com/golang/freetype v0.0.0-20170609003504-e2365dfdc4a0 // indirect
	github.com/klauspost/cpuid/v2 v2.2.10 // indirect
	github.com/pmezard/go-difflib v1.0.0 // indirect
	github.com/tidwall/btree v1.1.0 // indirect
	github.com/tidwall/match v1.1.1 // indirect
	github.com/yuin/gopher-lua v1.1.2 // indirect
	github.com/zeebo/xxh3 v1.1.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/image v0.25.0 // indirect
	golang.org/x/text v0.23.0 // indirect
)

replace github.com/miniredisd/miniredisd => ../
