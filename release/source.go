package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A source is one commit, checked out in a folder of its own.
type source struct {
	dir     string
	version string    // "0.2.0"
	commit  string    // 40 hexadecimal digits
	time    time.Time // of the commit, in UTC
	begun   time.Time // when the program started its work
}

// clone checks out the last commit of the repository around the working directory.
func clone() (*source, error) {
	top, err := output("", "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, err
	}
	if changed, err := output(top, "git", "status", "--porcelain"); err != nil {
		return nil, err
	} else if changed != "" {
		fmt.Fprintf(os.Stderr, "release: not in the last commit, so not in the release:\n%s\n", changed)
	}
	dir, err := os.MkdirTemp("", "miniredisd-release")
	if err != nil {
		return nil, err
	}
	src := &source{dir: dir, begun: time.Now()}
	if err := src.checkOut(top); err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	return src, nil
}

func (s *source) checkOut(top string) error {
	if _, err := output("", "git", "-c", "core.autocrlf=false", "clone", "--quiet", top, s.dir); err != nil {
		return err
	}
	head, err := output(top, "git", "rev-parse", "HEAD")
	if err != nil {
		return err
	}
	if _, err := output(s.dir, "git", "checkout", "--quiet", "--detach", head); err != nil {
		return err
	}
	seconds := os.Getenv("SOURCE_DATE_EPOCH") // https://reproducible-builds.org/specs/source-date-epoch/
	if seconds == "" {
		if seconds, err = output(s.dir, "git", "log", "-1", "--format=%ct"); err != nil {
			return err
		}
	}
	unix, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	s.commit, s.time = head, time.Unix(unix, 0).UTC()
	s.version, err = s.readVersion()
	return err
}

// readVersion returns the constant of internal/version.
func (s *source) readVersion() (string, error) {
	text, err := s.read("internal/version/version.go")
	if err != nil {
		return "", err
	}
	found := regexp.MustCompile(`const Version = "(.+)"`).FindSubmatch(text)
	if found == nil {
		return "", fmt.Errorf("internal/version has no version")
	}
	return string(found[1]), nil
}

// read returns a file of the commit.
func (s *source) read(path string) ([]byte, error) {
	return os.ReadFile(filepath.Join(s.dir, filepath.FromSlash(path)))
}

// licences returns one text with the licence of every module in the binaries, and of Go itself:
// each of them asks for its text to go along with a binary.
func (s *source) licences(binaries []binary) ([]byte, error) {
	root, err := output(s.dir, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	add := func(name, dir string) error {
		paths, err := filepath.Glob(filepath.Join(dir, "LICENSE*"))
		if err != nil {
			return err
		}
		if len(paths) != 1 {
			return fmt.Errorf("%s has %d licences in %s", name, len(paths), dir)
		}
		licence, err := os.ReadFile(paths[0])
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "%s\n%s\n\n%s\n\n", name, strings.Repeat("=", len(name)), bytes.TrimSpace(licence))
		return nil
	}
	if err := add("miniredisd", s.dir); err != nil {
		return nil, err
	}
	if err := add("The Go standard library", root); err != nil {
		return nil, err
	}
	for _, dep := range dependencies(binaries) {
		dir, err := output(s.dir, "go", "list", "-m", "-f", "{{.Dir}}", dep.Path)
		if err != nil {
			return nil, err
		}
		if err := add(dep.Path+" "+dep.Version, dir); err != nil {
			return nil, err
		}
	}
	return text.Bytes(), nil
}

// output runs a command in dir and returns its standard output without the last newline.
func output(dir string, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return strings.TrimSuffix(string(out), "\n"), nil
}
