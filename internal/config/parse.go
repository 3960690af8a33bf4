package config

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/miniredisd/miniredisd/internal/ascii"
)

// LineError is an error in a configuration line. Its text is the message that redis-server prints on
// standard error before it exits with 1.
type LineError struct {
	Line int // 0 if the error is in no single line
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

// OpenError is a configuration file that cannot be read. redis-server logs this error.
type OpenError struct {
	Path string
	Err  error
}

func (e *OpenError) Error() string {
	return fmt.Sprintf("Fatal error, can't open config file '%s': %s", e.Path, ErrorText(e.Err))
}

func (e *OpenError) Unwrap() error { return e.Err }

// Parse reads a command line as redis-server does: [file] [-] [--name value ...]. The file, standard
// input and the options become one text of configuration lines, in this order. So a later line
// overrides an earlier one, and line numbers go on across them. The error is a *LineError, an
// *OpenError or an error of stdin.
func Parse(args []string, stdin io.Reader) (*Config, error) { return ParseOver(Default(), args, stdin) }

// ParseOver is Parse with other defaults: those of c, which it changes and returns.
func ParseOver(c *Config, args []string, stdin io.Reader) (*Config, error) {
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
		in, err := readAll(stdin, MostText)
		if err != nil {
			return nil, fmt.Errorf("configuration from standard input: %w", err)
		}
		lines += string(in)
	}
	if options != "" {
		lines += "\n" + options
	}
	if played := dialectOf(lines); played != "" {
		c.Dialect = played
	}
	l := loader{c: c}
	if err := l.load(lines); err != nil {
		return nil, err
	}
	return c, c.finish()
}

// ReadsStdin reports whether Parse reads standard input for these arguments.
func ReadsStdin(args []string) bool {
	_, fromStdin, _ := splitCommandLine(args)
	return fromStdin
}

// splitCommandLine turns options into configuration lines. The argument after an option's name is its
// value, even if it starts with "--". Only --save and --sentinel may have no value.
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
			words, _ := SplitArgs(arg)
			complete = len(words) != 1
			name := ascii.ToLower(arg)
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

// readConfig reads a file, or all files that match a pattern. A pattern may match no file.
func readConfig(path string) (string, error) {
	paths := []string{path}
	if strings.ContainsAny(path, "*?[") {
		paths, _ = filepath.Glob(path)
	}
	var b strings.Builder
	for _, p := range paths {
		data, err := readStart(p)
		if err != nil {
			return "", &OpenError{p, err}
		}
		b.Write(data)
	}
	return b.String(), nil
}

// readStart reads a file at the start, when waiting harms nobody. It may be a pipe of the shell.
func readStart(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f, MostText)
}

// loader applies configuration lines.
type loader struct {
	c     *Config
	saved bool // a save line has replaced the default
	depth int  // the nesting of include
}

func (l *loader) load(lines string) error {
	n := 0
	for line := range strings.SplitSeq(lines, "\n") {
		n++
		line = strings.Trim(line, " \t\r\n")
		if line == "" || line[0] == '#' {
			continue
		}
		args, ok := SplitArgs(line)
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

// directive applies one line. why is the error text for this line. err is an error in an included file.
func (l *loader) directive(args []string, n int, line string) (why string, err error) {
	name := ascii.ToLower(args[0])
	if r := l.c.lookup(name); r != nil {
		values := args[1:]
		if !r.multi() && len(values) != 1 {
			return errArgs, nil
		}
		if r.multi() && len(values) == 1 && values[0] != "" {
			values, _ = SplitArgs(values[0])
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

// maxIncludes stops a file that includes itself.
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

// retired reports whether Redis 7 silently ignores a directive.
func retired(name string) bool {
	switch name {
	case "list-max-ziplist-entries", "list-max-ziplist-value", "lua-replicate-commands":
		return true
	}
	return false
}

// finish checks the configuration as a whole, after the last line.
func (c *Config) finish() error {
	if c.LogFile != "" {
		f, err := os.OpenFile(c.Relative(c.LogFile), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			return &LineError{Why: "Can't open the log file: " + ErrorText(err)}
		}
		_ = f.Close()
	}
	// Redis exits if port is 0 and there is neither a unix socket nor a tls-port. Here port 0 then means a
	// free port. With one of them, port 0 means no TCP, as in Redis.
	if c.Port == 0 && (c.UnixSocket != "" || c.TLSPort != 0) {
		c.Port = -1
	}
	c.ClusterEnabled = c.ClusterEnabled || c.Cluster
	if c.ClusterEnabled {
		if c.ReplicaOf != "" {
			return &LineError{Why: "replicaof directive not allowed in cluster mode"}
		}
		c.Databases = 1
	}
	c.clamp()
	return nil
}

// Relative resolves a path against the directive dir, because Redis changes to that directory.
func (c *Config) Relative(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(c.dir(), path)
}

// clamp moves hz into its range. Like Redis, it reports no error.
func (c *Config) clamp() { c.Hz = min(max(c.Hz, 1), 500) }
