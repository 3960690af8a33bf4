package adversary

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/miniredisd/miniredisd/internal/test/amount"
)

// group makes up histories of a master and its replicas. The workers use two locks: lock:1, and lock:2 that a worker
// may enter several times.
type group struct {
	*improviser
	tokens  map[string]string // of lock:1, by worker
	entered map[string]int    // how often a worker has entered lock:2
	wild    bool              // requests go to any node, and a network and an operator do everything
}

// Workers take a lock while streams stand still and replicas are promoted.
func TestTheVerdictOfRandomFailovers(t *testing.T) {
	t.Parallel()
	judgeAll(t, chosen(t, 20), func(seed uint64) (text, truth, verdict string) {
		return improviseNodes(t, seed, 1+int(seed%2), 40, false)
	})
}

// Workers take two locks while nodes fail in all ways.
func TestTheVerdictOfWildFailovers(t *testing.T) {
	t.Parallel()
	judgeAll(t, chosen(t, 12), func(seed uint64) (text, truth, verdict string) {
		return improviseNodes(t, seed, 1+int(seed%3), 50, true)
	})
}

func improviseNodes(t *testing.T, seed uint64, replicas, steps int, wild bool) (text, truth, verdict string) {
	h := history{name: fmt.Sprintf("nodes-%d", seed), masters: 1, replicas: replicas, dialect: "redis-7.2"}
	nodes, stop := newGroup(t, h)
	defer stop()
	g := &group{
		improviser: &improviser{player: newPlayer(t, nodes, h), rand: rand.New(rand.NewPCG(seed, 7))},
		tokens:     map[string]string{}, entered: map[string]int{}, wild: wild,
	}
	for range steps {
		g.step()
	}
	return g.judged()
}

func (g *group) step() {
	worker := g.one("a", "b", "c")
	if g.wild && g.rand.IntN(12) < 7 {
		at := 1 + g.rand.IntN(len(g.masters))
		switch g.rand.IntN(7) {
		case 0, 1:
			g.enter(worker, at)
		case 2, 3:
			g.leave(worker, at)
		case 4:
			g.release(worker, at, g.one("DEL lock:1", ownRelease, ownRelease))
		case 5:
			g.renew(worker, at, g.one("SET lock:1 {token} XX PX {lease}", ownRenewal, "PEXPIRE lock:1 {lease}"))
		case 6:
			g.operate(at)
		}
		return
	}
	leaders := g.leaders()
	if len(leaders) == 0 { // all nodes follow each other
		return
	}
	at := leaders[g.rand.IntN(len(leaders))]
	switch g.rand.IntN(12) {
	case 0, 1, 2, 3:
		g.take(worker, at)
	case 4, 5:
		g.release(worker, at, ownRelease)
	case 6:
		g.renew(worker, at, ownRenewal)
	case 7, 8:
		g.say(fmt.Sprintf("advance %d", 50+g.rand.IntN(600)))
	case 9:
		if g.rand.IntN(2) == 0 {
			g.say(fmt.Sprintf("lab MASTER %d REPLICATION HOLD", at))
		} else {
			g.settle(at)
		}
	default:
		if len(leaders) == 1 {
			g.failover(at)
		}
	}
}

const (
	ownRelease = "EVAL @compare-and-delete 1 lock:1 {token}"
	ownRenewal = "EVAL @compare-and-pexpire 1 lock:1 {token} {lease}"
)

// leaders returns the nodes that are masters now, from 1.
func (g *group) leaders() (all []int) {
	for i, n := range g.masters {
		if n.Do("ROLE").Elems[0].Str == "master" {
			all = append(all, i+1)
		}
	}
	return all
}

// send lets a worker send a command to a node.
func (g *group) send(worker string, at int, command, lease string) string {
	command = strings.NewReplacer("{token}", g.tokens[worker], "{lease}", lease).Replace(command)
	return g.ask(fmt.Sprintf("%s@%d", worker, at), command)
}

func (g *group) take(worker string, at int) {
	if g.beliefs.holds(worker, "lock:1") {
		return
	}
	lease := fmt.Sprint(100 + g.rand.IntN(900))
	g.tokens[worker] = fmt.Sprintf("token-%d", g.text.Len())
	if g.send(worker, at, "SET lock:1 {token} NX PX {lease}", lease) == "OK" {
		g.say(fmt.Sprintf("hold %s %s at=%d", worker, lease, at))
	}
}

