package server_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

// The clock stands still: what is kept back would never be sent.
func TestRepliesThatAreKeptBackCountForTheOutputLimit(t *testing.T) {
	for name, requests := range map[string][]string{
		"each by its own rule":        {"GET big", "GET big", "GET big", "GET big"},
		"behind the one of a rule":    {"GET first", "MGET big big big big"},
		"many, and all of them small": strings.Split(strings.Repeat("GET first\n", 5000)+"GET first", "\n"),
	} {
		t.Run(name, func(t *testing.T) {
			addr, boss := startLab(t, "--client-output-buffer-limit", "normal", "1mb", "0", "0")
			boss.Do("SET", "big", strings.Repeat("x", 300_000))
			rule(t, boss, "late CMD get ACTION DELAY-REPLY 1000")
			client := redistest.Dial(t, addr)
			pipeline(t, client, requests...)
			requireClosed(t, client)
			require.Equal(t, "1", infoField(boss, "client_output_buffer_limit_disconnections"))
			require.Equal(t, "PONG", boss.Do("PING").Str)
			require.Equal(t, int64(0), boss.Do("LAB", "CLOCK", "ADVANCE", "2000").Int)
		})
	}
}

func TestALateReplyOfABlockedCommandCountsForTheOutputLimit(t *testing.T) {
	addr, boss := startLab(t, "--client-output-buffer-limit", "normal", "1mb", "0", "0")
	rule(t, boss, "late CMD get ACTION DELAY-REPLY 1000")
	client := redistest.Dial(t, addr)
	require.NoError(t, client.Send([]byte("GET first\r\n")))
	require.Eventually(t, func() bool { return strings.Contains(boss.Do("CLIENT", "LIST").Str, " oll=1 ") }, limit, tick)
	require.NoError(t, client.Send([]byte("BLPOP q 0\r\n")))
	waitForField(boss, "blocked_clients", "1")
	boss.Do("RPUSH", "q", strings.Repeat("x", 1<<20))
	requireClosed(t, client)
}

func TestMessagesThatAreKeptBackCountForTheOutputLimit(t *testing.T) {
	for _, size := range []int{1, 50_000} {
		addr, boss := startLab(t, "--client-output-buffer-limit", "pubsub", "200kb", "0", "0")
		sub := redistest.Dial(t, addr)
		sub.Do("SUBSCRIBE", "ch")
		rule(t, boss, "late CMD message ACTION DELAY-PUSH 1000")
		published := 0
		for boss.Do("PUBLISH", "ch", strings.Repeat("x", size)).Int == 1 {
			published++
		}
		require.LessOrEqual(t, published*(size+200), 200<<10+size+200)
		requireClosed(t, sub)
		require.Equal(t, "1", infoField(boss, "client_output_buffer_limit_disconnections"))
		boss.Do("LAB", "CLOCK", "ADVANCE", "1000")
	}
}

func TestOutputThatIsKeptBackTooLongIsOverTheSoftLimit(t *testing.T) {
	addr, boss := startLab(t, "--client-output-buffer-limit", "normal", "0", "10kb", "1")
	boss.Do("SET", "big", strings.Repeat("x", 20_000))
	rule(t, boss, "late CMD get ACTION DELAY-REPLY 1000")
	client := redistest.Dial(t, addr)
	require.NoError(t, client.Send([]byte("GET big\r\n")))
	requireClosed(t, client) // the server looks at it though nobody says anything
}

// What has been sent counts no more, in whichever order that was.
func TestOutputThatIsNoLongerKeptBackDoesNotCount(t *testing.T) {
	addr, boss := startLab(t, "--client-output-buffer-limit", "pubsub", "100kb", "0", "0")
	sub := redistest.Dial(t, addr)
	id := idOf(sub)
	sub.Do("HELLO", "3")
	sub.Do("SUBSCRIBE", "ch", "news")
	sub.Read()
	rule(t, boss, "late CMD ping ACTION DELAY-REPLY 30")
	rule(t, boss, "later KEY ch CMD message ACTION DELAY-PUSH 20")
	rule(t, boss, "latest KEY news CMD message ACTION DELAY-PUSH 10")
	for range 10 {
		boss.Do("PUBLISH", "ch", strings.Repeat("x", 10_000))
		boss.Do("PUBLISH", "news", strings.Repeat("x", 10_000))
		pipeline(t, sub, "PING "+strings.Repeat("x", 10_000))
		require.Eventually(t, func() bool { return listed(t, boss, id, "oll") == "3" }, limit, tick)
		require.Equal(t, "30850", listed(t, boss, id, "omem"))
		boss.Do("LAB", "CLOCK", "ADVANCE", "30")
		for range 3 {
			sub.Read()
		}
		require.Equal(t, "0", listed(t, boss, id, "oll"))
		require.Equal(t, "0", listed(t, boss, id, "omem"))
	}
}
