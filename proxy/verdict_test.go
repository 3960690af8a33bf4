package proxy

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/amount"
)

const renew = `"if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) ` +
	`else return 0 end"`

// The mistakes of locks have the same verdict and the same sentence before a real server as at a server of ours.
func TestAMistakeHasTheSameSentenceBeforeARealServer(t *testing.T) {
	own, real := ownWorld(t), realWorld(t)
	for name, c := range map[string]struct {
		steps []string
		want  string
	}{
		"SETNX, and its client dies before EXPIRE": {[]string{
			"a: SETNX lock:1 token-a", "a: EXPIRE lock:1 1", "LAB CLOCK ADVANCE 2000",
			"LAB FAULT ADD dies CMD expire ACTION RESET-BEFORE", "b: SETNX lock:1 token-b", "b! EXPIRE lock:1 1",
			"LAB CLOCK ADVANCE 60000", "c: SETNX lock:1 token-c",
		}, "safe"},
		"DEL of another's lock after the lease": {[]string{
			"a: SET lock:1 token-a NX PX 5000", "LAB CLOCK ADVANCE 6000", "b: SET lock:1 token-b NX PX 5000",
			"a: DEL lock:1", "c: SET lock:1 token-c NX PX 5000",
		}, "two-holders"},
		"a release that compares": {[]string{
			"a: SET lock:1 token-a NX PX 5000", "LAB CLOCK ADVANCE 6000", "b: SET lock:1 token-b NX PX 5000",
			"a: EVAL " + release + " 1 lock:1 token-a", "c: SET lock:1 token-c NX PX 5000",
			"b: EVAL " + renew + " 1 lock:1 token-b 9000", "LAB CLOCK ADVANCE 6000",
			"b: EVAL " + release + " 1 lock:1 token-b", "c: SET lock:1 token-c NX PX 5000",
		}, "safe"},
		"a renewal of another's lock": {[]string{
			"a: SET lock:1 token-a NX PX 5000", "LAB CLOCK ADVANCE 6000", "b: SET lock:1 token-b NX PX 5000",
			"a: PEXPIRE lock:1 60000",
		}, "two-holders"},
		"GET and then SET": {[]string{
			"a: GET lock:1", "b: GET lock:1", "a: SET lock:1 token-a PX 30000", "b: SET lock:1 token-b PX 30000",
		}, "two-holders"},
		"a lost reply": {[]string{
			"LAB FAULT ADD lost CMD set NTH 1 ACTION DROP-REPLY", "a! SET lock:1 token-a NX PX 5000",
			"b: SET lock:1 token-b NX PX 5000", "LAB CLOCK ADVANCE 6000", "b: SET lock:1 token-b NX PX 5000",
		}, "safe"},
		"a semaphore that is too full": {[]string{
			"LAB LOG WATCH sem AS SEMAPHORE 1", "a: ZADD sem NX 1 token-a", "b: ZADD sem NX 1 token-b",
		}, "undecided"},
		"RENAME over a lock": {[]string{
			"a: SET lock:1 token-a NX PX 30000", "b: SET lock:2 token-b NX PX 30000", "c: RENAME lock:2 lock:1",
		}, "undecided"},
		"FLUSHALL": {[]string{
			"a: SET lock:1 token-a NX PX 30000", "c: FLUSHALL", "b: SET lock:1 token-b NX PX 30000",
		}, "two-holders"},
		"MULTI": {[]string{
			"a: MULTI", "a: SET lock:1 token-a NX", "a: PEXPIRE lock:1 5000", "a: EXEC", "b: SET lock:1 token-b NX PX 5000",
			"LAB CLOCK ADVANCE 6000", "b: SET lock:1 token-b NX PX 5000", "a: WATCH lock:1", "a: MULTI", "a: DEL lock:1",
			"a: EXEC", "c: SET lock:1 token-c NX PX 5000",
		}, "two-holders"},
	} {
		own.begin()
		real.begin()
		for _, step := range c.steps {
			require.Equal(t, own.does(step), real.does(step), "%s: %s", name, step)
		}
		require.Equal(t, own.verdict(), real.verdict(), "%s:\n%s", name, real.entries())
		t.Log(name, real.verdict())
		require.Equal(t, c.want, strings.Split(real.verdict(), "\n")[0], name)
	}
}

// begin is for a new story.
func (w *world) begin() {
	w.does("LAB RESET")
	for name, c := range w.clients {
		require.NoError(w.t, c.Close())
		delete(w.clients, name)
	}
	w.does("FLUSHALL")
	w.does("LAB LOG WATCH lock:*")
}

// program is a random program that uses a lock.
func program(seed uint64) (steps []string) {
	random := rand.New(rand.NewPCG(seed, 1))
	one := func(of ...string) string { return of[random.IntN(len(of))] }
	take := one("SET lock:1 TOKEN NX PX LEASE", "SETNX lock:1 TOKEN", "SET lock:1 TOKEN PX LEASE",
		`EVAL "return redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])" 1 lock:1 TOKEN LEASE`)
	free := one("EVAL "+release+" 1 lock:1 TOKEN", "DEL lock:1", "GETDEL lock:1")
	// A PEXPIRE with the time of the lease would change nothing in the same millisecond.
	prolong := one("EVAL "+renew+" 1 lock:1 TOKEN LEASE", "PEXPIRE lock:1 5500", "SET lock:1 TOKEN XX PX LEASE")
	for n := range 4 + random.IntN(20) {
		client := one("a", "b", "c")
		step := client + ": " + one(take, take, free, prolong, "GET lock:1")
		if random.IntN(4) == 0 {
			step = "LAB CLOCK ADVANCE " + one("100", "3000", "6000")
		}
		if random.IntN(12) == 0 {
			line := one(take, free)
			command, _, _ := strings.Cut(line, " ")
			step = client + "! " + line
			steps = append(steps, "LAB FAULT ADD f"+strconv.Itoa(n)+" CLIENT "+client+" CMD "+command+" TIMES 1 ACTION "+
				one("DROP-REPLY", "RESET-BEFORE", "RESET-AFTER"))
		}
		token := "token-" + client
		steps = append(steps, strings.NewReplacer("TOKEN", token, "LEASE", "5000").Replace(step))
	}
	return steps
}

func TestRandomProgramsHaveTheSameVerdictBeforeARealServer(t *testing.T) {
	own, real := ownWorld(t), realWorld(t)
	seen := map[string]int{}
	for seed := range uint64(amount.Count(20, 200)) {
		own.begin()
		real.begin()
		steps := program(seed)
		for i, step := range steps {
			require.Equal(t, shown(own.does(step)), shown(real.does(step)), "seed %d, step %d of\n%s", seed, i,
				strings.Join(steps, "\n"))
		}
		want, got := own.verdict(), real.verdict()
		require.Equal(t, want, got, "seed %d:\n%s\n%s\n%s", seed, strings.Join(steps, "\n"), own.entries(), real.entries())
		seen[strings.Split(got, "\n")[0]]++
	}
	t.Log(fmt.Sprint(seen))
	require.NotZero(t, seen["safe"])
	require.NotZero(t, seen["two-holders"])
}

// shown leaves out of a reply what differs by some milliseconds.
func shown(reply string) string { return regexp.MustCompile(`^:\d{3,}$`).ReplaceAllString(reply, ":N") }
