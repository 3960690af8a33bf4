package adversary

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/resp"
)

// history is one history of a file.
type history struct {
	name, about string
	truth       string // "one" or "two": did two workers hold a lock at one time?
	undecided   string // why the verdict may be undecided, "" if it must decide
	accepts     string // another verdict that is right here, such as no-locks
	finding     string // a pattern that the doctor must report
	masters     int
	replicas    int // of the one master
	dialect     string
	lines       []line

	file    string
	watched string // the keys in the log, "" for all
	onOne   bool   // only the first one of several masters is used
}

// touchesOtherKeys reports whether there are commands on keys that are no locks.
func (h history) touchesOtherKeys() bool {
	other := regexp.MustCompile(` (other|mine|trash|copy|tmp|done|none|old|t|k1)\b`)
	return slices.ContainsFunc(h.lines, func(l line) bool { return other.MatchString(l.raw) })
}

// line is a step of a history.
type line struct {
	at    string // file:number, for messages
	words []string
	reply string // what stands after ->, for a command
	raw   string
}

// readFile reads the histories of a file. testdata/README.md explains the format.
func readFile(t *testing.T, file string) []history {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	return readText(t, file, string(text))
}

func readText(t *testing.T, file, text string) (all []history) {
	t.Helper()
	var h *history
	for n, raw := range strings.Split(text, "\n") {
		at := fmt.Sprintf("%s:%d", file, n+1)
		raw = strings.TrimSpace(raw)
		if raw == "" || strings.HasPrefix(raw, "#") {
			continue
		}
		key, value, isHeader := strings.Cut(raw, ": ")
		value = strings.TrimSpace(value)
		if key, name, ok := strings.Cut(key, " "); ok && key == "history" {
			require.True(t, isHeader && value != "", "%s: say what happens in it", at)
			all = append(all, history{file: filepath.Base(file), name: name, about: value, masters: 1, dialect: "redis-7.2"})
			h = &all[len(all)-1]
			continue
		}
		require.NotNil(t, h, "%s: the first line of a history is missing", at)
		if isHeader && len(h.lines) == 0 && h.header(t, at, key, value) {
			continue
		}
		h.lines = append(h.lines, parseLine(t, at, raw))
	}
	for _, h := range all {
		require.Contains(t, []string{"one", "two"}, h.truth, "%s of %s has no truth", h.name, file)
		require.NotEmpty(t, h.lines, h.name)
		require.True(t, h.replicas == 0 || h.masters == 1, "%s: replicas of one master only", h.name)
	}
	return all
}

// header reads a line between the name of a history and its first step. It reports whether it is one.
func (h *history) header(t *testing.T, at, key, value string) bool {
	switch key {
	case "truth":
		h.truth = value
	case "undecided":
		h.undecided = value
	case "accepts":
		h.accepts = value
	case "finding":
		h.finding = value
	case "fixtures": // for the players in other languages
		require.Equal(t, "yes", value, at)
	case "dialect":
		h.dialect = value
	case "masters", "replicas":
		n, err := strconv.Atoi(value)
		require.NoError(t, err, at)
		if key == "replicas" {
			h.replicas = n
		} else {
			h.masters = n
		}
	default:
		return false
	}
	return true
}

func parseLine(t *testing.T, at, raw string) line {
	t.Helper()
	text, reply, _ := strings.Cut(raw, " -> ")
	words, ok := resp.Words([]byte(text))
	require.True(t, ok, "%s: the quotes do not match", at)
	l := line{at: at, reply: reply, raw: raw}
	for _, w := range words {
		l.words = append(l.words, string(w))
	}
	return l
}
