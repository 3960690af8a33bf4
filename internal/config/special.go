package config

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/internal/dialect"
)

// parseSpecial parses the kinds of values that only one or two directives have.
func (c *Config) parseSpecial(r *row, args []string, inFile bool) (value, why string) {
	switch r.kind {
	case bind:
		return parseBind(args)
	case save:
		return c.parseSave(r, args, inFile)
	case outputLimit:
		limits, why := mergeLimits(c.OutputLimits, args)
		return renderLimits(&limits), why
	case oomValues:
		return parseOOM(args)
	case percentiles:
		return parsePercentiles(args)
	case events:
		return parseEvents(args)
	case directory:
		return c.parseDir(args)
	case played:
		return parseDialect(args[0])
	}
	return parseReplicaOf(args)
}

// none reports whether the arguments clear a list: no argument, or one empty string.
func none(args []string) bool { return len(args) == 0 || len(args) == 1 && args[0] == "" }

// parseDialect accepts the names of dialects, in upper or lower case, with commas between them.
func parseDialect(names string) (value, why string) {
	names = ascii.ToLower(names)
	for name := range strings.SplitSeq(names, ",") {
		if !slices.Contains(dialect.Names(), name) {
			return "", "argument must be one of the following: " + strings.Join(dialect.Names(), ", ") +
				", or several with commas between them for several masters"
		}
	}
	return names, ""
}

// SetDialect gives the server the dialect of an environment variable. "" leaves the default.
func (c *Config) SetDialect(names string) error {
	if names == "" {
		return nil
	}
	value, why := parseDialect(names)
	if why != "" {
		return fmt.Errorf("%s='%s': %s", dialect.Variable, names, why)
	}
	c.Dialect = value
	return nil
}

func parseBind(args []string) (value, why string) {
	switch {
	case none(args):
		return "", ""
	case len(args) > 16:
		return "", "Too many bind addresses specified."
	}
	return strings.Join(args, " "), ""
}

// parseSave parses pairs of seconds and changes. The first save line of a file replaces the default. Each
// further line adds to the lines before it.
func (c *Config) parseSave(r *row, args []string, inFile bool) (value, why string) {
	if len(args) == 1 && args[0] == "" {
		return "", ""
	}
	if len(args)%2 != 0 {
		return "", "Invalid save parameters"
	}
	for i := 0; i < len(args); i += 2 {
		seconds, err1 := strconv.ParseInt(args[i], 10, 64)
		changes, err2 := strconv.ParseInt(args[i+1], 10, 64)
		if err1 != nil || err2 != nil || seconds < 1 || changes < 0 {
			return "", "Invalid save parameters"
		}
	}
	value = strings.Join(args, " ")
	if before := c.value(r); inFile && before != "" {
		value = strings.TrimSuffix(before+" "+value, " ")
	}
	return value, ""
}

// mergeLimits sets the limits of the classes in args, which has groups of class, hard, soft and
// seconds.
func mergeLimits(limits [3]OutputLimit, args []string) (merged [3]OutputLimit, why string) {
	if len(args)%4 != 0 {
		return limits, "Wrong number of arguments in buffer limit configuration."
	}
	for i := 0; i < len(args); i += 4 {
		var class int
		switch ascii.ToLower(args[i]) {
		case "normal":
			class = ClassNormal
		case "slave", "replica":
			class = ClassReplica
		case "pubsub":
			class = ClassPubSub
		default:
			return limits, "Invalid client class specified in buffer limit configuration."
		}
		hard, ok1 := parseMemory(args[i+1])
		soft, ok2 := parseMemory(args[i+2])
		seconds, err := strconv.ParseInt(args[i+3], 10, 32)
		if !ok1 || !ok2 || err != nil || seconds < 0 {
			return limits, "Error in hard, soft or soft_seconds setting in buffer limit configuration."
		}
		limits[class] = OutputLimit{hard, soft, seconds}
	}
	return limits, ""
}

func classNames() [3]string { return [3]string{"normal", "slave", "pubsub"} }

func renderLimits(limits *[3]OutputLimit) string {
	var parts []string
	for i, name := range classNames() {
		l := limits[i]
		parts = append(parts, fmt.Sprintf("%s %d %d %d", name, l.Hard, l.Soft, l.SoftSeconds))
	}
	return strings.Join(parts, " ")
}

