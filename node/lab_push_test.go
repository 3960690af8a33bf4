package node_test

import (
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

const message = "3\r\n$7\r\nmessage\r\n$6\r\nunlock\r\n$1\r\n0\r\n"

func TestAMessageThatIsSkippedNeverComes(t *testing.T) {
	for _, proto := range []string{"2", "3"} {
		addr, admin := startLab(t)
		sub, other := redistest.Dial(t, addr), redistest.Dial(t, addr)
		sub.Do("CLIENT", "SETNAME", "waiter")
		sub.Do("HELLO", proto)
		sub.Do("SUBSCRIBE", "unlock", "news")
		sub.Read()
		other.Do("SUBSCRIBE", "unlock")
		rule(t, admin, "lost CMD message KEY unl* CLIENT waiter TIMES 1 ACTION SKIP-PUSH")
		require.EqualValues(t, 2, admin.Do("PUBLISH", "unlock", "0").Int)
		requireSilence(t, sub, admin)
		require.Equal(t, "unlock", other.Read().Elems[1].Str)
		admin.Do("PUBLISH", "news", "x")
		admin.Do("PUBLISH", "unlock", "1")
		require.Equal(t, "x", sub.Read().Elems[2].Str)
		require.Equal(t, "1", sub.Read().Elems[2].Str)
	}
}

func TestAMessageThatIsDelayedComesLate(t *testing.T) {
	for _, proto := range []string{"2", "3"} {
		sign := map[string]string{"2": "*", "3": ">"}[proto]
		addr, admin := startLab(t)
		sub := redistest.Dial(t, addr)
		sub.Do("HELLO", proto)
		sub.Do("SUBSCRIBE", "unlock")
		sub.Do("PSUBSCRIBE", "u*")
		sub.Do("SSUBSCRIBE", "unlock")
		rule(t, admin, "late CMD message ACTION DELAY-PUSH 40")
		rule(t, admin, "later CMD smessage KEY unlock ACTION DELAY-PUSH 41")
		admin.Do("PUBLISH", "unlock", "0")
		admin.Do("SPUBLISH", "unlock", "0")
		requireBytes(t, sub, sign+"4\r\n$8\r\npmessage\r\n$2\r\nu*\r\n$6\r\nunlock\r\n$1\r\n0\r\n")
		admin.Do("LAB", "CLOCK", "ADVANCE", "39")
		requireSilence(t, sub, admin)
		admin.Do("LAB", "CLOCK", "ADVANCE", "1")
		requireBytes(t, sub, sign+message)
		admin.Do("LAB", "CLOCK", "ADVANCE", "1")
		requireBytes(t, sub, sign+"3\r\n$8\r\nsmessage\r\n$6\r\nunlock\r\n$1\r\n0\r\n")

		rule(t, admin, "pattern CMD pmessage KEY unlock ACTION SKIP-PUSH")
		admin.Do("PUBLISH", "unlock", "0")
		sub.Close() // before the delayed message is due
		admin.Do("LAB", "CLOCK", "ADVANCE", "40")
	}
}

// A message that a client publishes to itself comes after the reply, or not at all.
func TestAMessageToOneselfCanBeSkipped(t *testing.T) {
	addr, admin := startLab(t)
	c := redistest.Dial(t, addr)
	c.Do("HELLO", "3")
	c.Do("SUBSCRIBE", "unlock")
	pipeline(t, c, "PUBLISH unlock 0")
	require.EqualValues(t, 1, c.Read().Int)
	c.Read()
	rule(t, admin, "lost KEY unlock ACTION SKIP-PUSH")
	pipeline(t, c, "PUBLISH unlock 0")
	require.EqualValues(t, 1, c.Read().Int)
	requireSilence(t, c, admin)
}

func TestInvalidationsCanBeSkippedAndDelayed(t *testing.T) {
	const push = ">2\r\n$10\r\ninvalidate\r\n*1\r\n$4\r\nlock\r\n"
	for _, mode := range []string{"", " BCAST"} {
		addr, admin := startLab(t)
		c := redistest.Dial(t, addr)
		c.Do("HELLO", "3")
		c.Do(line("CLIENT TRACKING ON" + mode)...)
		read := func() { c.Do("GET", "lock"); c.Do("GET", "other") }
		rule(t, admin, "lost CMD invalidate KEY lock TIMES 1 ACTION SKIP-PUSH")
		rule(t, admin, "late KEY lock TIMES 1 ACTION DELAY-PUSH 5")
		read()
		admin.Do("SET", "lock", "1")
		requireSilence(t, c, admin)
		read()
		admin.Do("SET", "lock", "2")
		admin.Do("SET", "other", "2")
		requireBytes(t, c, ">2\r\n$10\r\ninvalidate\r\n*1\r\n$5\r\nother\r\n")
		admin.Do("LAB", "CLOCK", "ADVANCE", "5")
		requireBytes(t, c, push)
		read()
		admin.Do("SET", "lock", "3")
		requireBytes(t, c, push)
	}
}

func TestInvalidationsOfAResp2ClientAreMessagesAsWell(t *testing.T) {
	addr, admin := startLab(t)
	sub, c := redistest.Dial(t, addr), redistest.Dial(t, addr)
	id := sub.Do("CLIENT", "ID").Int
	sub.Do("SUBSCRIBE", "__redis__:invalidate")
	c.Do("CLIENT", "TRACKING", "ON", "REDIRECT", fmt.Sprint(id))
	for _, r := range []string{"CMD invalidate KEY lock", "CMD message KEY __redis__:*"} {
		rule(t, admin, "r "+r+" ACTION SKIP-PUSH")
		c.Do("GET", "lock")
		admin.Do("SET", "lock", "1")
		requireSilence(t, sub, admin)
		ok(t, admin, "LAB", "FAULT", "DEL", "r")
	}
	c.Do("GET", "lock")
	admin.Do("SET", "lock", "1")
	requireBytes(t, sub, "*3\r\n$7\r\nmessage\r\n$20\r\n__redis__:invalidate\r\n*1\r\n$4\r\nlock\r\n")
}

func TestAMessageThatIsNotedComesAndStandsInTheLog(t *testing.T) {
	addr, admin := startLab(t)
	sub := redistest.Dial(t, addr)
	sub.Do("CLIENT", "SETNAME", "waiter")
	sub.Do("SUBSCRIBE", "unlock")
	rule(t, admin, "seen ACTION NOTE-PUSH")
	admin.Do("PUBLISH", "unlock", "0")
	require.Equal(t, "0", sub.Read().Elems[2].Str)
	entry := admin.Do("LAB", "LOG", "1").String()
	for _, part := range []string{"seen", "waiter", "message", "unlock", "executed"} {
		require.Contains(t, entry, part)
	}
}

func TestARuleStrikesTheStepOfTheSecondClient(t *testing.T) {
	addr, admin := startLab(t)
	rule(t, admin, "lost KEY lock:o ORDER 2 NTH 2 ACTION DROP-REPLY")
	a, b := redistest.Dial(t, addr), redistest.Dial(t, addr)
	const release = "return redis.call('del', KEYS[1])"
	a.Do("SET", "lock:o", "token-of-a-0123456789", "NX")
	b.Do("SET", "lock:o", "token-of-b-0123456789", "NX")
	require.Contains(t, b.Do("EVALSHA", "0123456789012345678901234567890123456789", "1", "lock:o").Str, "NOSCRIPT")
	a.Do("EVAL", release, "1", "lock:o", "token-of-a-0123456789")
	again := redistest.Dial(t, addr) // b, connected again
	_, err := again.Conn.Do("EVAL", release, "1", "lock:o", "token-of-b-0123456789")
	require.ErrorIs(t, err, io.EOF)
	require.Contains(t, admin.Do("LAB", "LOG", "1").String(), "lost")
}
