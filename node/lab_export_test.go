package node_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/resp"
)

// longLog is more entries than the loop writes itself.
const longLog = 3000

// withLongLog starts a lab whose log has longLog entries.
func withLongLog(t *testing.T) (addr string, admin *redistest.Conn) {
	addr, admin = startLab(t)
	admin.Do("LAB", "LOG", "WATCH", "*")
	for i := range longLog {
		require.NoError(t, admin.Send(resp.AppendRequest(nil, "SET", fmt.Sprint("key", i), "v")))
	}
	for range longLog {
		require.Equal(t, "OK", admin.Read().Str)
	}
	return addr, admin
}

// requireLog wants text to be an export with these entries.
func requireLog(t *testing.T, text string, entries int) {
	t.Helper()
	var h lab.History
	require.NoError(t, json.Unmarshal([]byte(text), &h))
	require.Equal(t, entries, len(h.Entries)) // Len would print them all
	for i, e := range h.Entries {
		require.EqualValues(t, i+1, e.Seq)
	}
}

func TestALongExportComesInItsPlaceAndHasWhatWasThere(t *testing.T) {
	t.Parallel()
	addr, admin := withLongLog(t)
	var batch []byte
	for _, line := range []string{"PING", "LAB LOG EXPORT", "SET later 1", "LAB LOG EXPORT", "GET later"} {
		batch = resp.AppendRequest(batch, strings.Fields(line)...)
	}
	c := redistest.Dial(t, addr)
	require.NoError(t, c.Send(batch))
	require.Equal(t, "PONG", c.Read().Str)
	requireLog(t, c.Read().Str, longLog)
	require.Equal(t, "OK", c.Read().Str)
	requireLog(t, c.Read().Str, longLog+1)
	require.Equal(t, "1", c.Read().Str)

	requireLog(t, admin.Do("LAB", "ALL", "LOG", "EXPORT").Elems[0].Str, longLog+2)
	admin.Do("HELLO", "3")
	requireLog(t, admin.Do("LAB", "LOG", "EXPORT").Str, longLog+2)
}

func TestALongExportMayBeUnwantedLeftOrUnblocked(t *testing.T) {
	addr, admin := withLongLog(t)
	quiet := redistest.Dial(t, addr)
	var batch []byte
	for _, line := range []string{"CLIENT REPLY SKIP", "LAB LOG EXPORT", "PING", "CLIENT REPLY OFF", "LAB LOG EXPORT",
		"CLIENT REPLY ON", "ECHO end"} {
		batch = resp.AppendRequest(batch, strings.Fields(line)...)
	}
	require.NoError(t, quiet.Send(batch))
	for _, want := range []string{"PONG", "OK", "end"} {
		require.Equal(t, want, quiet.Read().Str)
	}
	for range 20 {
		leaves := redistest.Dial(t, addr)
		require.NoError(t, leaves.Send(resp.AppendRequest(nil, "LAB", "LOG", "EXPORT")))
		leaves.Close()
	}
	waits := redistest.Dial(t, addr)
	id := fmt.Sprint(waits.Do("CLIENT", "ID").Int)
	require.NoError(t, waits.Send(resp.AppendRequest(nil, "LAB", "LOG", "EXPORT")))
	admin.Do("CLIENT", "UNBLOCK", id)
	if early := waits.Read(); !early.Null { // it may have come before
		requireLog(t, early.Str, longLog)
	}
	require.Equal(t, "PONG", waits.Do("PING").Str)
	require.Equal(t, "PONG", admin.Do("PING").Str)
}

// A message that comes while the log is written stands before or behind the reply, and not in it.
func TestALongExportIsNotTornByMessages(t *testing.T) {
	t.Parallel()
	addr, admin := withLongLog(t)
	c := redistest.Dial(t, addr)
	c.Do("HELLO", "3")
	admin.Do("LAB", "LOG", "UNWATCH", "*")
	c.Do("SUBSCRIBE", "news")
	require.NoError(t, c.Send(resp.AppendRequest(nil, "LAB", "LOG", "EXPORT")))
	for range 50 {
		require.EqualValues(t, 1, admin.Do("PUBLISH", "news", "hello").Int)
	}
	messages, exports := 0, 0
	for messages < 50 || exports < 1 {
		switch v := c.Read(); v.Kind {
		case '>':
			messages++
		default:
			exports++
			requireLog(t, v.Str, longLog+1) // and the entry of UNWATCH
		}
	}
}

// The text is what package json makes of the whole history.
func TestAnExportIsTheJSONOfTheHistory(t *testing.T) {
	_, admin := withLongLog(t)
	text := admin.Do("LAB", "LOG", "EXPORT").Str
	var h lab.History
	require.NoError(t, json.Unmarshal([]byte(text), &h))
	want, err := json.Marshal(h)
	require.NoError(t, err)
	require.Equal(t, string(want), text)
}

// The log has a command that waits where it is answered. Explore numbers it where it came.
func TestTheExportSaysWhenARequestThatWaitedHasCome(t *testing.T) {
	t.Parallel()
	addr, admin := startLab(t)
	admin.Do("LAB", "LOG", "WATCH", "*")
	waits := redistest.Dial(t, addr)
	require.NoError(t, waits.Send(resp.AppendRequest(nil, "BLPOP", "k", "0")))
	waitForField(admin, "blocked_clients", "1")
	admin.Do("SET", "other", "v")
	admin.Do("RPUSH", "k", "v")
	require.Len(t, waits.Read().Elems, 2)
	waits.Do("GET", "other")
	var h lab.History
	require.NoError(t, json.Unmarshal([]byte(admin.Do("LAB", "LOG", "EXPORT").Str), &h))
	require.Len(t, h.Entries, 4)
	for _, e := range h.Entries {
		require.Equal(t, e.Cmd[0] == "BLPOP", e.Came > 0, e.Cmd)
		if e.Came > 0 {
			require.Less(t, e.Came, h.Entries[0].Mono)
		}
	}
}
