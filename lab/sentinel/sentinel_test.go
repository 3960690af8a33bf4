package sentinel_test

import (
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/lab/sentinel"
)

func TestAMasterThatIsDownIsReplacedByTheBestReplica(t *testing.T) {
	for name, tc := range map[string]struct {
		prepare func(w *world)
		want    int
	}{
		"the one that is further":             {func(w *world) { w.nodes[2].offset = 60 }, 7003},
		"a better priority before the offset": {func(w *world) { w.nodes[2].offset, w.nodes[1].priority = 60, 10 }, 7002},
		"never one with priority 0":           {func(w *world) { w.nodes[1].priority = 0 }, 7003},
		"the smaller ID of equals":            {func(*world) {}, 7002},
		"none that is down":                   {func(w *world) { w.nodes[1].isDown = true }, 7003},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 2, 3, 1)
			tc.prepare(w)
			w.run(20_000)
			w.nodes[0].isDown = true
			w.run(29_000)
			require.Equal(t, []int{7001, 7001, 7001}, w.believes(), "down-after-milliseconds is not over")
			w.run(8_000)
			require.Equal(t, []int{tc.want, tc.want, tc.want}, w.believes())
			require.Len(t, w.told("+elected-leader"), 1)
		})
	}
}

// A master that crashes closes its connections: its time begins then, and not with the next PING.
func TestAConnectionThatClosesIsNoticedAtOnce(t *testing.T) {
	for _, closes := range []bool{false, true} {
		w := newWorld(t, 2, 3, 1)
		w.run(20_300) // between two PINGs
		w.nodes[0].isDown = true
		for i, s := range w.sentinels {
			if closes {
				s.Cut(addr(7001))
				w.next[i] = min(w.next[i], s.Next())
			}
		}
		w.run(30_050)
		require.Equal(t, closes, len(w.told("+sdown")) == 3)
	}
}

// The texts are those that redis-sentinel 7.2.6 has written to its log.
func TestTheEventsOfAFailoverAreThoseOfRedis(t *testing.T) {
	w := newWorld(t, 2, 1, 1)
	w.run(5_000)
	w.nodes[0].isDown = true
	w.run(70_000)
	want := []string{
		"1 +monitor master mymaster 127.0.0.1 7001 quorum 1",
		"1 +sdown master mymaster 127.0.0.1 7001",
		"1 +odown master mymaster 127.0.0.1 7001 #quorum 1/1",
		"1 +new-epoch 1",
		"1 +try-failover master mymaster 127.0.0.1 7001",
		"1 +vote-for-leader 0000000000000000000000000000000000000001 1",
		"1 +elected-leader master mymaster 127.0.0.1 7001",
		"1 +failover-state-select-slave master mymaster 127.0.0.1 7001",
		"1 +selected-slave slave 127.0.0.1:7002 127.0.0.1 7002 @ mymaster 127.0.0.1 7001",
		"1 +failover-state-send-slaveof-noone slave 127.0.0.1:7002 127.0.0.1 7002 @ mymaster 127.0.0.1 7001",
		"1 +failover-state-wait-promotion slave 127.0.0.1:7002 127.0.0.1 7002 @ mymaster 127.0.0.1 7001",
		"1 -role-change slave 127.0.0.1:7002 127.0.0.1 7002 @ mymaster 127.0.0.1 7001 new reported role is master",
		"1 +promoted-slave slave 127.0.0.1:7002 127.0.0.1 7002 @ mymaster 127.0.0.1 7001",
		"1 +failover-state-reconf-slaves master mymaster 127.0.0.1 7001",
		"1 +slave-reconf-sent slave 127.0.0.1:7003 127.0.0.1 7003 @ mymaster 127.0.0.1 7001",
		"1 +slave-reconf-inprog slave 127.0.0.1:7003 127.0.0.1 7003 @ mymaster 127.0.0.1 7001",
		"1 +slave-reconf-done slave 127.0.0.1:7003 127.0.0.1 7003 @ mymaster 127.0.0.1 7001",
		"1 +failover-end master mymaster 127.0.0.1 7001",
		"1 +switch-master mymaster 127.0.0.1 7001 127.0.0.1 7002",
		"1 +slave slave 127.0.0.1:7003 127.0.0.1 7003 @ mymaster 127.0.0.1 7002",
		"1 +slave slave 127.0.0.1:7001 127.0.0.1 7001 @ mymaster 127.0.0.1 7002",
		"1 +sdown slave 127.0.0.1:7001 127.0.0.1 7001 @ mymaster 127.0.0.1 7002",
	}
	require.Equal(t, want, w.events)
}

func TestAnOldMasterStaysAMasterUntilTheDelayIsOver(t *testing.T) {
	w := newWorld(t, 1, 3, 1)
	w.run(2_000)
	w.nodes[0].isDown = true
	w.run(60_000)
	require.Equal(t, []int{7002, 7002, 7002}, w.believes())
	w.nodes[0].isDown = false
	w.run(7_000)
	require.Zero(t, w.nodes[0].follows, "it does not know yet")
	w.run(30_000)
	require.Equal(t, addr(7002), w.nodes[0].follows)
	require.NotEmpty(t, w.told("+convert-to-slave"))
}

func TestWithoutAQuorumNothingIsPromoted(t *testing.T) {
	w := newWorld(t, 2, 3, 1)
	w.run(2_000)
	w.cut[[2]sentinel.Addr{addr(26001), addr(7001)}] = true
	w.run(400_000)
	require.Len(t, w.told("+sdown"), 1)
	require.Empty(t, w.told("+odown"))
	require.Equal(t, []int{7001, 7001, 7001}, w.believes())
}

