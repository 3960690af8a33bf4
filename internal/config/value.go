package config

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/miniredisd/miniredisd/internal/ascii"
)

const (
	errArgs   = "wrong number of arguments"
	errNotInt = "argument couldn't be parsed into an integer"
	tooLarge  = "a size above all bounds" // which the error names instead
)

// parse checks the arguments of a directive. It returns the value as CONFIG GET shows it, or an error
// text. inFile is set for a file or the command line, where some directives add to an earlier line.
func (c *Config) parse(r *row, args []string, inFile bool) (value, why string) {
	if !r.multi() && len(args) != 1 {
		return "", errArgs
	}
	switch r.kind {
	case boolean:
		value, why = parseBool(args[0])
	case integer, memory, percent, octal:
		value, why = parseNumber(r, args[0])
	case word, words:
		value, why = parseWords(r, args)
	case text:
		value, why = args[0], badText(r.name, args[0])
	default:
		value, why = c.parseSpecial(r, args, inFile)
	}
	if why == "" && value != r.def && (r.flags&refused != 0 || r.flags&withheld != 0 && !inFile) {
		return "", refusal(r.name)
	}
	return value, why
}

func parseBool(s string) (value, why string) {
	switch ascii.ToLower(s) {
	case "yes", "no":
		return ascii.ToLower(s), ""
	}
	return "", "argument must be 'yes' or 'no'"
}

func parseNumber(r *row, s string) (value, why string) {
	n, why := readNumber(r.kind, s)
	switch {
	case why == tooLarge:
		return "", fmt.Sprintf("argument must be between %d and %d inclusive", r.min, r.max)
	case why != "":
		return "", why
	case r.kind == percent && n < 0:
		if n < r.min {
			return "", fmt.Sprintf("percentage argument must be less or equal to %d", -r.min)
		}
		return strconv.FormatInt(-n, 10) + "%", ""
	case r.kind == octal && (n < r.min || n > r.max):
		return "", fmt.Sprintf("argument must be between %o and %o inclusive", r.min, r.max)
	case n < r.min || n > r.max:
		return "", fmt.Sprintf("argument must be between %d and %d inclusive", r.min, r.max)
	case r.kind == octal:
		return strconv.FormatInt(n, 8), ""
	}
	return strconv.FormatInt(n, 10), ""
}

func readNumber(k kind, s string) (n int64, why string) {
	switch k {
	case octal:
		n, err := strconv.ParseInt(s, 8, 64)
		if err != nil {
			return 0, "argument couldn't be parsed as an octal number"
		}
		return n, ""
	case integer:
		n, ok := ascii.ParseInt(s)
		if !ok {
			return 0, errNotInt
		}
		return n, ""
	}
	n, ok := parseMemory(s)
	switch {
	case ok:
		return n, ""
	case n > 0:
		return 0, tooLarge
	case k == memory:
		return 0, "argument must be a memory value"
	}
	if digits, is := strings.CutSuffix(s, "%"); is {
		if n, ok := ascii.ParseInt(digits); ok && n >= 0 {
			return -n, ""
		}
	}
	return 0, "argument must be a memory or percent value"
}

// ParseMemory parses a size in bytes with an optional unit, as directives of the kind memory do.
func ParseMemory(s string) (n int64, ok bool) { return parseMemory(s) }

// parseMemory parses "100", "100b", "1k" (1000), "1kb" (1024) and so on up to gb. The empty string is 0,
// as in Redis (util.c: memtoull). A size that is too large is not ok, and n is the largest one.
func parseMemory(s string) (int64, bool) {
	digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
	var unit int64
	switch ascii.ToLower(s[digits:]) {
	case "", "b":
		unit = 1
	case "k":
		unit = 1e3
	case "kb":
		unit = 1 << 10
	case "m":
		unit = 1e6
	case "mb":
		unit = 1 << 20
	case "g":
		unit = 1e9
	case "gb":
		unit = 1 << 30
	default:
		return 0, false
	}
	if digits == 0 {
		return 0, true
	}
	n, err := strconv.ParseInt(s[:digits], 10, 64)
	if err != nil || n > math.MaxInt64/unit {
		return math.MaxInt64, false
	}
	return n * unit, true
}