// release sends a release to a node that may refuse it. Then the worker believes in its lock, or does not.
func (g *group) release(worker string, at int, command string) {
	if !g.beliefs.holds(worker, "lock:1") {
		return
	}
	refused := strings.HasPrefix(g.send(worker, at, command, ""), "-")
	if !refused || g.wild && g.rand.IntN(2) == 0 {
		g.say("gone " + worker)
	}
}

func (g *group) renew(worker string, at int, command string) {
	if !g.beliefs.holds(worker, "lock:1") {
		return
	}
	lease := g.one("900", "1200", "1500")
	if reply := g.send(worker, at, command, lease); reply == "OK" || reply == "1" {
		g.say(fmt.Sprintf("hold %s %s at=%d", worker, lease, at))
	}
}

// enter takes the re-entrant lock, or enters it again.
func (g *group) enter(worker string, at int) {
	lease := fmt.Sprint(100 + g.rand.IntN(900))
	if !g.beliefs.holds(worker, "lock:2") {
		g.entered[worker] = 0
	}
	if g.send(worker, at, "EVAL @hash-take 1 lock:2 {lease} uuid-of-"+worker+":1", lease) == "(nil)" {
		g.entered[worker]++
		g.say(fmt.Sprintf("hold %s lock:2 %s at=%d", worker, lease, at))
	}
}

// leave leaves the re-entrant lock once. A worker that learns that the lock is gone believes in it no more.
func (g *group) leave(worker string, at int) {
	if !g.beliefs.holds(worker, "lock:2") {
		return
	}
	reply := g.send(worker, at, "EVAL @hash-release 1 lock:2 1000 uuid-of-"+worker+":1", "")
	refused := strings.HasPrefix(reply, "-")
	switch {
	case refused && g.rand.IntN(2) == 0: // it continues as if it held the lock
	case refused, reply == "(nil)", g.entered[worker] == 1, reply == "1" && g.rand.IntN(2) == 0:
		g.say("gone " + worker + " lock:2")
	case reply == "0":
		g.entered[worker]--
		g.say(fmt.Sprintf("hold %s lock:2 1000 at=%d", worker, at))
	default:
		g.entered[worker]--
	}
}

// operate does what an operator or a network does to a node.
func (g *group) operate(at int) {
	switch g.rand.IntN(5) {
	case 0:
		g.ask(fmt.Sprintf("s@%d", at), "REPLICAOF NO ONE")
	case 1:
		if of := 1 + g.rand.IntN(len(g.masters)); of != at {
			g.say(fmt.Sprintf("port %d", of))
			g.ask(fmt.Sprintf("s@%d", at), "REPLICAOF 127.0.0.1 {port}")
		}
	case 2:
		g.say(fmt.Sprintf("crash %d%s", at, g.one("", " keep")))
	default:
		for n := range g.masters {
			g.say(fmt.Sprintf("lab MASTER %d REPLICATION RELEASE", n+1))
		}
		for _, n := range g.leaders() {
			g.say(fmt.Sprintf("lab MASTER %d REPLICATION WAIT 300", n))
		}
	}
}

// settle lets the stream of a master go, and waits until its replicas have everything.
func (g *group) settle(at int) {
	g.say(fmt.Sprintf("lab MASTER %d REPLICATION RELEASE", at))
	g.say(fmt.Sprintf("lab MASTER %d REPLICATION WAIT", at))
}

// failover promotes a replica, if one can be promoted.
func (g *group) failover(at int) {
	step := fmt.Sprintf("MASTER %d FAILOVER%s", at, g.one("", "", " LEAVE"))
	if _, err := g.masters[0].Try(append([]string{"LAB"}, strings.Fields(step)...)...); err != nil {
		return
	}
	fmt.Fprintf(&g.text, "lab %s\n", step)
	for _, n := range g.leaders() {
		g.settle(n)
	}
}

// Histories of nodes are played again as text: a step, its reply and its beliefs are all that there is.
func TestAHistoryOfNodesIsTheSameAsText(t *testing.T) {
	t.Parallel()
	for seed := range uint64(amount.Count(1, 4)) {
		written, truth, verdict := improviseNodes(t, seed, 2, 40, false)
		h := readText(t, "written", written)[0]
		nodes, end := newGroup(t, h)
		r := judge(t, nodes, h)
		end()
		if r.truth != truth || r.verdict != verdict {
			t.Errorf("seed %d: %s and %s were written, %s and %s were read\n%s",
				seed, truth, verdict, r.truth, r.verdict, written)
		}
	}
}