func TestASentinelWithoutAMajorityLeadsNothing(t *testing.T) {
	w := newWorld(t, 2, 5, 1)
	for _, s := range w.sentinels {
		require.NoError(t, s.Set(s.Master("mymaster"), []string{"quorum", "1"}))
	}
	for i := range 4 {
		w.cut[[2]sentinel.Addr{addr(26001), addr(26002 + i)}] = true
	}
	w.cut[[2]sentinel.Addr{addr(26001), addr(7001)}] = true
	w.run(100_000)
	require.NotEmpty(t, w.told("+try-failover"))
	require.NotEmpty(t, w.told("-failover-abort-not-elected"))
	require.Empty(t, w.told("+elected-leader"))
}

func TestAFailoverByCommandAsksNobody(t *testing.T) {
	w := newWorld(t, 2, 3, 1)
	require.EqualError(t, w.sentinels[2].Failover(w.sentinels[2].Master("mymaster")),
		"NOGOODSLAVE No suitable replica to promote", "it has heard of nobody yet")
	w.run(12_000)
	require.NoError(t, w.sentinels[2].Failover(w.sentinels[2].Master("mymaster")))
	require.EqualError(t, w.sentinels[2].Failover(w.sentinels[2].Master("mymaster")),
		"INPROG Failover already in progress")
	w.next[2] = w.now
	w.run(30_000)
	require.Equal(t, []int{7002, 7002, 7002}, w.believes())
	require.Equal(t, addr(7002), w.nodes[0].follows)
}

func TestReconfDoesNotWait(t *testing.T) {
	w := newWorld(t, 1, 1, 1)
	w.run(2_000)
	w.nodes[1].follows = sentinel.Addr{}
	w.run(11_000)
	require.Zero(t, w.nodes[1].follows)
	w.sentinels[0].Reconf()
	w.settle(0)
	require.Equal(t, addr(7001), w.nodes[1].follows)
}

func TestResetFindsReplicasAndSentinelsAgain(t *testing.T) {
	w := newWorld(t, 2, 3, 1)
	w.run(5_000)
	s := w.sentinels[0]
	require.EqualValues(t, 1, s.Reset(func(string) bool { return true }))
	m := s.Master("mymaster")
	require.Empty(t, m.Replicas)
	require.Empty(t, m.Others)
	w.run(12_000)
	require.Len(t, m.Replicas, 2)
	require.Len(t, m.Others, 2)
}

func TestACalmSentinelSkipsTime(t *testing.T) {
	w := newWorld(t, 2, 3, 1)
	w.run(3_000)
	for i, s := range w.sentinels {
		require.Equal(t, int64(sentinel.Forever), s.CalmUntil())
		s.Skip(86_400_000)
		w.next[i] = s.Next()
	}
	w.now += 86_400_000
	w.run(5_000)
	require.Empty(t, w.told("+sdown"), "a day without calls is no silence")
	w.nodes[0].isDown = true
	w.run(2_000)
	require.LessOrEqual(t, w.sentinels[0].CalmUntil(), w.sentinels[0].Now())
	w.run(40_000)
	require.NotEqual(t, []int{7001, 7001, 7001}, w.believes())
}

// A master that is down has no replica that is fit. The Sentinels try again every six minutes, and are calm meanwhile.
func TestSentinelsAreCalmBetweenAttempts(t *testing.T) {
	attempts := func(skips bool) (last int64, told int) {
		w := newWorld(t, 2, 3, 1)
		w.run(3_000)
		w.nodes[0].isDown, w.nodes[1].priority, w.nodes[2].priority = true, 0, 0
		for _, s := range w.sentinels {
			s.Probe()
		}
		for end := w.now + 3_600_000; w.now < end; w.run(100) {
			calm := int64(sentinel.Forever)
			for _, s := range w.sentinels {
				calm = min(calm, s.CalmUntil()-s.Now())
			}
			if ms := min(calm, end-w.now); skips && ms > 0 {
				for i, s := range w.sentinels {
					s.Skip(ms)
					w.next[i] += ms
				}
				w.now += ms
			}
		}
		return w.sentinels[0].Epoch, len(w.told("-failover-abort-no-good-slave"))
	}
	epoch, told := attempts(false)
	require.Greater(t, told, 8)
	skipping, toldThen := attempts(true)
	require.Equal(t, []int{int(epoch), told}, []int{int(skipping), toldThen})
}

// Whatever has happened: an epoch has at most one leader (world.note looks), and once all is well, all Sentinels
// believe in one master, which the other nodes follow.
func TestRandomFailuresEndWithOneMaster(t *testing.T) {
	worlds := 15
	if os.Getenv("CI") != "" {
		worlds = 120
	}
	for seed := range uint64(worlds) {
		r := rand.New(rand.NewPCG(seed, 1))
		w := newWorld(t, 1+r.IntN(3), 1+r.IntN(5), seed)
		for range 30 {
			w.disturb(r)
			w.run(r.Int64N(45_000))
		}
		w.heal()
		w.run(1_200_000)
		master := w.believes()[0]
		for _, port := range w.believes() {
			require.Equal(t, master, port, "seed %d", seed)
		}
		for _, n := range w.nodes {
			want := addr(master)
			if n.addr == want {
				want = sentinel.Addr{}
			}
			require.Equal(t, want, n.follows, "seed %d: %d", seed, n.addr.Port)
		}
	}
}
