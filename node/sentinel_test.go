package node_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/internal/test/transcript"
	"github.com/miniredisd/miniredisd/node"
)

// startSentinels starts a master, two replicas and Sentinels. It returns a connection to each of them.
func startSentinels(t *testing.T, sentinels string, args ...string) *nodes {
	t.Helper()
	return startNodes(t, 1, 2, append([]string{"--sentinels", sentinels}, args...)...)
}

// The replies and errors of a Sentinel are those that redis-sentinel 7.2.6 has written into the files.
func TestASentinelRepliesAsRedisDoes(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/sentinel/*.txt")
	require.NoError(t, err)
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			t.Run("redis-sentinel", func(t *testing.T) {
				redistest.Require(t)
				sentinels, _ := redistest.StartSentinels(t, 3)
				transcript.RunOn(t, path, sentinels[0], *node.Update)
			})
			t.Run("miniredisd", func(t *testing.T) {
				transcript.Run(t, path, func(testing.TB, []string) string {
					n := startSentinels(t, "3")
					redistest.Until(t, func() bool { // the first INFO may have come before the links
						all := n.c[3].Do("SENTINEL", "REPLICAS", "mymaster").Elems
						return field(all[0], "master-link-status").Str == "ok" && field(all[1], "master-link-status").Str == "ok"
					})
					return n.Nodes[3].Addrs()[0]
				})
			})
		})
	}
}

// freeze stops all clocks, so that a failover needs ADVANCE.
func (n *nodes) freeze() { n.c[1].Do("LAB", "ALL", "CLOCK", "FREEZE") }

func (n *nodes) advance(ms string) {
	n.t.Helper()
	for _, v := range n.c[1].Do("LAB", "ALL", "CLOCK", "ADVANCE", ms).Elems {
		require.Equal(n.t, byte(':'), v.Kind, v.Str)
	}
}

// crash ends the master for a while.
func (n *nodes) crash(ms string) {
	n.t.Helper()
	require.Equal(n.t, "OK", n.c[1].Do("LAB", "MASTER", "1", "CRASH", "DOWN", ms).Str)
}

// believes returns the places of the masters that the Sentinels believe in.
func (n *nodes) believes() (places []int) {
	for i := 3; i < len(n.c); i++ {
		v := n.c[i].Do("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "mymaster")
		require.Len(n.t, v.Elems, 2)
		for place := range n.c {
			if n.port(place) == v.Elems[1].Str {
				places = append(places, place)
			}
		}
	}
	return places
}

func TestSentinelsPromoteAReplicaOfAMasterThatIsDown(t *testing.T) {
	t.Parallel()
	n := startSentinels(t, "3")
	n.freeze()
	ok(t, n.c[2], "CONFIG", "SET", "replica-priority", "10")
	n.crash("60000")
	n.advance("30000")
	require.Equal(t, []int{0, 0, 0}, n.believes(), "down-after-milliseconds is not over")
	n.advance("5000")
	require.Equal(t, []int{2, 2, 2}, n.believes(), "the replica with the best priority")
	n.redial(2) // a Sentinel closes the clients of a node whose role it changes
	n.role(2, "master")
	n.role(1, "slave")
	require.Equal(t, n.port(2), infoText(n.c[1], "replication", "master_port"))

	n.advance("30000") // the old master is there again
	n.redial(0)
	require.Equal(t, "master", infoField(n.c[0], "role"), "it does not know")
	n.advance("30000")
	n.redial(0)
	n.role(0, "slave")
	require.Equal(t, n.port(2), infoText(n.c[0], "replication", "master_port"))
}

// With a clock that stands still the same failures have the same end: who leads, who is promoted, what is told.
func TestTheSameFailureTellsTheSame(t *testing.T) {
	t.Parallel()
	tell := func() (told []string) {
		n := startSentinels(t, "3", "--seed", "7")
		n.freeze()
		ok(t, n.c[2], "CONFIG", "SET", "replica-priority", "10") // otherwise the IDs of processes decide
		names := strings.NewReplacer()
		var pairs []string
		for i := range n.c {
			pairs = append(pairs, n.port(i), fmt.Sprintf("PORT%d", i+1))
		}
		var subs []*redistest.Conn
		for i := 3; i < 6; i++ {
			pairs = append(pairs, n.c[i].Do("SENTINEL", "MYID").Str, fmt.Sprintf("ID%d", i+1))
			s := redistest.Dial(t, fmt.Sprintf("127.0.0.1:%s", n.port(i)))
			s.Do("PSUBSCRIBE", "*")
			subs = append(subs, s)
		}
		names = strings.NewReplacer(pairs...)
		n.crash("10000000")
		n.advance("45000")
		for i, s := range subs {
			n.c[3+i].Do("PUBLISH", "__sentinel__:hello", "a,1,"+strings.Repeat("f", 40)+",999,mymaster,b,1,0")
			for {
				v := s.Read()
				text := names.Replace(v.Elems[2].Str + " " + v.Elems[3].Str)
				if !strings.HasPrefix(text, "-role-change ") { // an INFO may come before the hello of the leader
					told = append(told, fmt.Sprintf("%d %s", i+1, text))
				}
				if text == "+new-epoch 999" {
					break
				}
			}
		}
		return told
	}
	first := tell()
	require.Contains(t, strings.Join(first, "\n"), "+switch-master mymaster 127.0.0.1 PORT1 127.0.0.1 PORT")
	require.Equal(t, strings.Join(first, "\n"), strings.Join(tell(), "\n"))
}

func TestALongLeapOfACalmProcessTellsNothing(t *testing.T) {
	t.Parallel()
	n := startSentinels(t, "3")
	n.freeze()
	n.advance("864000000") // ten days
	require.Equal(t, []int{0, 0, 0}, n.believes())
	require.Equal(t, "master", field(n.c[3].Do("SENTINEL", "MASTER", "mymaster"), "flags").Str)
}

// Nothing can be promoted, so every six minutes there is an attempt. The time between them is skipped, but not the
// moment at which the master comes back.
func TestALongLeapSkipsToWhatCanChange(t *testing.T) {
	t.Parallel()
	n := startSentinels(t, "3")
	n.freeze()
	ok(t, n.c[1], "CONFIG", "SET", "replica-priority", "0")
	ok(t, n.c[2], "CONFIG", "SET", "replica-priority", "0")
	attempts := func() int64 { return field(n.c[1].Do("LAB", "TOPOLOGY").Elems[3], "epoch").Int }
	n.crash("600000")
	n.advance("500000")
	require.Equal(t, int64(2), attempts())
	n.advance("86400000") // it comes back after 100 seconds, before the next attempt
	require.Equal(t, int64(2), attempts())
	require.Equal(t, "master", field(n.c[3].Do("SENTINEL", "MASTER", "mymaster"), "flags").Str)

	n.redial(0)
	n.crash("100000000")
	n.advance("7200000") // two hours
	require.InDelta(t, 2+20, attempts(), 3)
	require.Contains(t, field(n.c[3].Do("SENTINEL", "MASTER", "mymaster"), "flags").Str, "o_down")
}

func TestWhatTheNetworkHoldsUpIsDownForASentinel(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		verb  []string
		flags string
	}{
		"a black hole": {[]string{"BLACKHOLE", "ON"}, "s_down,o_down,master"},
		"a partition":  {[]string{"PARTITION", "CLIENT", "sentinel-*", "ON"}, "s_down,o_down,master"},
		"a crash":      {[]string{"CRASH", "DOWN", "100000000"}, "s_down,o_down,master,disconnected"},
	} {
		t.Run(name, func(t *testing.T) {
			n := startSentinels(t, "3")
			for _, c := range n.c[1:3] { // no replica may be promoted, so the master stays what it is
				ok(t, c, "CONFIG", "SET", "replica-priority", "0")
			}
			n.freeze()
			n.advance("12000")
			require.Equal(t, "OK", n.c[1].Do(append([]string{"LAB", "MASTER", "1"}, tc.verb...)...).Str)
			n.advance("33000")
			require.Equal(t, tc.flags, field(n.c[3].Do("SENTINEL", "MASTER", "mymaster"), "flags").Str)
			n.c[1].Do("LAB", "MASTER", "1", "RESET")
			n.freeze()
			n.advance("1000") // one that was down came up with the reset
			n.advance("2000")
			require.Equal(t, "master", field(n.c[3].Do("SENTINEL", "MASTER", "mymaster"), "flags").Str)
		})
	}
}

func TestASentinelMayBeLateOrWrong(t *testing.T) {
	t.Parallel()
	n := startSentinels(t, "3")
	n.freeze()
	ok(t, n.c[0], "LAB", "SENTINEL", "3", "PAUSE")
	port := n.failover(0)
	require.Equal(t, n.port(1), port)
	require.Equal(t, []int{1, 1, 0}, n.believes(), "LAB FAILOVER has told those that are not paused")
	n.advance("100000")
	require.Equal(t, []int{1, 1, 0}, n.believes())
	ok(t, n.c[0], "LAB", "SENTINEL", "3", "RESUME")
	n.advance("3000")
	require.Equal(t, []int{1, 1, 1}, n.believes(), "a hello has told it")

	ok(t, n.c[0], "LAB", "SENTINEL", "2", "BELIEVE", n.port(2))
	require.Equal(t, []int{1, 2, 1}, n.believes())
	n.advance("20000")
	require.Equal(t, []int{1, 2, 1}, n.believes(), "no configuration is newer")
	n.failover(1, "TO", n.port(0))
	require.Equal(t, []int{0, 0, 0}, n.believes())
}

func TestAnOldMasterIsConvertedAtOnceByReconf(t *testing.T) {
	t.Parallel()
	n := startSentinels(t, "3")
	n.freeze()
	n.failover(0, "LEAVE")
	require.Equal(t, "master", infoField(n.c[0], "role"))
	n.advance("1000")
	require.Equal(t, "master", infoField(n.c[0], "role"))
	ok(t, n.c[3], "LAB", "SENTINEL", "RECONF")
	require.Equal(t, "slave", infoField(n.c[0], "role"))
}

func TestASplitDividesTheNetwork(t *testing.T) {
	t.Parallel()
	n := startSentinels(t, "3")
	n.freeze()
	n.advance("1000")
	ok(t, n.c[0], "LAB", "SENTINEL", "SPLIT", n.port(0), n.port(3))
	n.advance("40000")
	require.NotEqual(t, 0, n.believes()[1], "two of three elect a leader")
	require.Equal(t, 0, n.believes()[0], "the third hears of none")
	require.Equal(t, n.believes()[1], n.believes()[2])
	require.Equal(t, "master", infoField(n.c[0], "role"), "two masters")
	require.Equal(t, "master", infoField(n.redial(n.believes()[1]), "role"))
	ok(t, n.c[0], "LAB", "SENTINEL", "SPLIT", "OFF")
	n.advance("40000")
	require.Equal(t, n.believes()[1], n.believes()[0])
	n.redial(0)
	n.role(0, "slave")
}

func TestTopologyShowsWhatSentinelsBelieve(t *testing.T) {
	t.Parallel()
	n := startSentinels(t, "3")
	ok(t, n.c[0], "LAB", "SENTINEL", "2", "BELIEVE", "127.0.0.1:"+n.port(1))
	ok(t, n.c[0], "LAB", "SENTINEL", "3", "PAUSE")
	all := n.c[5].Do("LAB", "TOPOLOGY").Elems
	require.Len(t, all, 6)
	believes := func(i int) string { return field(field(all[i], "believes"), "mymaster").Str }
	require.Equal(t, "127.0.0.1:"+n.port(0)+" master", believes(3))
	require.Equal(t, "127.0.0.1:"+n.port(1)+" master", believes(4))
	require.Equal(t, "paused", field(all[5], "state").Str)
	require.Equal(t, "sentinel", field(all[5], "role").Str)
}

func TestVerbsForSentinelsNameMistakes(t *testing.T) {
	t.Parallel()
	n := startSentinels(t, "1")
	for want, args := range map[string][]string{
		"expects the number of a Sentinel, SPLIT or RECONF, not 'x'":         {"x"},
		"there is no Sentinel 2, only 1 to 1":                                {"2", "PAUSE"},
		"expects PAUSE, RESUME or BELIEVE after the number":                  {"1"},
		"expects PAUSE, RESUME or BELIEVE, not 'SLEEP'":                      {"1", "sleep"},
		"PAUSE expects nothing behind it, not 'now'":                         {"1", "PAUSE", "now"},
		"BELIEVE expects one address, such as 7002 or 127.0.0.1:7002":        {"1", "BELIEVE"},
		"no master or replica of this process has the address '127.0.0.1:1'": {"1", "BELIEVE", "127.0.0.1:1"},
		"SPLIT expects OFF, or the ports of one side":                        {"SPLIT"},
		"no server of this process listens on port '1'":                      {"SPLIT", "1"},
		"RECONF expects nothing behind it, not 'all'":                        {"RECONF", "all"},
	} {
		require.Equal(t, "ERR LAB SENTINEL: "+want, n.c[0].Do(append([]string{"LAB", "SENTINEL"}, args...)...).Str)
	}
	require.Equal(t, "ERR LAB SENTINEL: this process has no Sentinels: start it with --sentinels 3",
		startNodes(t, 1, 1).c[0].Do("LAB", "SENTINEL", "RECONF").Str)
	require.Equal(t, "ERR SENTINEL MONITOR: 127.0.0.1:1 is no master or replica of this process. redis-sentinel watches "+
		"other servers", n.c[3].Do("SENTINEL", "MONITOR", "other", "127.0.0.1", "1", "1").Str)
}

func TestMastersPublishHellos(t *testing.T) {
	t.Parallel()
	n := startSentinels(t, "1")
	c := redistest.Dial(t, "127.0.0.1:"+n.port(0))
	c.Do("SUBSCRIBE", "__sentinel__:hello")
	id := n.c[3].Do("SENTINEL", "MYID").Str
	want := fmt.Sprintf("127.0.0.1,%s,%s,0,mymaster,127.0.0.1,%s,0", n.port(3), id, n.port(0))
	require.Equal(t, want, c.Read().Elems[2].Str)
}

func TestResetBringsSentinelsBack(t *testing.T) {
	t.Parallel()
	n := startSentinels(t, "3")
	n.failover(0)
	ok(t, n.c[0], "LAB", "SENTINEL", "1", "PAUSE")
	require.NotEqual(t, []int{0, 0, 0}, n.believes())
	n.c[1].Do("LAB", "ALL", "RESET")
	require.Equal(t, []int{0, 0, 0}, n.believes())
	require.Equal(t, "0", field(n.c[3].Do("SENTINEL", "MASTER", "mymaster"), "config-epoch").Str)
	n.role(0, "master")
}
