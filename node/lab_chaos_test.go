package node_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/amount"
	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/resp"
)

// Clients of every kind run while the lab does everything to them, in any order. In the end the
// server works as before, and no command has panicked.
func TestNothingOfTheLabBreaksTheServer(t *testing.T) {
	t.Parallel()
	var panics atomic.Int64
	addr := startWithLog(t, []string{"--lab", "yes", "--notify-keyspace-events", "KEA", "--seed", "5"},
		countPanics(t, &panics))
	var done atomic.Bool
	var clients sync.WaitGroup
	for n := range 12 {
		clients.Add(1)
		go func() {
			defer clients.Done()
			rng := rand.New(rand.NewPCG(6, uint64(n)))
			for !done.Load() {
				beClient(addr, n, rng)
			}
		}()
	}
	rng := rand.New(rand.NewPCG(6, 7))
	for range amount.Count(30, 100) {
		admin := redistest.Dial(t, addr)
		ok(t, admin, "LAB", "CLOCK", "FREEZE")
		for range rng.IntN(12) {
			admin.Do(labVerb(rng)...)
		}
		for _, verb := range []string{"FAULT CLEAR", "BLACKHOLE OFF", "LISTEN ON", "CLOCK RUN", "CRASH LOSE ALL"} {
			admin.Do(strings.Fields("LAB " + verb)...)
		}
		admin.Close()
	}
	done.Store(true)
	endClients(t, addr, &clients)
	admin := redistest.Dial(t, addr)
	waitForField(admin, "connected_clients", "1")
	require.Equal(t, "0", infoField(admin, "blocked_clients"))
	require.Equal(t, "0", infoField(admin, "total_blocking_keys"))
	require.Equal(t, "0", infoField(admin, "pubsub_patterns"))
	require.Zero(t, panics.Load())
}

// countPanics returns a log function that counts panics of commands.
func countPanics(t *testing.T, panics *atomic.Int64) func(byte, string, ...any) {
	return func(_ byte, format string, args ...any) {
		if strings.HasPrefix(format, "Panic") {
			panics.Add(1)
			t.Logf(format, args...)
		}
	}
}

// The lab acts while scripts run on. Each verb is answered or refused, and the script's connection
// is treated like any other. The test continues until the server has refused a verb.
func TestNothingOfTheLabBreaksTheServerWhileScriptsRun(t *testing.T) {
	t.Parallel()
	var panics atomic.Int64
	addr := startWithLog(t, []string{"--lab", "yes", "--busy-reply-threshold", "1", "--seed", "5"},
		countPanics(t, &panics))
	var done atomic.Bool
	var clients sync.WaitGroup
	for n := range 8 {
		clients.Add(1)
		go func() {
			defer clients.Done()
			rng := rand.New(rand.NewPCG(8, uint64(n)))
			for !done.Load() {
				if n > 3 {
					beClient(addr, n, rng)
				} else {
					beBusyClient(addr, n, rng)
				}
			}
		}()
	}
	rng, refused := rand.New(rand.NewPCG(8, 9)), false
	for round := 0; round < amount.Count(8, 25) || !refused; round++ {
		admin := redistest.Dial(t, addr)
		for range rng.IntN(20) {
			if rng.IntN(3) == 0 {
				killScript(admin)
			} else {
				refused = refused || strings.HasPrefix(admin.Do(labVerb(rng)...).Str, "BUSY ")
			}
		}
		for _, verb := range []string{"LAB FAULT CLEAR", "LAB BLACKHOLE OFF", "LAB LISTEN ON", "LAB CLOCK RUN"} {
			for strings.HasPrefix(admin.Do(strings.Fields(verb)...).Str, "BUSY ") {
				killScript(admin)
			}
		}
		admin.Close()
	}
	done.Store(true)
	endClients(t, addr, &clients)
	admin := redistest.Dial(t, addr)
	waitForField(admin, "connected_clients", "1")
	require.Equal(t, "0", infoField(admin, "blocked_clients"))
	require.Zero(t, panics.Load())
}

// killScript ends a script that has not written. No rule may prevent that.
func killScript(admin *redistest.Conn) {
	admin.Do("LAB", "FAULT", "CLEAR")
	admin.Do("SCRIPT", "KILL")
}

// endClients crashes the server until all clients have ended, because some have just begun. It
// first lifts the partitions of labVerb: a client behind a partition notices no crash.
func endClients(t *testing.T, addr string, clients *sync.WaitGroup) {
	t.Helper()
	admin := redistest.Dial(t, addr)
	admin.Do("LAB", "PARTITION", "CLIENT", "c1*", "OFF")
	for n := range 12 {
		admin.Do("LAB", "PARTITION", "CLIENT", fmt.Sprintf("c%d", n), "OFF")
	}
	gone := make(chan struct{})
	go func() {
		clients.Wait()
		close(gone)
	}()
	redistest.Until(t, func() bool {
		admin := redistest.Dial(t, addr)
		for admin.Do("LAB", "CRASH").Str != "OK" {
			killScript(admin)
		}
		select {
		case <-gone:
			return true
		default:
			return false
		}
	})
}

