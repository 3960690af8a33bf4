package lab

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/miniredistest"
	"github.com/miniredisd/miniredisd/resp"
)

// A transcript is a block of console lines with several clients: `A> GET k` is a command, and the lines
// after it are its reply as redis-cli prints it. `A: OK` is the reply to an earlier command of A. `...`
// stands for any reply. The Chinese pages have the same blocks.
func TestTheClaimsAndTheComparisonShowRepliesAsTheyAre(t *testing.T) {
	ran := 0
	for _, page := range []string{"docs/claims.md", "docs/comparison.md"} {
		for _, block := range regexp.MustCompile("(?s)```console\n(.*?)```").FindAllStringSubmatch(read(t, page), -1) {
			if strings.Contains(block[1], "\n$ ") || strings.HasPrefix(block[1], "$ ") {
				continue // a shell is needed
			}
			ran++
			heading, _, _ := strings.Cut(block[1], "\n")
			t.Run(page+" "+heading, func(t *testing.T) { play(t, block[1]) })
		}
	}
	require.GreaterOrEqual(t, ran, 15)
}

// play sends the commands of a transcript, in order, to a server of its own.
func play(t *testing.T, transcript string) {
	srv := miniredistest.Run(t, miniredistest.Frozen())
	clients := map[string]*redistest.Conn{}
	step := regexp.MustCompile(`(?m)^([A-Z])([>:]) (.*)\n((?:[^A-Z].*\n|[A-Z][^>:].*\n)*)`)
	steps := step.FindAllStringSubmatch(transcript, -1)
	require.NotEmpty(t, steps)
	length := 0
	for _, step := range steps {
		name, line, reply := step[1], step[3], step[4]
		length += len(step[0])
		if clients[name] == nil {
			clients[name] = redistest.Dial(t, srv.Addr())
		}
		client := clients[name]
		if step[2] == ":" {
			reply = line + "\n" + reply
		} else {
			require.NoError(t, client.Send(resp.AppendRequest(nil, words(line)...)))
		}
		if reply == "" { // it comes later
			client.WaitForArrival()
			continue
		}
		v, err := client.TryRead()
		switch {
		case strings.HasPrefix(reply, "Error: "):
			require.Error(t, err, line)
		case strings.HasPrefix(reply, "..."):
			require.NoError(t, err, line)
		default:
			require.NoError(t, err, line)
			require.Equal(t, strings.TrimSpace(reply), strings.TrimSpace(printed(v)), line)
		}
	}
	require.Len(t, transcript, length, "the transcript has lines that are no step")
}

// printed formats a reply as redis-cli does in a terminal.
func printed(v resp.Value) string {
	switch {
	case v.Null:
		return "(nil)"
	case v.Kind == ':':
		return "(integer) " + strconv.FormatInt(v.Int, 10)
	case v.Kind == '-':
		return "(error) " + v.Str
	case v.Kind == '$':
		return strconv.Quote(v.Str)
	case v.Kind != '*':
		return v.Str
	}
	var lines []string
	for i, e := range v.Elems {
		lines = append(lines, strconv.Itoa(i+1)+") "+printed(e))
	}
	return strings.Join(lines, "\n")
}
