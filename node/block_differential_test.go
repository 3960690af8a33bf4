package node_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

// clientGroup is a few clients of one server. Some of them are blocked.
type clientGroup struct {
	admin   *redistest.Conn
	clients []*redistest.Conn
	ids     []string
	waiting []string // the command of a blocked client, or ""
}

func dialGroup(t *testing.T, addr string, n int) *clientGroup {
	c := &clientGroup{admin: redistest.Dial(t, addr), waiting: make([]string, n)}
	for i := range n {
		conn := redistest.Dial(t, addr)
		if i%2 == 1 {
			conn.Do("HELLO", "3")
		}
		c.clients = append(c.clients, conn)
		c.ids = append(c.ids, strconv.FormatInt(conn.Do("CLIENT", "ID").Int, 10))
	}
	return c
}

// collect reads the replies of the clients that CLIENT LIST no longer shows as blocked.
func (c *clientGroup) collect() (replies []string) {
	for i, cmd := range c.waiting {
		if cmd == "" || strings.Contains(c.admin.Do("CLIENT", "LIST", "ID", c.ids[i]).Str, " flags=b ") {
			continue
		}
		c.waiting[i] = ""
		replies = append(replies, fmt.Sprintf("%d: %s -> %s", i, cmd, c.clients[i].Read()))
	}
	return replies
}

// step is one command. by is the client that sends it, or -1 for the admin connection. An empty cmd
// unblocks the client.
type step struct {
	by  int
	cmd string
}

func (c *clientGroup) do(t *testing.T, s step) []string {
	switch {
	case s.cmd == "":
		c.admin.Do("CLIENT", "UNBLOCK", c.ids[s.by])
	case s.by >= 0:
		c.waiting[s.by] = s.cmd
		sendPending(t, c.admin, c.clients[s.by], strings.Fields(s.cmd)...)
	default:
		var replies []string
		for _, cmd := range strings.Split(s.cmd, "; ") {
			replies = append(replies, c.admin.Do(strings.Fields(cmd)...).String())
		}
		return append(replies, c.collect()...)
	}
	return c.collect()
}

// blockingSteps returns commands that may block and commands that may unblock. Three cases are
// missing because 7.2 differs from the oracle: several ready keys for a client that waits for
// several, wrong types among such keys, and deleted groups.
func blockingSteps() (waits, acts []string) {
	waits = []string{
		"BLPOP l1 0", "BLPOP l1 l2 0", "BLPOP l2 l1 l2 0", "BRPOP l1 0", "BRPOP l2 l1 0", "BLMPOP 0 2 l1 l2 LEFT",
		"BLMPOP 0 1 l2 RIGHT COUNT 2",
		"BLMOVE c d LEFT RIGHT 0", "BLMOVE d c RIGHT LEFT 0", "BLMOVE c c LEFT RIGHT 0", "BRPOPLPUSH d e 0",
		"BRPOPLPUSH e c 0", "BLPOP c 0", "BRPOP d 0", "BLPOP e 0", "BLMOVE c e LEFT LEFT 0",
		"BZPOPMIN z1 0", "BZPOPMIN z1 z2 0", "BZPOPMAX z2 z1 0", "BZMPOP 0 2 z2 z1 MAX COUNT 2", "BZMPOP 0 1 z1 MIN",
		"XREAD BLOCK 0 STREAMS s1 $", "XREAD COUNT 2 BLOCK 0 STREAMS s2 s1 $ $", "XREAD BLOCK 0 STREAMS s1 50-0",
		"XREAD BLOCK 0 STREAMS s3 $",
		"XREADGROUP GROUP g a BLOCK 0 STREAMS sg >", "XREADGROUP GROUP g b COUNT 1 BLOCK 0 STREAMS sg >", "WAIT 1 0",
	}
	acts = []string{
		"LPUSH l1 a", "RPUSH l1 a b", "RPUSH l2 a b c", "RPUSH l1 a; RPUSH l1 b", "MULTI; LPUSH l1 a; DEL l1; EXEC",
		"MULTI; LPUSH l2 x; LPUSH l2 y; LPOP l2; EXEC",
		"MULTI; RPUSH l1 a; SET l1 x; DEL l1; RPUSH l1 b; EXEC", "DEL l1", "DEL l2", "LLEN l1", "LRANGE l2 0 -1",
		"RPUSH t 1 2; RENAME t l1", "RPUSH t 2 1; SORT t STORE l2; DEL t", "RPUSH t 1; COPY t l1; DEL t",
		"RPUSH t a b; LMOVE t l2 LEFT RIGHT; DEL t",
		"RPUSH c a", "RPUSH c a b c", "LPUSH d a b", "RPUSH e a", "SET e x", "DEL e", "DEL c", "LRANGE c 0 -1",
		"LRANGE d 0 -1", "TYPE e", "MULTI; LPUSH c a; LPUSH c b; EXEC",
		"ZADD z1 1 a", "ZADD z1 1 a 2 b 3 c", "ZADD z2 1 a 5 b", "ZINCRBY z1 2 m", "ZADD t 1 a; ZUNIONSTORE z1 1 t; DEL t",
		"ZADD t 1 a 2 b; ZRANGESTORE z2 t 0 -1; DEL t", "DEL z1", "ZCARD z2", "MULTI; ZADD z1 1 a; DEL z1; EXEC",
		"XADD s1 45-* f v", "XADD s1 60-0 f v", "XADD s1 1-1 f v", "XADD s2 1-1 f v", "XADD s2 2-1 f v", "DEL s2",
		"MULTI; XADD s2 9-1 f v; XADD s2 9-2 f v; EXEC", "DEL s1", "SET s3 x", "DEL s3", "XADD s3 1-1 f v",
		"XADD s3 2-1 f v", "XTRIM s2 MAXLEN 0",
		"XADD sg 1-1 f v", "XADD sg 2-1 f v; XADD sg 2-2 f v", "MULTI; XADD sg 3-1 f v; XADD sg 3-2 f v; EXEC",
		"XPENDING sg g", "XACK sg g 1-1 2-1 2-2 3-1 3-2",
		"PING",
	}
	return waits, acts
}

// Random clients block, push and give up on both servers. After every step the same clients are
// blocked, and the others have received the same replies.
func TestBlockedClientsGetWhatRedisGivesThem(t *testing.T) {
	oracle := redistest.Start(t)
	addr := start(t, nil)
	waits, acts := blockingSteps()
	for seed := range uint64(25) {
		rng := rand.New(rand.NewPCG(seed, 9))
		theirs, ours := dialGroup(t, oracle.Addr, 8), dialGroup(t, addr, 8)
		var history []string
		play := func(s step) {
			history = append(history, fmt.Sprintf("%d> %s", s.by, s.cmd))
			require.Equal(t, theirs.do(t, s), ours.do(t, s), "seed %d:\n%s", seed, strings.Join(history, "\n"))
		}
		play(step{-1, "FLUSHALL; XGROUP CREATE sg g $ MKSTREAM; XADD s1 40-0 f v"})
		for range 150 {
			s := step{by: rng.IntN(len(ours.clients))}
			switch {
			case rng.IntN(2) == 0:
				s = step{-1, acts[rng.IntN(len(acts))]}
			case ours.waiting[s.by] == "":
				s.cmd = waits[rng.IntN(len(waits))]
			case rng.IntN(3) > 0:
				continue
			}
			play(s)
		}
		for i, cmd := range ours.waiting {
			if cmd != "" {
				play(step{by: i})
			}
		}
		for _, c := range append(theirs.clients, ours.clients...) {
			c.Close()
		}
	}
}
