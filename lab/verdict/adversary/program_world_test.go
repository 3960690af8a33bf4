package adversary

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/verdict"
	"github.com/miniredisd/miniredisd/miniredistest"
	"github.com/miniredisd/miniredisd/resp"
)

// theLock is the key of a program's lock.
const theLock = "lock:1"

// world is one run of a program: a server in a bubble of testing/synctest, where no real time passes.
type world struct {
	program
	t     testing.TB
	nodes miniredistest.Masters // a master and its replicas
	begin time.Time
	ended sync.WaitGroup
	lives atomic.Int64 // of the server

	mu    sync.Mutex    // guards the rest
	shift time.Duration // that LAB CLOCK has added
	spans []span

	leader int // the place of the newest master among the nodes
}

// played is what a run has shown.
type played struct {
	truth   string
	spans   []span
	history []lab.History
	verdict *verdict.Verdict
}

// play runs a program and judges its history.
func play(t *testing.T, p program) (r played) {
	t.Helper()
	var text string
	synctest.Test(t, func(t *testing.T) {
		w := &world{program: p, t: t, begin: time.Now()}
		if w.nodes = nil; p.cluster {
			w.nodes = miniredistest.RunMasters(brief{t}, masters, miniredistest.Watch(p.watched), miniredistest.Cluster())
		} else {
			w.nodes = miniredistest.Run(brief{t}, miniredistest.Watch(p.watched), miniredistest.Replicas(p.replicas)).Nodes()
		}
		w.run()
		r.spans, text = w.spans, w.nodes.History()
	})
	r.truth = p.truthOf(r.spans)
	histories, err := verdict.Read(strings.NewReader(text))
	require.NoError(t, err)
	if p.replicas > 0 || p.cluster {
		sameTime(histories)
	}
	for i, h := range histories {
		for j, e := range h.Entries { // no real time passes in a bubble
			if p.replicas == 0 && !p.cluster {
				h.Entries[j].Mono = e.Time * 1000
			}
		}
		if p.way.shape != lab.Unnamed {
			histories[i].Watched = []lab.Watch{{Pattern: "lock:*", As: p.way.shape, Holders: p.way.limit}}
		}
	}
	r.history = histories
	r.verdict, err = verdict.JudgeLocks(histories, func(key string) bool { return key == theLock })
	require.NoError(t, err)
	return r
}

// run lets all clients and events happen.
func (w *world) run() {
	all := make([]*actor, len(w.clients)+1)
	for i := range all {
		all[i] = &actor{world: w, number: i, belief: -1}
		for range w.nodes {
			all[i].links = append(all[i].links, newLink())
		}
		switch all[i].timeout = time.Minute; {
		case i == len(w.clients): // the stranger
		case w.names == oneLink:
			all[i].links = all[0].links
		case w.names == noPool:
			all[i].links = all[i%2].links
		}
		all[i].turnTo(0)
	}
	stranger := all[len(w.clients)]
	stranger.rest(0)
	if w.way.setup != "" {
		stranger.ask(w.way.setup)
	}
	for i, plan := range w.clients {
		all[i].plan = plan
		w.ended.Add(1)
		go all[i].run()
	}
	for _, e := range w.events {
		stranger.rest(max(0, e.at-time.Since(w.begin)))
		for _, command := range e.do {
			stranger.does(command)
		}
	}
	w.ended.Wait()
	for _, c := range all {
		c.hangUpAll()
	}
}

// does lets an event happen.
func (c *actor) does(command string) {
	words := strings.Fields(command)
	c.turnTo(c.world.master())
	switch {
	case words[0] == "REST":
		d, err := time.ParseDuration(words[1] + "ms")
		require.NoError(c.world.t, err)
		c.rest(d)
	case isOfSlots(command):
		c.world.moves(command)
	case strings.HasPrefix(command, "LAB FAILOVER"):
		c.world.fails(command)
	case strings.HasPrefix(command, "LAB ALL CLOCK ADVANCE"):
		d, err := time.ParseDuration(words[4] + "ms")
		require.NoError(c.world.t, err)
		c.world.shifts(d)
		c.world.do(command)
	case strings.HasPrefix(command, "LAB CLOCK ADVANCE"):
		d, err := time.ParseDuration(words[3] + "ms")
		require.NoError(c.world.t, err)
		c.world.shifts(d)
		c.world.do(command)
	case words[0] == "LAB" || words[0] == "CONFIG":
		if words[1] == "CRASH" {
			c.world.lives.Add(1)
		}
		c.world.do(command)
	default:
		if c.ask(command) == unknown { // the connection had ended
			c.ask(command)
		}
		if slices.Contains(plants(), command) && c.reply != "0" && !strings.HasPrefix(c.reply, "-") {
			c.took = c.world.now()
			c.mayBelieve(forever)
		}
	}
}

func (w *world) shifts(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.shift += d
}

// do asks the master without a client.
func (w *world) do(command string) { w.doAt(w.master(), command) }

func (w *world) doAt(node int, command string) {
	words, ok := resp.Words([]byte(command))
	require.True(w.t, ok)
	all := make([]string, len(words))
	for i, word := range words {
		all[i] = string(word)
	}
	_, err := w.nodes[node].Try(all...)
	require.NoError(w.t, err, command)
}

// now returns the time of the world: it also passes when LAB CLOCK ADVANCE says so.
func (w *world) now() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Since(w.begin) + w.shift
}
