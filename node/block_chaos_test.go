package node_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/amount"
	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/resp"
)

// jobs is one run of producers and consumers over a few lists. Each element is a different number.
type jobs struct {
	t     *testing.T
	addr  string
	total int

	mu   sync.Mutex
	got  map[string]int // how often consumers received each element
	over chan struct{}  // closed after the last push
}

// Producers push elements in every way. Consumers time out, are unblocked, hang up or are killed,
// and move elements from list to list. In the end each element exists exactly once.
func TestNoElementIsLostOrDoubledWhileConsumersComeAndGo(t *testing.T) {
	t.Parallel()
	j := &jobs{t: t, addr: start(t, nil), got: map[string]int{}, over: make(chan struct{})}
	j.total = amount.Count(1000, 3000)
	admin := redistest.Dial(t, j.addr)
	var producers, consumers sync.WaitGroup
	for i := range 3 {
		producers.Go(func() { j.produce(i) })
	}
	for i := range 4 {
		consumers.Go(func() { j.take(i) })
		consumers.Go(func() { j.move(i) })
	}
	consumers.Go(func() { j.rotate() })
	consumers.Go(j.disturb)
	producers.Wait()
	close(j.over)
	consumers.Wait()
	waitForField(admin, "connected_clients", "1")
	require.Equal(t, "0", infoField(admin, "blocked_clients"))
	require.Equal(t, "0", infoField(admin, "total_blocking_keys"))
	require.Equal(t, "0", infoField(admin, "clients_in_timeout_table"))

	taken := len(j.got)
	for _, list := range admin.Do("KEYS", "*").Elems {
		for _, v := range admin.Do("LRANGE", list.Str, "0", "-1").Elems {
			j.got[v.Str]++
		}
	}
	require.Positive(t, taken, "no consumer has taken an element")
	require.Less(t, taken, j.total, "no consumer has moved an element")
	require.Len(t, j.got, j.total)
	for _, v := range slices.Sorted(maps.Keys(j.got)) {
		require.Equal(t, 1, j.got[v], v)
	}
}

func (j *jobs) ended() bool {
	select {
	case <-j.over:
		return true
	default:
		return false
	}
}

func queue(rng *rand.Rand) string { return fmt.Sprint("q", rng.IntN(3)) }

// produce pushes a third of the numbers.
func (j *jobs) produce(id int) {
	rng := rand.New(rand.NewPCG(1, uint64(id)))
	c := redistest.Dial(j.t, j.addr)
	defer c.Close()
	for n := id; n < j.total; n += 3 {
		v := strconv.Itoa(n)
		switch rng.IntN(5) {
		case 0:
			c.Do("LPUSH", queue(rng), v)
		case 1:
			c.Do("MULTI")
			c.Do("RPUSH", "aside"+v, v)
			c.Do("LMOVE", "aside"+v, queue(rng), "LEFT", "RIGHT")
			c.Do("EXEC")
		case 2:
			c.Do("EVAL", "redis.call('RPUSH',KEYS[1],'none') redis.call('DEL',KEYS[1]) "+
				"return redis.call('RPUSH',KEYS[2],ARGV[1])", "2", "none", queue(rng), v)
		case 3:
			c.Do("RPUSH", "new"+v, v)
			if c.Do("RENAMENX", "new"+v, queue(rng)).Int == 0 {
				c.Do("LMOVE", "new"+v, queue(rng), "LEFT", "LEFT")
			}
		default:
			c.Do("RPUSH", queue(rng), v)
		}
	}
}

// take pops elements and counts them. It never closes a blocked connection, because an element on
// its way would be lost.
func (j *jobs) take(id int) {
	rng := rand.New(rand.NewPCG(2, uint64(id)))
	c := redistest.Dial(j.t, j.addr)
	defer c.Close()
	for idle := 0; idle < 3; {
		var reply resp.Value
		switch rng.IntN(3) {
		case 0:
			reply = c.Do("BLPOP", queue(rng), queue(rng), "0.005")
		case 1:
			reply = c.Do("BRPOP", "q0", "q1", "q2", "0.01")
		default:
			reply = c.Do("BLMPOP", "0.003", "2", queue(rng), queue(rng), "LEFT", "COUNT", "3")
		}
		if len(reply.Elems) < 2 {
			if j.ended() {
				idle++
			}
			continue
		}
		values := reply.Elems[1].Elems
		if values == nil {
			values = reply.Elems[1:]
		}
		j.mu.Lock()
		for _, v := range values {
			j.got[v.Str]++
		}
		j.mu.Unlock()
	}
}

// move moves elements to a list of its own, as reliable queues do. Sometimes it hangs up while it
// is blocked.
func (j *jobs) move(id int) {
	rng := rand.New(rand.NewPCG(3, uint64(id)))
	done := fmt.Sprint("done", id)
	for !j.ended() {
		c := redistest.Dial(j.t, j.addr)
		err := c.Send(resp.AppendRequest(nil, "CLIENT", "SETNAME", "prey"))
		if err == nil {
			_, err = c.TryRead()
		}
		for range rng.IntN(10) {
			if err != nil {
				break // the connection was killed
			}
			if err = c.Send(resp.AppendRequest(nil, "BLMOVE", queue(rng), done, "LEFT", "RIGHT", "0.01")); err == nil {
				_, err = c.TryRead()
			}
		}
		if err == nil {
			_ = c.Send(resp.AppendRequest(nil, "BRPOPLPUSH", queue(rng), done, "0"))
		}
		c.Close()
	}
}

// rotate moves elements between the lists, so that serving one client makes a list ready for
// another.
func (j *jobs) rotate() {
	c := redistest.Dial(j.t, j.addr)
	defer c.Close()
	for i := 0; !j.ended(); i++ {
		c.Do("BLMOVE", fmt.Sprint("q", i%3), fmt.Sprint("q", (i+1)%3), "LEFT", "RIGHT", "0.002")
	}
}

// disturb unblocks any client, but it kills only clients that are named prey. A client without a
// name yet may be one that must not lose an element.
func (j *jobs) disturb() {
	rng := rand.New(rand.NewPCG(4, 4))
	c := redistest.Dial(j.t, j.addr)
	defer c.Close()
	for !j.ended() {
		lines := strings.Split(strings.TrimSpace(c.Do("CLIENT", "LIST").Str), "\n")
		line := lines[rng.IntN(len(lines))]
		id := strings.TrimPrefix(strings.Fields(line)[0], "id=")
		switch rng.IntN(20) {
		case 0:
			c.Do("CLIENT", "PAUSE", "2", "WRITE")
		case 1, 2, 3, 4:
			c.Do("CLIENT", "UNBLOCK", id)
		case 5, 6, 7, 8:
			c.Do("CLIENT", "UNBLOCK", id, "ERROR")
		default:
			if strings.Contains(line, " name=prey ") {
				c.Do("CLIENT", "KILL", "ID", id)
			}
		}
	}
}