// beBusyClient runs a slow script that ends by itself. A LAB CLOCK ADVANCE that was accepted before
// waits for its end.
func beBusyClient(addr string, n int, rng *rand.Rand) {
	c, err := redistest.Connect(addr)
	if err != nil {
		return
	}
	defer c.Close()
	scripts := []string{
		"for i = 1, 1e5 do end return 1",
		"for i = 1, 100 do for j = 1, 1e3 do end redis.call('get', KEYS[1]) end",
		"for i = 1, 100 do for j = 1, 1e3 do end redis.call('set', KEYS[1], 'v', 'PX', i) end",
	}
	requests := [][]string{
		{"CLIENT", "SETNAME", fmt.Sprintf("c%d", n)}, {"PING"},
		{"EVAL", scripts[rng.IntN(len(scripts))], "1", "k"}, {"PING"},
	}
	for _, request := range requests {
		if c.Send(resp.AppendRequest(nil, request...)) != nil {
			return
		}
	}
	for range requests {
		if _, err := c.TryRead(); err != nil {
			return
		}
	}
}

func labVerb(rng *rand.Rand) []string {
	verbs := []string{
		"CLOCK FREEZE", "CLOCK RUN", "CLOCK RATE 1000", "CLOCK RATE 1",
		"CLOCK SET " + strconv.FormatInt(1_600_000_000_000+rng.Int64N(100_000_000_000), 10),
		"CLOCK ADVANCE 1000", "CLOCK ADVANCE " + strconv.Itoa(rng.IntN(100_000)), "CLOCK ADVANCE 0", "BLACKHOLE ON",
		"BLACKHOLE OFF", "LISTEN ON", "RESET",
		fmt.Sprintf("PARTITION CLIENT c%d ON", rng.IntN(12)), fmt.Sprintf("PARTITION CLIENT c%d OFF", rng.IntN(12)),
		"PARTITION CLIENT c1* ON", "PARTITION CLIENT c1* OFF",
		labRule(rng), labRule(rng), labRule(rng), labRule(rng), labRule(rng), "FAULT DEL r1", "FAULT CLEAR", "FAULT LIST",
		"HOLD WAIT r1 1", "HOLD WAIT r2 1", "HOLD RELEASE r1", "HOLD RELEASE r2 1", "HOLD LIST", "LOG WATCH *",
		"LOG UNWATCH *", "LOG", "LOG RESET", "LOG EXPORT",
		"SNAPSHOT SAVE a", "SNAPSHOT RESTORE a", "SNAPSHOT DEL a", "SNAPSHOT LIST", "CLOCK", "DOCTOR",
	}
	return strings.Fields("LAB " + verbs[rng.IntN(len(verbs))])
}

// labRule returns a random rule under one of six names.
func labRule(rng *rand.Rand) string {
	any := func(of ...string) string { return of[rng.IntN(len(of))] }
	return fmt.Sprintf("FAULT ADD r%d %s %s ACTION %s", rng.IntN(6),
		any("", "CMD blpop", "CMD set", "CMD exec", "CMD eval", "KEY 1", "SCRIPT TIME", "CLIENT c1*"),
		any("", "NTH 3", "TIMES 2", "PROB 0.3"),
		any("DROP-BEFORE", "DROP-REPLY", "RESET-BEFORE", "RESET-AFTER", "SILENT", "DELAY-EXEC 100",
			"DELAY-REPLY 100", "HOLD", "ERROR E", "ERROR-AFTER E", "CUT 1", "SKIP-PUSH", "DELAY-PUSH 50",
			"BANDWIDTH 1000", "JITTER 9", "SLICE 2"))
}

// beClient connects, sends various requests, and reads until the connection ends.
func beClient(addr string, n int, rng *rand.Rand) {
	c, err := redistest.Connect(addr)
	if err != nil {
		return
	}
	defer c.Close()
	key := strconv.Itoa(rng.IntN(5))
	var out []byte
	sent := 0
	for _, request := range []string{
		fmt.Sprintf("CLIENT SETNAME c%d", n), "SET " + key + " v PX " + strconv.Itoa(1+rng.IntN(5000)),
		"LPUSH l" + key + " a b", "BLPOP l1 l2 0.5", "MULTI", "INCR n", "EXEC",
		"WATCH " + key, "BLMOVE l3 l4 LEFT LEFT 1", "CLIENT PAUSE 100 WRITE", "XADD s * f v", "XREAD BLOCK 300 STREAMS s $",
		"EVAL return(redis.call('TIME')) 0",
		"CLIENT TRACKING ON", "GET " + key, "WAIT 1 200", "PSUBSCRIBE *",
	} {
		if rng.IntN(3) > 0 {
			out = resp.AppendRequest(out, strings.Fields(request)...)
			sent++
		}
	}
	if c.Send(out) != nil {
		return
	}
	for range sent + rng.IntN(20) {
		if _, err := c.TryRead(); err != nil {
			return
		}
	}
}
