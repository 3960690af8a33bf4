package node_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

// scores returns the OOM scores of a server's process after each change, as the kernel reports
// them.
func scores(t *testing.T, c *redistest.Conn, file string, changes [][]string) (replies []string) {
	t.Helper()
	score := func() int {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		n, err := strconv.Atoi(strings.TrimSpace(string(text)))
		require.NoError(t, err)
		return n
	}
	base := score()
	for _, change := range changes {
		reply := c.Do(append([]string{"CONFIG", "SET"}, change...)...).Str
		replies = append(replies, reply+" "+strconv.Itoa(score()-base))
	}
	return replies
}

func TestTheScoreOfTheProcessFollowsTheConfigurationAsOnRedis(t *testing.T) {
	needProc(t)
	redistest.Require(t)
	theirs := redistest.Dial(t, redistest.Start(t).Addr)
	ours := redistest.Dial(t, start(t, nil))
	changes := [][]string{
		{"oom-score-adj-values", "10 20 30"},
		{"oom-score-adj", "yes"},
		{"oom-score-adj-values", "15 20 30"},
		{"oom-score-adj", "relative"},
		{"timeout", "1", "oom-score-adj-values", "16 20 30", "port", "70000"},
		{"oom-score-adj", "no"},
		{"oom-score-adj-values", "2 2 2", "oom-score-adj", "yes"},
		{"oom-score-adj-values", "3000 2 2"},
		{"oom-score-adj", "no"},
	}
	pid := infoField(theirs, "process_id")
	require.Equal(t, scores(t, theirs, "/proc/"+pid+"/oom_score_adj", changes),
		scores(t, ours, "/proc/self/oom_score_adj", changes))
}

func TestAddressesThatCannotBeAreRefusedAndTheOldOnesStay(t *testing.T) {
	redistest.Require(t)
	theirs, ours := redistest.Start(t).Addr, start(t, nil)
	for _, change := range [][]string{
		{"bind", "999.999.999.999"},
		{"bind", "127.0.0.1 256.1.1.1", "timeout", "7"},
		{"bind", "127.0.0.1 -240.0.0.1 -::1"},
		{"port", "99999"},
	} {
		change = append([]string{"CONFIG", "SET"}, change...)
		require.Equal(t, redistest.Dial(t, theirs).Do(change...).Str, redistest.Dial(t, ours).Do(change...).Str)
	}
	require.Equal(t, "0", redistest.Dial(t, ours).Do("CONFIG", "GET", "timeout").Elems[1].Str)
}

func TestInfoShowsTheLoopOnlyByName(t *testing.T) {
	t.Parallel()
	c := redistest.Dial(t, start(t, nil))
	for _, section := range []string{"default", "all", "everything"} {
		require.NotContains(t, c.Do("INFO", section).Str, "eventloop_cmd_per_cycle_max")
	}
	require.NoError(t, c.Send([]byte(strings.Repeat("PING\r\n", 50))))
	for range 50 {
		c.Read()
	}
	field := func(name string) int {
		for line := range strings.SplitSeq(c.Do("INFO", "debug").Str, "\r\n") {
			if text, is := strings.CutPrefix(line, name+":"); is {
				n, err := strconv.Atoi(text)
				require.NoError(t, err)
				return n
			}
		}
		require.FailNow(t, "no such field", name)
		return 0
	}
	require.Equal(t, 0, field("eventloop_duration_aof_sum"))
	require.Positive(t, field("eventloop_cmd_per_cycle_max"))
	require.Positive(t, field("eventloop_duration_max"))
	before := field("eventloop_duration_cron_sum")
	redistest.Until(t, func() bool { return field("eventloop_duration_cron_sum") != before })
}

// Rates take 16 samples. With one sample a second, the mean over all of them would take 16 seconds.
func TestRatesCountFromTheFirstSampleAfterReset(t *testing.T) {
	t.Parallel()
	c := redistest.Dial(t, start(t, nil))
	require.Equal(t, "OK", c.Do("CONFIG", "RESETSTAT").Str)
	redistest.Until(t, func() bool { return infoField(c, "instantaneous_ops_per_sec") != "0" })
}

func TestClientListShowsTheLastCommandEvenIfRefused(t *testing.T) {
	redistest.Require(t)
	lasts := func(addr string) (all []string) {
		admin, c := redistest.Dial(t, addr), redistest.Dial(t, addr)
		admin.Do("ACL", "SETUSER", "u", "on", "nopass", "+get", "+client|id", "+multi", "~a")
		id := strconv.FormatInt(c.Do("CLIENT", "ID").Int, 10)
		for _, request := range [][]string{
			{"AUTH", "u", "p"}, {"GET", "a"}, {"GET", "b"}, {"SET", "a", "b"}, {"NOSUCH"}, {"CLIENT", "ID"},
			{"CLIENT", "NOSUCH"}, {"GET"}, {"CONFIG", "GET", "x"}, {"MULTI"}, {"GET", "a"}, {"PING"},
		} {
			c.Do(request...)
			all = append(all, listed(t, admin, id, "cmd"))
		}
		return all
	}
	require.Equal(t, lasts(redistest.Start(t).Addr), lasts(start(t, nil)))
}

func TestAServerListensOnTheAddressOfAName(t *testing.T) {
	addr := start(t, []string{"--bind", "localhost"})
	require.True(t, strings.HasPrefix(addr, "127.0.0.1:"), addr)
	require.Equal(t, "PONG", redistest.Dial(t, addr).Do("PING").Str)
}
