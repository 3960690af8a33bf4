package adversary

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/lab"
)

// way is an algorithm by which the clients of a program share one lock. testdata/programs/ways.txt has all of them, and
// says what their steps mean.
type way struct {
	kind
	name  string
	hole  string   // what is wrong with how it takes, or ""
	setup string   // a request before the clients start, or ""
	take  []string // all of them have to succeed
	read  []string // likewise, for readers; none: there are no readers
}

// kind is a kind of lock.
type kind struct {
	mine               string // a step that shows a client its own lock, or ""
	renewals, releases []move // the first one is right
	shape              lab.Shape
	limit              int // holders of a semaphore; 0 is one
}

// move is what a client does with a lock that it has.
type move struct {
	name  string
	hole  string // what is wrong with it, or ""
	steps []string
}

func (w way) holders() int { return cmp.Or(w.limit, 1) }

// endless reports whether the lock has no lease.
func (w way) endless() bool { return !slices.ContainsFunc(w.take, hasLease) }

func hasLease(step string) bool {
	return strings.Contains(step, "{lease}") || strings.Contains(step, "{until}") || strings.Contains(step, "{sec}")
}

// blind reports whether the lock knows no tokens.
func (w way) blind() bool {
	return !slices.ContainsFunc(w.take, func(step string) bool {
		return strings.Contains(step, "{t}") || strings.Contains(step, "{field}")
	})
}

// grammar is all ways.
type grammar []way

func readGrammar(t *testing.T) (all grammar) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "programs", "ways.txt"))
	require.NoError(t, err)
	kinds := map[string]kind{}
	var name string // of the kind
	for _, line := range strings.Split(string(text), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		first, rest, _ := strings.Cut(line, " ")
		switch first {
		case "kind":
			name = rest
		case "way":
			m := named(rest)
			all = append(all, way{name: m.name, hole: m.hole})
		case "of:":
			require.Contains(t, kinds, rest)
			all[len(all)-1].kind = kinds[rest]
		default:
			k := kinds[name]
			known := k.reads(first, rest) || len(all) > 0 && all[len(all)-1].reads(first, rest)
			require.True(t, known, line)
			kinds[name] = k
		}
	}
	require.NotEmpty(t, all)
	return all
}

// reads reads a line of a kind. It reports whether it is one.
func (k *kind) reads(field, value string) bool {
	switch field {
	case "shape:":
		shape, limit, _ := strings.Cut(value, " ")
		k.shape = lab.Shape(shape)
		k.limit, _ = strconv.Atoi(limit)
		return k.limit > 0
	case "mine:":
		k.mine = value
	case "renew:":
		k.renewals = append(k.renewals, named(value))
	case "release:":
		k.releases = append(k.releases, named(value))
	default:
		return false
	}
	return true
}

// reads reads a line of a way. It reports whether it is one.
func (w *way) reads(field, value string) bool {
	switch field {
	case "setup:":
		w.setup = value
	case "take:":
		w.take = strings.Split(value, " ; ")
	case "read:":
		w.read = strings.Split(value, " ; ")
	default:
		return false
	}
	return true
}

// named reads "NAME (HOLE): STEP ; STEP".
func named(text string) (m move) {
	name, steps, _ := strings.Cut(text, ": ")
	m.name, m.hole, _ = strings.Cut(name, " (")
	m.hole = strings.TrimSuffix(m.hole, ")")
	if steps != "" {
		m.steps = strings.Split(steps, " ; ")
	}
	return m
}
