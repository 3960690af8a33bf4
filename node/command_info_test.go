package node_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/resp"
)

// tipsAreNewer reports whether 7.0.15 gives other tips for the command than 7.2.
func tipsAreNewer(name string) bool {
	return slices.Contains([]string{
		"acl|deluser", "acl|save", "acl|setuser", "client|setname", "config|resetstat", "config|rewrite", "latency|reset",
		"msetnx", "randomkey", "scan",
	}, name)
}

// Clients use these facts to route, pipeline and cache: arity, flags, ACL categories, tips and key
// specifications.
func TestCommandInfoIsThatOfRedis(t *testing.T) {
	redistest.Require(t)
	oracle := redistest.Start(t)
	ours, theirs := redistest.Dial(t, start(t, nil)), redistest.Dial(t, oracle.Addr)
	newer := oracle.Newer(ours)
	for _, name := range ours.Do("COMMAND", "LIST").Elems {
		if newer[name.Str] || strings.HasPrefix(name.Str, "lab") {
			continue
		}
		want := theirs.Do("COMMAND", "INFO", string(name.Str)).Elems[0]
		got := ours.Do("COMMAND", "INFO", string(name.Str)).Elems[0]
		require.Equal(t, len(want.Elems), len(got.Elems), "%s: not a command of Redis", name.Str)
		for i, what := range []string{
			"name", "arity", "flags", "first key", "last key", "step", "categories", "tips", "keys",
		} {
			if what == "tips" && redistest.Older(oracle.Version, "7.2") && tipsAreNewer(name.Str) {
				continue // TestFactsAboutCommandsAreThoseOf72 has them
			}
			if w, g := canonical(want.Elems[i]), canonical(got.Elems[i]); w != g {
				t.Errorf("%s: %s\n  want %s\n  got  %s", name.Str, what, w, g)
			}
		}
	}
}

// canonical sorts the lists that have no order. It drops the notes on key specifications: they are
// documentation, and ours is our own.
func canonical(v resp.Value) string {
	var parts []string
	for i := 0; i < len(v.Elems); i++ {
		if string(v.Elems[i].Str) == "notes" {
			i++
			continue
		}
		parts = append(parts, canonical(v.Elems[i]))
	}
	if v.Elems == nil {
		return v.String()
	}
	sets := len(v.Elems) > 0 && v.Elems[0].Kind == '+'
	tips := len(v.Elems) > 1 && v.Elems[0].Kind == '$' // Redis lists tips in no particular order
	if sets || tips {
		slices.Sort(parts)
	}
	return "[" + strings.Join(parts, " ") + "]"
}

// redis-cli asserts the shape of COMMAND DOCS. Tools expect every command there, with its
// arguments.
func TestCommandDocsHasEveryCommandWithSummaryAndGroup(t *testing.T) {
	c := redistest.Dial(t, start(t, nil))
	c.Do("HELLO", "3")
	docs := c.Do("COMMAND", "DOCS")
	require.Equal(t, c.Do("COMMAND", "COUNT").Int, int64(len(docs.Elems)/2))
	for i := 0; i < len(docs.Elems); i += 2 {
		fields := map[string]resp.Value{}
		for j := 0; j+1 < len(docs.Elems[i+1].Elems); j += 2 {
			fields[string(docs.Elems[i+1].Elems[j].Str)] = docs.Elems[i+1].Elems[j+1]
		}
		for _, name := range []string{"summary", "since", "group", "complexity"} {
			require.NotEmpty(t, fields[name].Str, "%s of %s", name, docs.Elems[i].Str)
		}
	}
}

// The summaries are our own, but the versions are facts.
func TestCommandDocsNamesTheVersionsThatRedisNames(t *testing.T) {
	redistest.Require(t)
	ours, theirs := past(redistest.Dial(t, start(t, nil))), past(redistest.Dial(t, redistest.Start(t).Addr))
	require.Equal(t, theirs, ours)
}

// past returns, for each command, the versions before 7.2 in which it changed.
func past(c *redistest.Conn) map[string][]string {
	c.Do("HELLO", "3")
	versions := map[string][]string{}
	var read func(docs []resp.Value)
	read = func(docs []resp.Value) {
		for i := 0; i+1 < len(docs); i += 2 {
			fields := docs[i+1].Elems
			for j := 0; j+1 < len(fields); j += 2 {
				switch fields[j].Str {
				case "subcommands":
					read(fields[j+1].Elems)
				case "history":
					for _, change := range fields[j+1].Elems {
						if name := docs[i].Str; change.Elems[0].Str < "7.2" {
							versions[name] = append(versions[name], change.Elems[0].Str)
						}
					}
				}
			}
		}
	}
	read(c.Do("COMMAND", "DOCS").Elems)
	return versions
}
