package node_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/node"
	"github.com/miniredisd/miniredisd/resp"
)

const factsFile = "testdata/command-facts.txt"

// The file has what Redis 7.2 says about commands in COMMAND INFO and COMMAND DOCS, without
// summaries, complexities and words about history. A redis-server 7.2 writes it with -update. Commands
// that are newer than 7.2 stand in no such file.
func TestFactsAboutCommandsAreThoseOf72(t *testing.T) {
	ours := facts(redistest.Dial(t, start(t, nil)))
	theirs := oracleFacts(t)
	if *node.Update && theirs != nil {
		require.NoError(t, os.WriteFile(factsFile, []byte(joinFacts(theirs)), 0o644))
	}
	text, err := os.ReadFile(factsFile)
	require.NoError(t, err)
	if theirs != nil {
		require.Equal(t, string(text), joinFacts(theirs), "the file is not what redis-server says")
	}
	for name := range ours {
		if since := strings.Fields(ours[name])[1]; !redistest.Older(since, "7.3") || strings.HasPrefix(name, "lab") {
			delete(ours, name)
		}
	}
	require.Equal(t, string(text), joinFacts(ours))
}

// oracleFacts returns the facts of an installed redis-server 7.2, or nil.
func oracleFacts(t *testing.T) map[string]string {
	if !redistest.Installed() {
		return nil
	}
	server := redistest.Start(t)
	if !strings.HasPrefix(server.Version, "7.2.") {
		return nil
	}
	return facts(redistest.Dial(t, server.Addr))
}

func joinFacts(facts map[string]string) string {
	var b strings.Builder
	names := make([]string, 0, len(facts))
	for name := range facts {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		b.WriteString(facts[name])
	}
	return b.String()
}

// facts returns, for each command and subcommand, a line about it and a line for each argument.
func facts(c *redistest.Conn) map[string]string {
	c.Do("HELLO", "3")
	out := map[string]string{}
	var read func(docs []resp.Value)
	read = func(docs []resp.Value) {
		for i := 0; i+1 < len(docs); i += 2 {
			name, fields := docs[i].Str, fieldsOf(docs[i+1])
			var b strings.Builder
			fmt.Fprint(&b, name, " ", fields["since"].Str, " ", fields["group"].Str)
			for _, flag := range fields["doc_flags"].Elems {
				b.WriteString(" " + flag.Str)
			}
			for _, note := range []string{fields["deprecated_since"].Str, capitals(fields["replaced_by"].Str)} {
				if note != "" {
					b.WriteString(" " + note)
				}
			}
			for _, change := range fields["history"].Elems {
				b.WriteString(" " + change.Elems[0].Str)
			}
			info := c.Do("COMMAND", "INFO", name).Elems[0].Elems
			for _, part := range info[1:9] {
				b.WriteString(" " + canonical(part))
			}
			b.WriteString("\n")
			writeArguments(&b, fields["arguments"].Elems, "  ")
			out[name] = b.String()
			read(fields["subcommands"].Elems)
		}
	}
	read(c.Do("COMMAND", "DOCS").Elems)
	return out
}

func fieldsOf(m resp.Value) map[string]resp.Value {
	fields := map[string]resp.Value{}
	for i := 0; i+1 < len(m.Elems); i += 2 {
		fields[m.Elems[i].Str] = m.Elems[i+1]
	}
	return fields
}

// capitals returns the names of commands and options in a text.
func capitals(text string) string {
	return strings.Join(regexp.MustCompile(`[A-Z]{2,}`).FindAllString(text, -1), " ")
}

func writeArguments(b *strings.Builder, args []resp.Value, indent string) {
	for _, arg := range args {
		var words []string
		for i := 0; i+1 < len(arg.Elems); i += 2 {
			if name := arg.Elems[i].Str; name != "arguments" {
				words = append(words, name+"="+canonical(arg.Elems[i+1]))
			}
		}
		b.WriteString(indent + strings.Join(words, " ") + "\n")
		writeArguments(b, fieldsOf(arg)["arguments"].Elems, indent+"  ")
	}
}
