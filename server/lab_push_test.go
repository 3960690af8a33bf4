package server_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

const message = "3\r\n$7\r\nmessage\r\n$6\r\nunlock\r\n$1\r\n0\r\n"

func TestAMessageThatIsSkippedNeverComes(t *testing.T) {
	for _, proto := range []string{"2", "3"} {
		addr, boss := startLab(t)
		sub, other := redistest.Dial(t, addr), redistest.Dial(t, addr)
		sub.Do("CLIENT", "SETNAME", "waiter")
		sub.Do("HELLO", proto)
		sub.Do("SUBSCRIBE", "unlock", "news")
		sub.Read()
		other.Do("SUBSCRIBE", "unlock")
		rule(t, boss, "lost CMD message KEY unl* CLIENT waiter TIMES 1 ACTION SKIP-PUSH")
		require.EqualValues(t, 2, boss.Do("PUBLISH", "unlock", "0").Int)
		hearsNothing(t, sub, boss)
		require.Equal(t, "unlock", other.Read().Elems[1].Str)
		boss.Do("PUBLISH", "news", "x")
		boss.Do("PUBLISH", "unlock", "1")
		require.Equal(t, "x", sub.Read().Elems[2].Str)
		require.Equal(t, "1", sub.Read().Elems[2].Str)
	}
}

func TestAMessageThatIsDelayedComesLate(t *testing.T) {
	for _, proto := range []string{"2", "3"} {
		sign := map[string]string{"2": "*", "3": ">"}[proto]
		addr, boss := startLab(t)
		sub := redistest.Dial(t, addr)
		sub.Do("HELLO", proto)
		sub.Do("SUBSCRIBE", "unlock")
		sub.Do("PSUBSCRIBE", "u*")
		sub.Do("SSUBSCRIBE", "unlock")
		rule(t, boss, "late CMD message ACTION DELAY-PUSH 40")
		rule(t, boss, "later CMD smessage KEY unlock ACTION DELAY-PUSH 41")
		boss.Do("PUBLISH", "unlock", "0")
		boss.Do("SPUBLISH", "unlock", "0")
		gets(t, sub, sign+"4\r\n$8\r\npmessage\r\n$2\r\nu*\r\n$6\r\nunlock\r\n$1\r\n0\r\n")
		boss.Do("LAB", "CLOCK", "ADVANCE", "39")
		hearsNothing(t, sub, boss)
		boss.Do("LAB", "CLOCK", "ADVANCE", "1")
		gets(t, sub, sign+message)
		boss.Do("LAB", "CLOCK", "ADVANCE", "1")
		gets(t, sub, sign+"3\r\n$8\r\nsmessage\r\n$6\r\nunlock\r\n$1\r\n0\r\n")

		rule(t, boss, "pattern CMD pmessage KEY unlock ACTION SKIP-PUSH")
		boss.Do("PUBLISH", "unlock", "0")
		sub.Close() // before the message comes
		boss.Do("LAB", "CLOCK", "ADVANCE", "40")
	}
}

// What a client publishes to itself comes behind the reply, or not at all.
func TestAMessageToOneselfCanBeSkipped(t *testing.T) {
	addr, boss := startLab(t)
	c := redistest.Dial(t, addr)
	c.Do("HELLO", "3")
	c.Do("SUBSCRIBE", "unlock")
	pipeline(t, c, "PUBLISH unlock 0")
	require.EqualValues(t, 1, c.Read().Int)
	c.Read()
	rule(t, boss, "lost KEY unlock ACTION SKIP-PUSH")
	pipeline(t, c, "PUBLISH unlock 0")
	require.EqualValues(t, 1, c.Read().Int)
	hearsNothing(t, c, boss)
}

func TestInvalidationsCanBeSkippedAndDelayed(t *testing.T) {
	const push = ">2\r\n$10\r\ninvalidate\r\n*1\r\n$4\r\nlock\r\n"
	for _, mode := range []string{"", " BCAST"} {
		addr, boss := startLab(t)
		c := redistest.Dial(t, addr)
		c.Do("HELLO", "3")
		c.Do(line("CLIENT TRACKING ON" + mode)...)
		read := func() { c.Do("GET", "lock"); c.Do("GET", "other") }
		rule(t, boss, "lost CMD invalidate KEY lock TIMES 1 ACTION SKIP-PUSH")
		rule(t, boss, "late KEY lock TIMES 1 ACTION DELAY-PUSH 5")
		read()
		boss.Do("SET", "lock", "1")
		hearsNothing(t, c, boss)
		read()
		boss.Do("SET", "lock", "2")
		boss.Do("SET", "other", "2")
		gets(t, c, ">2\r\n$10\r\ninvalidate\r\n*1\r\n$5\r\nother\r\n")
		boss.Do("LAB", "CLOCK", "ADVANCE", "5")
		gets(t, c, push)
		read()
		boss.Do("SET", "lock", "3")
		gets(t, c, push)
	}
}

func TestInvalidationsOfAResp2ClientAreMessagesAsWell(t *testing.T) {
	addr, boss := startLab(t)
	sub, c := redistest.Dial(t, addr), redistest.Dial(t, addr)
	id := sub.Do("CLIENT", "ID").Int
	sub.Do("SUBSCRIBE", "__redis__:invalidate")
	c.Do("CLIENT", "TRACKING", "ON", "REDIRECT", fmt.Sprint(id))
	for _, r := range []string{"CMD invalidate KEY lock", "CMD message KEY __redis__:*"} {
		rule(t, boss, "r "+r+" ACTION SKIP-PUSH")
		c.Do("GET", "lock")
		boss.Do("SET", "lock", "1")
		hearsNothing(t, sub, boss)
		ok(t, boss, "LAB", "FAULT", "DEL", "r")
	}
	c.Do("GET", "lock")
	boss.Do("SET", "lock", "1")
	gets(t, sub, "*3\r\n$7\r\nmessage\r\n$20\r\n__redis__:invalidate\r\n*1\r\n$4\r\nlock\r\n")
}
