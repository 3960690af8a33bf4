module github.com/miniredisd/miniredisd

go 1.26.0

require (
	github.com/stretchr/testify v1.12.1
	github.com/tidwall/redcon v1.6.2
	golang.org/x/sys v0.49.0
)

require (
	github.com/tidwall/btree v1.1.0 // indirect
	github.com/tidwall/match v1.1.1 // indirect
	github.com/yuin/gopher-lua v1.1.2
	go.yaml.in/yaml/v3 v3.0.5 // indirect
)