func parseWords(r *row, args []string) (value, why string) {
	var given []string
	none := "argument(s) must be one of the following: " + strings.Join(r.words, ", ")
	if len(args) == 0 {
		return "", none
	}
	for _, a := range args {
		w := ascii.ToLower(a)
		if !slices.Contains(r.words, w) {
			return "", none
		}
		if r.name == "oom-score-adj" && w == "relative" {
			w = "yes"
		}
		given = append(given, w)
	}
	if len(given) == 0 {
		return "", "argument(s) must be one of the following: " + strings.Join(r.words, ", ")
	}
	if r.kind == word {
		return given[0], ""
	}
	if slices.Contains(given, "save") && slices.Contains(given, "nosave") {
		return "", "shutdown options SAVE and NOSAVE can't be used simultaneously"
	}
	// In Redis the words are bits and the default has no bit. So the default disappears beside any
	// other word.
	var set []string
	for _, w := range r.words[1:] {
		if slices.Contains(given, w) {
			set = append(set, w)
		}
	}
	if len(set) == 0 {
		return r.words[0], ""
	}
	return strings.Join(set, " "), ""
}

// store writes a value of parse to its field. A directive without a field keeps it as text.
func (c *Config) store(r *row, value string) {
	if r.field == nil {
		if value == r.def {
			delete(c.text, r.name)
		} else {
			c.text[r.name] = value
		}
		return
	}
	switch p := r.field(c).(type) {
	case *bool:
		*p = value == "yes"
	case *string:
		*p = value
	case *int:
		*p = int(number(r.kind, value))
	case *int64:
		*p = number(r.kind, value)
	case *uint64:
		*p = uint64(number(r.kind, value))
	case *[]string:
		*p = strings.Fields(value)
	case *[]float64:
		*p = nil
		for _, f := range strings.Fields(value) {
			v, _ := strconv.ParseFloat(f, 64)
			*p = append(*p, v)
		}
	case *[3]int:
		for i, f := range strings.Fields(value) {
			p[i], _ = strconv.Atoi(f)
		}
	case *[3]OutputLimit:
		*p, _ = mergeLimits(*p, strings.Fields(value))
	}
}

// number converts a value that parse has checked.
func number(k kind, value string) int64 {
	n, _ := readNumber(k, value)
	return n
}

// value returns what CONFIG GET shows for a directive.
func (c *Config) value(r *row) string {
	if r.flags&withheld != 0 {
		return r.def
	}
	return c.given(r)
}

// given returns the value that a directive was set to, whether or not it has an effect.
func (c *Config) given(r *row) string {
	if r.field == nil {
		if v, ok := c.text[r.name]; ok {
			return v
		}
		return r.def
	}
	switch p := r.field(c).(type) {
	case *bool:
		if *p {
			return "yes"
		}
		return "no"
	case *string:
		if r.kind == directory {
			return c.dir()
		}
		if r.kind == events && strings.HasPrefix(*p, "A") {
			return strings.Replace(*p, "n", "", 1) // Redis does not show n if all others are on
		}
		return *p
	case *int:
		return renderNumber(r, int64(*p))
	case *int64:
		return renderNumber(r, *p)
	case *uint64:
		return strconv.FormatUint(*p, 10)
	case *[]string:
		return strings.Join(*p, " ")
	case *[]float64:
		return renderPercentiles(*p)
	case *[3]int:
		return fmt.Sprintf("%d %d %d", p[0], p[1], p[2])
	case *[3]OutputLimit:
		return renderLimits(p)
	}
	return ""
}

func renderNumber(r *row, n int64) string {
	switch {
	case r.kind == octal:
		return strconv.FormatInt(n, 8)
	case r.kind == percent && n < 0:
		return strconv.FormatInt(-n, 10) + "%"
	case r.name == "port" && n < 0:
		return "0"
	}
	return strconv.FormatInt(n, 10)
}