func parseOOM(args []string) (value, why string) {
	if len(args) != 3 {
		return "", errArgs
	}
	for _, a := range args {
		if n, err := strconv.Atoi(a); err != nil || n < -2000 || n > 2000 {
			return "", "Invalid oom-score-adj-values, elements must be between -2000 and 2000."
		}
	}
	return strings.Join(args, " "), ""
}

func parsePercentiles(args []string) (value, why string) {
	if none(args) {
		return "", ""
	}
	var list []float64
	for _, a := range args {
		p, err := strconv.ParseFloat(a, 64)
		switch {
		case err != nil || math.IsNaN(p):
			return "", "Invalid latency-tracking-info-percentiles parameters"
		case p < 0 || p > 100:
			return "", "latency-tracking-info-percentiles parameters should sit between [0.0,100.0]"
		}
		list = append(list, p)
	}
	return renderPercentiles(list), ""
}

func renderPercentiles(list []float64) string {
	var parts []string
	for _, p := range list {
		s := strings.TrimRight(strconv.FormatFloat(p, 'f', 6, 64), "0")
		parts = append(parts, strings.TrimSuffix(s, "."))
	}
	return strings.Join(parts, " ")
}

// parseEvents returns the event classes in Redis's order (notify.c: keyspaceEventsFlagsToString).
func parseEvents(args []string) (value, why string) {
	if len(args) != 1 {
		return "", errArgs
	}
	s := args[0]
	if strings.Trim(s, "Ag$lshzxeKEtmdn") != "" {
		return "", "Invalid event class character. Use 'Ag$lshzxeKEtmdn'."
	}
	// A includes every class but n and m.
	const all = "g$lshzxetd"
	if value = keep(all, s); strings.Contains(s, "A") || value == all {
		value = "A"
	}
	return value + keep("nKEm", s), ""
}

// keep returns the letters of order that s contains.
func keep(order, s string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(s, r) {
			return r
		}
		return -1
	}, order)
}

func (c *Config) parseDir(args []string) (value, why string) {
	dir := args[0]
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(c.dir(), dir)
	}
	switch info, err := os.Stat(dir); {
	case err != nil:
		return "", ErrorText(err)
	case !info.IsDir():
		return "", ErrorText(syscall.ENOTDIR)
	}
	return filepath.Clean(dir), ""
}

func (c *Config) dir() string {
	if c.Dir != "" {
		return c.Dir
	}
	wd, _ := os.Getwd()
	return wd
}

func parseReplicaOf(args []string) (value, why string) {
	if len(args) != 2 {
		return "", errArgs
	}
	if ascii.EqualFold(args[0], "no") && ascii.EqualFold(args[1], "one") {
		return "", ""
	}
	if n, err := strconv.Atoi(args[1]); err != nil || n < 0 || n > 65535 {
		return "", "Invalid master port"
	}
	return strings.Join(args, " "), ""
}

// badText returns the error text for the value of a text directive, or "".
func badText(name, s string) string {
	switch name {
	case "dbfilename", "appendfilename", "appenddirname":
		what := "filename"
		if name == "appenddirname" {
			what = "dirname"
		}
		switch {
		case strings.Contains(s, "/"):
			return name + " can't be a path, just a " + what
		case s == "" && name != "dbfilename":
			return name + " can't be empty"
		}
	case "cluster-announce-hostname":
		return badHostname(s)
	case "proc-title-template":
		return badTemplate(s)
	}
	return ""
}

func badHostname(s string) string {
	if len(s) >= 256 {
		return "Hostnames must be less than 256 characters"
	}
	for _, r := range s {
		if !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' || r == '.') {
			return "Hostnames may only contain alphanumeric characters, hyphens or dots"
		}
	}
	return ""
}

func badTemplate(s string) string {
	for _, known := range []string{"title", "listen-addr", "server-mode", "port", "tls-port", "unixsocket",
		"config-file"} {
		s = strings.ReplaceAll(s, "{"+known+"}", "")
	}
	if strings.ContainsAny(s, "{}") {
		return "template format is invalid or contains unknown variables"
	}
	return ""
}

// ErrorText returns the text of a system error as the C library and Redis print it, with a capital
// letter at the start.
func ErrorText(err error) string {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		err = errno
	}
	s := err.Error()
	return strings.ToUpper(s[:1]) + s[1:]
}
