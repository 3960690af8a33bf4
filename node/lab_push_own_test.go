package node_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

func TestATestPushesAMessageOfItsOwn(t *testing.T) {
	addr, admin := startLab(t)
	first, second := redistest.Dial(t, addr), redistest.Dial(t, addr)
	for _, c := range []*redistest.Conn{first, second} {
		c.Do("HELLO", "3", "SETNAME", "worker")
	}
	const moving = ">5\r\n$6\r\nMOVING\r\n:1\r\n:15\r\n$14\r\n127.0.0.1:6380\r\n$2\r\n:x\r\n"
	push := []string{"LAB", "PUSH", "work*", "MOVING", ":1", ":15", "127.0.0.1:6380", ":x"}
	require.EqualValues(t, 2, admin.Do(push...).Int)
	requireBytes(t, first, moving)
	requireBytes(t, second, moving)
	id := strconv.FormatInt(first.Do("CLIENT", "ID").Int, 10)
	require.EqualValues(t, 1, admin.Do("LAB", "PUSH", id, "hello").Int)
	requireBytes(t, first, ">1\r\n$5\r\nhello\r\n")
	require.Equal(t, "PONG", first.Do("PING").Str, "it is no reply")
	requireSilence(t, second, admin)
}

func TestAPushNeedsAClientThatUnderstandsIt(t *testing.T) {
	addr, admin := startLab(t)
	old, recent := redistest.Dial(t, addr), redistest.Dial(t, addr)
	old.Do("CLIENT", "SETNAME", "worker")
	recent.Do("HELLO", "3", "SETNAME", "worker")
	id := strconv.FormatInt(old.Do("CLIENT", "ID").Int, 10)
	require.Equal(t, "ERR LAB PUSH: client "+id+" speaks RESP2, which has no push messages: it has to say HELLO 3",
		admin.Do("LAB", "PUSH", "worker", "MOVING").Str)
	requireSilence(t, recent, admin)
	require.Equal(t, "ERR LAB PUSH: no other client is named 'nobody'", admin.Do("LAB", "PUSH", "nobody", "MOVING").Str)
	require.Contains(t, admin.Do("LAB", "PUSH", "worker").Str, "wrong number of arguments")
	own := strconv.FormatInt(admin.Do("CLIENT", "ID").Int, 10)
	require.Contains(t, admin.Do("LAB", "PUSH", own, "MOVING").Str, "no other client")
}

func TestClientsMayAskForMessagesAboutMaintenance(t *testing.T) {
	ask := []string{"CLIENT", "MAINT_NOTIFICATIONS", "ON", "moving-endpoint-type", "internal-ip"}
	_, c := startLab(t)
	require.Equal(t, "ERR unknown subcommand 'MAINT_NOTIFICATIONS'. Try CLIENT HELP.", c.Do(ask...).Str)
	_, c = startLab(t, "--lab-maint-notifications", "yes")
	ok(t, c, ask...)
	ok(t, c, "CLIENT", "MAINT_NOTIFICATIONS", "OFF")
	for _, wrong := range [][]string{{"MAYBE"}, {"ON", "moving-endpoint-type"}, {"ON", "nosuch", "none"}} {
		require.Equal(t, "ERR syntax error", c.Do(append(ask[:2:2], wrong...)...).Str, wrong)
	}
	_, c = startLab(t, "--lab-maint-notifications", "yes", "--dialect", "valkey-9.1")
	ok(t, c, ask...)
}
