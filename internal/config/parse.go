package config

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// LineError is a line that cannot be accepted. Its text is the whole message
// redis-server prints on standard error before it exits with 1.
type LineError struct {
	Line int // 0: no one line is to blame
	Text string
	Why  string
}

func (e *LineError) Error() string {
	head := fmt.Sprintf("\n*** FATAL CONFIG FILE ERROR (Redis %s) ***\n", RedisVersion)
	if e.Line > 0 {
		head += fmt.Sprintf("Reading the configuration file, at line %d\n>>> '%s'\n", e.Line, e.Text)
	}
	return head + e.Why
}

// OpenError is a configuration file that cannot be read. redis-server logs it.
type OpenError struct {
	Path string
	Err  error
}

func (e *OpenError) Error() string {
	return fmt.Sprintf("Fatal error, can't open config file '%s': %s", e.Path, ErrorText(e.Err))
}

func (e *OpenError) Unwrap() error { return e.Err }

// Parse reads a command line as redis-server does: [file] [-] [--name value
// ...]. File, standard input and options are one text of configuration lines in
// this order, so that the last one counts and line numbers run on.
func Parse(args []string, stdin io.Reader) (*Config, error) {
	c := Default()
	file, fromStdin, options := splitCommandLine(args)
	var lines string
	if file != "" {
		var err error
		if c.File, err = filepath.Abs(file); err != nil {
			return nil, fmt.Errorf("configuration file: %w", err)
		}
		if lines, err = readConfig(c.File); err != nil {
			return nil, err
		}
	}
	if fromStdin {
		in, err := io.ReadAll(stdin)
		if err != nil {
			return nil, fmt.Errorf("configuration from standard input: %w", err)
		}
		lines += string(in)
	}
	if options != "" {
		lines += "\n" + options
	}
	l := loader{c: c}
	if err := l.load(lines); err != nil {
		return nil, err
	}
	return c, c.finish()
}

// ReadsStdin tells whether a command line has Parse read standard input.
func ReadsStdin(args []string) bool {
	_, fromStdin, _ := splitCommandLine(args)
	return fromStdin
}

// splitCommandLine turns options into configuration lines. What follows an
// option's name is its value even when it starts with "--"; only --save and
// --sentinel may go without.
func splitCommandLine(args []string) (file string, fromStdin bool, options string) {
	first := 0
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		file, first = args[0], 1
	}
	var b strings.Builder
	complete := true // the last option has a value
	for i := first; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "-" && (i == 0 || i == len(args)-1 || i == first):
			fromStdin = true
		case complete && strings.HasPrefix(arg, "--"):
			if b.Len() > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(arg[2:] + " ")
			words, _ := splitArgs(arg)
			complete = len(words) != 1
			name := strings.ToLower(arg)
			if !complete && (name == "--save" || name == "--sentinel") &&
				(i == len(args)-1 || strings.HasPrefix(args[i+1], "--")) {
				b.WriteString(`""`)
				complete = true
			}
		default:
			b.WriteString(quote(arg) + " ")
			complete = true
		}
	}
	return file, fromStdin, b.String()
}

// readConfig reads a file, or all that match a pattern, which may be none.
func readConfig(path string) (string, error) {
	paths := []string{path}
	if strings.ContainsAny(path, "*?[") {
		paths, _ = filepath.Glob(path)
	}
	var b strings.Builder
	for _, p := range paths {
		data, err := os.ReadFile(p)
		if err != nil {
			return "", &OpenError{p, err}
		}
		b.Write(data)
	}
	return b.String(), nil
}

// loader applies configuration lines.
type loader struct {
	c     *Config
	saved bool // a save line has replaced the default
	depth int  // of include
}

func (l *loader) load(lines string) error {
	n := 0
	for line := range strings.SplitSeq(lines, "\n") {
		n++
		line = strings.Trim(line, " \t\r\n")
		if line == "" || line[0] == '#' {
			continue
		}
		args, ok := splitArgs(line)
		why := "Unbalanced quotes in configuration line"
		if ok {
			var err error
			if why, err = l.directive(args, n, line); err != nil {
				return err
			}
		}
		if why != "" {
			return &LineError{n, line, why}
		}
	}
	return nil
}

// directive applies one line. err is set when an included file is at fault.
func (l *loader) directive(args []string, n int, line string) (why string, err error) {
	name := strings.ToLower(args[0])
	if r, _ := lookup(name); r != nil {
		values := args[1:]
		if !r.multi() && len(values) != 1 {
			return errArgs, nil
		}
		if r.multi() && len(values) == 1 && values[0] != "" {
			values, _ = splitArgs(values[0])
		}
		if r.kind == save && !l.saved {
			l.saved = true
			l.c.store(r, "")
		}
		value, why := l.c.parse(r, values, true)
		if why == "" {
			l.c.store(r, value)
		}
		return why, nil
	}
	switch {
	case name == "include" && len(args) == 2:
		return l.include(args[1])
	case name == "rename-command" && len(args) == 3:
		l.c.Renames = append(l.c.Renames, Rename{args[1], args[2], n, line})
		return "", nil
	case name == "user" && len(args) >= 2:
		l.c.Users = append(l.c.Users, User{args[1], args[2:], n, line})
		return "", nil
	case name == "loadmodule" && len(args) >= 2:
		return refusal(name), nil
	case name == "sentinel":
		return "sentinel directive while not in sentinel mode", nil
	case retired(name) && len(args) == 2:
		return "", nil
	case strings.Contains(name, ".") && len(args) == 2:
		return refusal("loadmodule"), nil
	case strings.Contains(name, "."):
		return "Module config specified without value", nil
	}
	return "Bad directive or wrong number of arguments", nil
}

// maxIncludes is deeper than any sane nesting; a file that includes itself
// would otherwise never end.
const maxIncludes = 64

func (l *loader) include(path string) (why string, err error) {
	if l.depth == maxIncludes {
		return "too many nested includes", nil
	}
	lines, err := readConfig(path)
	if err != nil {
		return "", err
	}
	l.depth++
	defer func() { l.depth-- }()
	return "", l.load(lines)
}

// retired directives are skipped by Redis 7 without a word.
func retired(name string) bool {
	switch name {
	case "list-max-ziplist-entries", "list-max-ziplist-value", "lua-replicate-commands":
		return true
	}
	return false
}

// finish checks what no single line can and settles what depends on others.
func (c *Config) finish() error {
	if c.LogFile != "" {
		f, err := os.OpenFile(c.Relative(c.LogFile), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			return &LineError{Why: "Can't open the log file: " + ErrorText(err)}
		}
		_ = f.Close()
	}
	// Redis with port 0 and no other listener exits, so a free port takes
	// nothing away; beside a unix socket it must stay what it means there.
	if c.Port == 0 && c.UnixSocket != "" {
		c.Port = -1
	}
	c.clamp()
	return nil
}

// Relative resolves a path of the configuration against dir, as after Redis's
// chdir.
func (c *Config) Relative(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(c.dir(), path)
}

// clamp keeps hz in the range that Redis keeps it in without an error.
func (c *Config) clamp() { c.Hz = min(max(c.Hz, 1), 500) }
