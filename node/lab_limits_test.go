package node_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

// The clock is frozen, so a delayed reply is never sent.
func TestRepliesThatAreKeptBackCountForTheOutputLimit(t *testing.T) {
	for name, requests := range map[string][]string{
		"each by its own rule":        {"GET big", "GET big", "GET big", "GET big"},
		"behind the one of a rule":    {"GET first", "MGET big big big big"},
		"many, and all of them small": strings.Split(strings.Repeat("GET first\n", 5000)+"GET first", "\n"),
	} {
		t.Run(name, func(t *testing.T) {
			addr, admin := startLab(t, "--client-output-buffer-limit", "normal", "1mb", "0", "0")
			admin.Do("SET", "big", strings.Repeat("x", 300_000))
			rule(t, admin, "late CMD get ACTION DELAY-REPLY 1000")
			client := redistest.Dial(t, addr)
			pipeline(t, client, requests...)
			requireClosed(t, client)
			require.Equal(t, "1", infoField(admin, "client_output_buffer_limit_disconnections"))
			require.Equal(t, "PONG", admin.Do("PING").Str)
			require.Equal(t, int64(0), admin.Do("LAB", "CLOCK", "ADVANCE", "2000").Int)
		})
	}
}

func TestALateReplyOfABlockedCommandCountsForTheOutputLimit(t *testing.T) {
	addr, admin := startLab(t, "--client-output-buffer-limit", "normal", "1mb", "0", "0")
	rule(t, admin, "late CMD get ACTION DELAY-REPLY 1000")
	client := redistest.Dial(t, addr)
	require.NoError(t, client.Send([]byte("GET first\r\n")))
	require.Eventually(t, func() bool { return strings.Contains(admin.Do("CLIENT", "LIST").Str, " oll=1 ") }, limit, tick)
	require.NoError(t, client.Send([]byte("BLPOP q 0\r\n")))
	waitForField(admin, "blocked_clients", "1")
	admin.Do("RPUSH", "q", strings.Repeat("x", 1<<20))
	requireClosed(t, client)
}

func TestMessagesThatAreKeptBackCountForTheOutputLimit(t *testing.T) {
	for _, size := range []int{1, 50_000} {
		addr, admin := startLab(t, "--client-output-buffer-limit", "pubsub", "200kb", "0", "0")
		sub := redistest.Dial(t, addr)
		sub.Do("SUBSCRIBE", "ch")
		rule(t, admin, "late CMD message ACTION DELAY-PUSH 1000")
		published := 0
		for admin.Do("PUBLISH", "ch", strings.Repeat("x", size)).Int == 1 {
			published++
		}
		require.LessOrEqual(t, published*(size+200), 200<<10+size+200)
		requireClosed(t, sub)
		require.Equal(t, "1", infoField(admin, "client_output_buffer_limit_disconnections"))
		admin.Do("LAB", "CLOCK", "ADVANCE", "1000")
	}
}

func TestOutputThatIsKeptBackTooLongIsOverTheSoftLimit(t *testing.T) {
	t.Parallel() // it waits for a second
	addr, admin := startLab(t, "--client-output-buffer-limit", "normal", "0", "10kb", "1")
	admin.Do("SET", "big", strings.Repeat("x", 20_000))
	rule(t, admin, "late CMD get ACTION DELAY-REPLY 1000")
	client := redistest.Dial(t, addr)
	require.NoError(t, client.Send([]byte("GET big\r\n")))
	requireClosed(t, client) // the server checks the limit although no client sends anything
}

// Sent output no longer counts, in whatever order it was sent.
func TestOutputThatIsNoLongerKeptBackDoesNotCount(t *testing.T) {
	addr, admin := startLab(t, "--client-output-buffer-limit", "pubsub", "100kb", "0", "0")
	sub := redistest.Dial(t, addr)
	id := idOf(sub)
	sub.Do("HELLO", "3")
	sub.Do("SUBSCRIBE", "ch", "news")
	sub.Read()
	rule(t, admin, "late CMD ping ACTION DELAY-REPLY 30")
	rule(t, admin, "later KEY ch CMD message ACTION DELAY-PUSH 20")
	rule(t, admin, "latest KEY news CMD message ACTION DELAY-PUSH 10")
	for range 10 {
		admin.Do("PUBLISH", "ch", strings.Repeat("x", 10_000))
		admin.Do("PUBLISH", "news", strings.Repeat("x", 10_000))
		pipeline(t, sub, "PING "+strings.Repeat("x", 10_000))
		require.Eventually(t, func() bool { return listed(t, admin, id, "oll") == "3" }, limit, tick)
		require.Equal(t, "30850", listed(t, admin, id, "omem"))
		admin.Do("LAB", "CLOCK", "ADVANCE", "30")
		for range 3 {
			sub.Read()
		}
		require.Equal(t, "0", listed(t, admin, id, "oll"))
		require.Equal(t, "0", listed(t, admin, id, "omem"))
	}
}
