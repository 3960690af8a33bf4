package node_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

func TestASlowReplyComesInPieces(t *testing.T) {
	addr, admin := startLab(t)
	client := redistest.Dial(t, addr)
	client.Do("SET", "a", "abcd") // its reply to GET has ten bytes
	for _, c := range []struct {
		rules  string
		more   string // at each move of the clock
		moves  []string
		pieces []string
	}{
		{"BANDWIDTH 10", "", []string{"100", "99", "1", "600", "100"}, []string{"$", "", "4", "\r\nabcd", "\r"}},
		{"SLICE 4", "$4\r\n", []string{"1", "1"}, []string{"abcd", "\r\n+PONG\r\n"}},
		{"SLICE 4|BANDWIDTH 400", "", []string{"10", "10"}, []string{"$4\r\n", "abcd"}},
		{"BANDWIDTH 1000|DELAY-REPLY 5", "", []string{"5", "9", "1"}, []string{"", "", "$4\r\nabcd\r\n+PONG\r\n"}},
	} {
		for i, action := range strings.Split(c.rules, "|") {
			rule(t, admin, fmt.Sprintf("r%d CMD get ACTION %s", i, action))
		}
		pipeline(t, client, "GET a", "PING")
		requireBytes(t, client, c.more)
		whole := c.more
		for i, move := range c.moves {
			requireSilence(t, client, admin)
			admin.Do("LAB", "CLOCK", "ADVANCE", move)
			requireBytes(t, client, c.pieces[i])
			whole += c.pieces[i]
		}
		requireSilence(t, client, admin)
		admin.Do("LAB", "CLOCK", "ADVANCE", "10000")
		requireBytes(t, client, strings.TrimPrefix("$4\r\nabcd\r\n+PONG\r\n", whole))
		ok(t, admin, "LAB", "FAULT", "CLEAR")
	}
}

func TestRepliesShareASlowLine(t *testing.T) {
	addr, admin := startLab(t)
	client, other := redistest.Dial(t, addr), redistest.Dial(t, addr)
	client.Do("CLIENT", "SETNAME", "w1")
	other.Do("CLIENT", "SETNAME", "w2")
	rule(t, admin, "slow CLIENT w? ACTION BANDWIDTH 10")
	rule(t, admin, "end CMD echo NTH 1 ACTION CUT 5")
	rule(t, admin, "no CMD incr KEY a ACTION ERROR-AFTER NO")
	pipeline(t, client, "PING", "INCR a", "ECHO x", "PING")
	pipeline(t, other, "INCR b")
	waitForValue(t, admin, "a", "1")
	waitForValue(t, admin, "b", "1")
	for _, piece := range []string{"+PONG\r\n-NO", "\r\n$1\r\nx"} {
		admin.Do("LAB", "CLOCK", "ADVANCE", "1000")
		requireBytes(t, client, piece)
	}
	got, reset := readToEnd(t, client)
	require.Empty(t, got)
	require.False(t, reset)
	requireBytes(t, other, ":1\r\n")
}
