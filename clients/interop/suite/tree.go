package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// tree is a copy of the suite in which src/redis-server is the server to be tested.
type tree struct{ dir string }

// newTree takes the tests of the source folder from. An empty server means miniredisd, built for it.
func newTree(ctx context.Context, from, server string) (*tree, error) {
	dir, err := os.MkdirTemp("", "suite")
	if err != nil {
		return nil, err
	}
	t := &tree{dir: dir}
	if err := t.fill(ctx, from, server); err != nil {
		t.remove()
		return nil, err
	}
	return t, nil
}

func (t *tree) fill(ctx context.Context, from, server string) error {
	// A copy, because the suite writes into its folder.
	if err := os.CopyFS(filepath.Join(t.dir, "tests"), os.DirFS(filepath.Join(from, "tests"))); err != nil {
		return fmt.Errorf("copying the suite: %w", err)
	}
	if err := leaveOut(filepath.Join(t.dir, "tests", "unit", "scripting.tcl"), debuggerBlock); err != nil {
		return err
	}
	src := filepath.Join(t.dir, "src")
	if err := os.Mkdir(src, 0o755); err != nil {
		return err
	}
	binary := filepath.Join(src, "redis-server")
	if server == "" {
		build := exec.CommandContext(ctx, "go", "build", "-o", binary, "./cmd/miniredisd")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			return fmt.Errorf("building miniredisd: %w", err)
		}
	} else if err := link(server, binary); err != nil {
		return err
	}
	for _, tool := range []string{"redis-cli", "redis-benchmark", "redis-check-rdb", "redis-check-aof"} {
		path := filepath.Join(from, "src", tool)
		if _, err := os.Stat(path); err != nil {
			if path, err = exec.LookPath(tool); err != nil {
				return err
			}
		}
		if err := link(path, filepath.Join(src, tool)); err != nil {
			return err
		}
	}
	return nil
}

// debuggerBlock is no test. It starts the Lua debugger, which is not supported here, and an error outside of a test
// ends the file. The tests of the debugger stay, and are red.
const debuggerBlock = `start_server {tags {"scripting external:skip"}} {
    r script debug sync
    r eval {return 'hello'} 0
    r eval {return 'hello'} 0
}
`

// leaveOut removes a block from a file of the suite.
func leaveOut(path, block string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if strings.Count(string(text), block) != 1 {
		return fmt.Errorf("%s is not that of Redis 7.2.6: it lacks the block %q", path, block)
	}
	return os.WriteFile(path, []byte(strings.Replace(string(text), block, "", 1)), 0o644)
}

func link(path, name string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	return os.Symlink(path, name)
}

func (t *tree) remove() { _ = os.RemoveAll(t.dir) }
