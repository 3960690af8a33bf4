package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// programs are the flags that name the server programs of a run.
type programs struct {
	ours, redis, valkey string
}

func (p *programs) register(f *flag.FlagSet) {
	f.StringVar(&p.ours, "ours", "", "`path` of miniredisd; without it one is built")
	f.StringVar(&p.redis, "redis", "redis-server", "`path` of the redis-server to compare with")
	f.StringVar(&p.valkey, "valkey", "", "`path` of a valkey-server, which then takes part")
}

// testbed is what a run needs.
type testbed struct {
	tmp        string // working directory of all servers; the caller removes it
	contenders []contender
	cores      cores
}

func (p programs) testbed() (bed testbed, err error) {
	if bed.tmp, err = os.MkdirTemp("", "bench"); err != nil {
		return bed, err
	}
	if bed.contenders, err = p.contenders(bed.tmp); err == nil {
		bed.cores, err = pinLoad()
	}
	if err != nil {
		os.RemoveAll(bed.tmp)
	}
	return bed, err
}

// contenders returns redis-server, miniredisd and valkey-server, in this order. It leaves out a
// redis-server that is not installed. tmp is the working directory of all servers.
func (p programs) contenders(tmp string) ([]contender, error) {
	server := func(name, path string) (contender, error) {
		found, err := exec.LookPath(path)
		if err != nil {
			return contender{}, err
		}
		if found, err = filepath.Abs(found); err != nil {
			return contender{}, err
		}
		command := []string{found, "--port", "{port}", "--save", "", "--appendonly", "no", "--bind", "127.0.0.1"}
		return contender{name: name, command: command, dir: tmp}, nil
	}
	if p.ours == "" {
		built, err := build(tmp, "cmd/miniredisd")
		if err != nil {
			return nil, err
		}
		p.ours = built
	}
	first, err := server(ours, p.ours)
	if err != nil {
		return nil, err
	}
	list := []contender{first}
	switch redis, err := server("redis-server", p.redis); {
	case err == nil:
		list = slices.Insert(list, 0, redis)
	case p.redis == "redis-server":
		fmt.Println("redis-server is not installed: no ratios to it")
	default:
		return nil, err
	}
	if p.valkey != "" {
		valkey, err := server("valkey-server", p.valkey)
		if err != nil {
			return nil, err
		}
		list = append(list, valkey)
	}
	return list, nil
}

// build builds a program of this module into the folder tmp, as a release has it: one static file, unless
// CGO_ENABLED says otherwise.
func build(tmp, program string) (path string, err error) {
	fmt.Fprintf(os.Stderr, "compiling %s ...\n", program) // without a cache this takes a minute
	path = filepath.Join(tmp, filepath.Base(program))
	cmd := exec.Command("go", "build", "-o", path, "github.com/miniredisd/miniredisd/"+program)
	cmd.Env = append([]string{"CGO_ENABLED=0"}, os.Environ()...)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("building %s: %w", program, err)
	}
	return path, nil
}
