package adversary

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/miniredisd/miniredisd/internal/respclient"
	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/miniredistest"
)

// wilder steps of a group: requests at any node, whatever its role, and everything that a network and an operator do.

const hashTake = `if redis.call('exists', KEYS[1]) == 0 or redis.call('hexists', KEYS[1], ARGV[2]) == 1 then ` +
	`redis.call('hincrby', KEYS[1], ARGV[2], 1) redis.call('pexpire', KEYS[1], ARGV[1]) return nil end ` +
	`return redis.call('pttl', KEYS[1])`

const hashRelease = `if redis.call('hexists', KEYS[1], ARGV[2]) == 0 then return nil end ` +
	`if redis.call('hincrby', KEYS[1], ARGV[2], -1) > 0 then redis.call('pexpire', KEYS[1], ARGV[1]) return 0 end ` +
	`redis.call('del', KEYS[1]) return 1`

// re-entrant lock of a worker, on lock:2
type entered struct {
	count int
	until int64
}

// wild is a group with a re-entrant lock, too.
type wild struct {
	*group
	inside map[string]entered
}

func (w *wild) any() int { return w.dice.IntN(len(w.nodes)) }

func (w *wild) step() {
	worker := fmt.Sprintf("w%d", w.dice.IntN(3))
	switch w.dice.IntN(12) {
	case 0, 1:
		w.enter(worker, w.any())
	case 2, 3:
		w.leave(worker, w.any())
	case 4:
		w.releaseAnywhere(worker, w.any())
	case 5:
		w.renewAnywhere(worker, w.any())
	case 6:
		w.operate()
	default:
		if len(w.masters()) > 0 { // else all nodes follow each other
			w.group.step()
		}
	}
}

// enter takes the re-entrant lock, or enters it again.
func (w *wild) enter(worker string, at int) {
	lease := 100 + w.dice.Int64N(900)
	v := w.do(worker, at, "EVAL", hashTake, "1", "lock:2", fmt.Sprint(lease), "uuid-of-"+worker+":1")
	if !v.Null {
		return
	}
	for other, in := range w.inside {
		w.two = w.two || other != worker && in.until >= w.now
	}
	in := w.inside[worker]
	if in.until < w.now {
		in.count = 0
	}
	w.inside[worker] = entered{in.count + 1, w.now + lease}
}

// leave leaves the re-entrant lock once. A worker that learns that the lock is gone believes in it no more.
func (w *wild) leave(worker string, at int) {
	in, is := w.inside[worker]
	if !is || in.until < w.now {
		return
	}
	v := w.do(worker, at, "EVAL", hashRelease, "1", "lock:2", "1000", "uuid-of-"+worker+":1")
	switch {
	case v.Kind == '-' && w.dice.IntN(2) == 0: // it goes on as if it held the lock
	case v.Kind == '-' || v.Null || in.count == 1 || v.Int == 1 && w.dice.IntN(2) == 0:
		delete(w.inside, worker)
	case v.Int == 0:
		w.inside[worker] = entered{in.count - 1, w.now + 1000}
	default:
		w.inside[worker] = entered{in.count - 1, in.until}
	}
}

// releaseAnywhere sends a release to a node that may refuse it. Then the worker believes in its lock, or does not.
func (w *wild) releaseAnywhere(worker string, at int) {
	mine, holds := w.held[worker]
	if !holds || mine.until < w.now {
		return
	}
	words := []string{"EVAL", compareAndDelete, "1", "lock:1", mine.token}
	if w.dice.IntN(3) == 0 {
		words = []string{"DEL", "lock:1"}
	}
	if w.do(worker, at, words...).Kind != '-' || w.dice.IntN(2) == 0 {
		delete(w.held, worker)
	}
}

func (w *wild) renewAnywhere(worker string, at int) {
	mine, holds := w.held[worker]
	if !holds || mine.until < w.now {
		return
	}
	switch w.dice.IntN(3) {
	case 0:
		if w.do(worker, at, "SET", "lock:1", mine.token, "XX", "PX", "1200").Str == "OK" {
			w.held[worker] = heldLock{mine.token, w.now + 1200}
		}
	case 1:
		if w.do(worker, at, "EVAL", renewOwn, "1", "lock:1", mine.token, "1500").Int == 1 {
			w.held[worker] = heldLock{mine.token, w.now + 1500}
		}
	default:
		if w.do(worker, at, "PEXPIRE", "lock:1", "900").Int == 1 {
			w.held[worker] = heldLock{mine.token, w.now + 900}
		}
	}
}

// operate does what an operator or a network does to nodes.
func (w *wild) operate() {
	at := w.any()
	switch w.dice.IntN(5) {
	case 0:
		_, err := w.nodes[at].Try("REPLICAOF", "NO", "ONE")
		w.say("%d REPLICAOF NO ONE at %d: %v", w.now, at+1, err)
	case 1:
		to := w.any()
		if to == at {
			return
		}
		v, err := w.nodes[at].Try("REPLICAOF", "127.0.0.1", fmt.Sprint(w.nodes[to].Port()))
		w.say("%d REPLICAOF %d at %d: %s %v", w.now, to+1, at+1, text(v), err)
	case 2:
		loss := []miniredistest.Loss{miniredistest.LoseKeys, miniredistest.KeepKeys}[w.dice.IntN(2)]
		w.nodes[at].Crash(0, loss)
		w.say("%d crash of %d, %v", w.now, at+1, loss)
		for id, c := range w.conns {
			if strings.HasSuffix(id, fmt.Sprint(at)) {
				_ = c.Close()
				delete(w.conns, id)
			}
		}
	default:
		w.settle()
	}
}

// settle lets every stream go and waits until the replicas have what their masters have, if they can.
func (w *wild) settle() {
	for _, n := range w.nodes {
		n.Release()
	}
	for _, m := range w.masters() {
		v := w.nodes[m].Do("LAB", "REPLICATION", "WAIT", "300")
		w.say("%d %d replicas have what %d has", w.now, v.Int, m+1)
	}
}

// Workers take two locks while nodes fail in all ways. The truth is what the workers believe.
func TestTheVerdictOfWildFailovers(t *testing.T) {
	t.Parallel()
	count := map[string]int{}
	for seed := range chosen(t, 12) {
		srv := miniredistest.Run(brief{t}, miniredistest.Replicas(1+seed%3), miniredistest.FrozenAt(time.UnixMilli(start)))
		w := &wild{group: &group{t: t, nodes: srv.Nodes(), dice: rand.New(rand.NewPCG(uint64(seed), 11)),
			conns: map[string]*respclient.Conn{}, held: map[string]heldLock{}}, inside: map[string]entered{}}
		redistest.Until(t, func() bool { return srv.Do("LAB", "REPLICATION", "WAIT", "1000").Int == int64(1+seed%3) })
		for range 50 {
			w.step()
		}
		v := srv.Do("LAB", "VERDICT", "lock:*")
		said := field(v, "verdict").Str
		violated := said == "two-holders" || said == "not-linearizable"
		count[fmt.Sprint(w.two, " ", said)]++
		wrong := w.two && said == "safe" || !w.two && violated
		if wrong {
			t.Errorf("two %v, seed %d\n%s\n%s", w.two, seed, strings.Join(w.story, "\n"), field(v, "text").Str)
		}
		for _, c := range w.conns {
			_ = c.Close()
		}
		srv.Stop()
	}
	t.Log(count)
}
