package miniredistest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/explore"
)

// stage is where trials are played: each on servers of its own, in a bubble of its own or in real time.
type stage struct {
	t    *testing.T
	test func(*Trial)
	o    options
}

// play is what one trial needs to know.
type play struct {
	arm   func(Masters)   // before the test begins
	lead  []func(Masters) // each in a goroutine beside the test, until the servers end
	over  func(Masters)   // when the test is over, or its limit; nil for nothing
	late  func(Masters)   // when the limit is over
	last  func(Masters)   // before the servers end; nil for nothing
	limit time.Duration   // of the trial's clock; then it hangs
	slow  bool            // whether the network of a bubble takes time: see links
}

// played is what a trial has shown.
type played struct {
	histories []lab.History
	ttls      map[place]int64
	moves     bool              // a key may be at any master
	ends      map[string]string // what the keys of database 0 hold
	failures  []string          // of assertions, and panics
	errors    []string          // that workers returned
	output    string
	skipped   bool
	hung      []string // the workers that had not ended in time
	woke      bool     // they ended later
	waiting   int      // connections that waited for a message or an element then
	took      time.Duration
	stray     string // what the test left running, "" for nothing
	stood     string // where it stood still in real time: then it shows nothing
}

// place is a key of a master, from 1.
type place struct {
	master, db int
	key        string
}

// mostReal is how long a trial in a bubble may take in real time, if no option says it. Its sleeps take none.
const mostReal = 5 * time.Second

// play plays one trial.
func (s *stage) play(p play) *played {
	if s.o.explore.realTime {
		return s.inside(s.t, p)
	}
	ended := make(chan *played, 1)
	go func() {
		var of *played
		defer func() {
			why := recover()
			switch {
			case why != nil && of != nil:
				of.stray = fmt.Sprint(why)
			case why != nil:
				s.t.Errorf("miniredistest: a trial has ended: %v", why)
			}
			ended <- of
		}()
		synctest.Test(s.t, func(t *testing.T) { of = s.inside(t, p) })
	}()
	select {
	case of := <-ended:
		if of == nil {
			s.t.FailNow() // the servers did not start, and the test has said why
		}
		return of
	case <-time.After(cmp.Or(s.o.explore.mostReal, mostReal)):
		return &played{stood: standing()}
	}
}

// standing returns where a goroutine of the newest bubble runs, or waits for what no bubble knows of.
func standing() string {
	all := make([]byte, 1<<20)
	all = all[:runtime.Stack(all, true)]
	where, newest := "unknown", 0
	for _, g := range strings.Split(string(all), "\n\n") {
		head, calls, _ := strings.Cut(g, "\n")
		_, number, in := strings.Cut(head, "synctest bubble ")
		bubble, err := strconv.Atoi(strings.TrimSuffix(number, "]:"))
		if !in || err != nil || bubble < newest || strings.Contains(head, "(durable)") {
			continue
		}
		_, state, _ := strings.Cut(head, "[")
		state, _, _ = strings.Cut(state, ",")
		where, newest = state+" at "+placeOf(calls), bubble
	}
	return where
}

// placeOf returns the first place of a stack that is not in the runtime or a mutex.
func placeOf(calls string) string {
	for line := range strings.Lines(calls) {
		at, _, is := strings.Cut(strings.TrimSpace(line), " +0x")
		if is && !isOfGo(at, "runtime") && !isOfGo(at, "sync") && !isOfGo(at, "internal/sync") {
			return at
		}
	}
	return "an unknown place"
}

// isOfGo reports whether a place of a stack is in a package of Go's own. With -trimpath places have no /src/.
func isOfGo(place, pkg string) bool {
	return strings.HasPrefix(place, pkg+"/") || strings.Contains(place, "/src/"+pkg+"/")
}

// trialPort is the port of the first server of a trial in a bubble, where it is only a name. It is the same in each
// trial, so that reports are the same. Nobody listens there, so a client without Dial is refused.
const trialPort = "1001"

// inside plays a trial where the caller is: in a bubble or outside.
func (s *stage) inside(tb testing.TB, p play) *played {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	o := s.o
	if inBubble() {
		o.args = append([]string{"--port", trialPort}, o.args...)
	}
	masters := run(tb, max(o.explore.masters, 1), o)
	t := &Trial{TB: tb, ctx: ctx, masters: masters, working: map[string]int{}}
	for _, srv := range masters[0].in.all() {
		srv.t = t // its assertions are the trial's
	}
	t.links = newLinks(masters, s.o.seed, p.slow && masters[0].InBubble())
	p.arm(masters)
	led := make(chan struct{})
	for _, lead := range p.lead {
		go func() {
			lead(masters)
			led <- struct{}{}
		}()
	}
	of := s.watch(t, p)
	if p.last != nil {
		p.last(masters)
	}
	t.links.close()
	cancel()
	masters[0].in.end(tb)
	for range p.lead {
		<-led
	}
	t.leave()
	return of
}

// watch runs the test until it ends, or until its time is over.
func (s *stage) watch(t *Trial, p play) *played {
	begin, ended := time.Now(), make(chan struct{})
	go s.body(t, ended)
	hung := false
	select {
	case <-ended:
	case <-time.After(p.limit):
		hung = true
	}
	of := t.end(hung)
	of.took = time.Since(begin)
	if p.over != nil {
		p.over(t.masters)
	}
	if t.masters[0].InBubble() {
		time.Sleep(time.Millisecond) // the server sees the connections that the test has closed just now
	}
	nodes := t.masters[0].in.nodes
	of.look(nodes)
	switch {
	case !hung:
		of.settle(nodes)
	default:
		p.late(t.masters)
		select {
		case <-ended:
			of.woke = true
		case <-time.After(p.limit):
		}
	}
	return of
}

// body runs the test and waits for its workers.
func (s *stage) body(t *Trial, ended chan<- struct{}) {
	defer close(ended)
	t.alone("the test", func() { s.test(t) })
	t.Wait()
	t.mu.Lock()
	cleanups := t.cleanups
	t.mu.Unlock()
	for _, f := range slices.Backward(cleanups) {
		t.alone("a cleanup of the test", f)
	}
}

// alone calls a part of the test in a goroutine of its own, which FailNow may end.
func (t *Trial) alone(name string, f func()) {
	returned := make(chan struct{})
	go func() {
		defer close(returned)
		t.guard(name, func() error {
			f()
			return nil
		})
	}()
	<-returned
}

// end ends the trial: what its workers do from now on does not count.
func (t *Trial) end(hung bool) *played {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	of := &played{failures: t.failures, errors: t.errors, skipped: t.skipped}
	text := t.out.String()
	of.output = text[max(len(text)-mostOutput, 0):]
	if hung {
		if of.hung = slices.Sorted(maps.Keys(t.working)); len(of.hung) == 0 {
			of.hung = []string{"the test"}
		}
	}
	return of
}

// farewell is how long what is left of a trial may take to see that its servers are gone.
const farewell = time.Minute

// leave gives what is left of the test time to end. In a bubble that takes none.
func (t *Trial) leave() {
	if t.masters[0].InBubble() {
		time.Sleep(farewell)
		return
	}
	t.mu.Lock()
	workers, idle := t.workers, t.idle
	t.mu.Unlock()
	if workers == 0 {
		return
	}
	select {
	case <-idle:
	case <-time.After(time.Second):
	}
}

// look takes the histories and the keys of all servers. How far a replica has come is chance: how a key ends is asked
// of masters.
func (of *played) look(masters Masters) {
	of.histories = exports(masters)
	of.ttls, of.ends, of.moves = map[place]int64{}, map[string]string{}, masters.isTopology()
	for i, s := range masters {
		isMaster := s.leads()
		dbs := map[int]bool{0: true}
		for _, e := range of.histories[i].Entries {
			dbs[e.DB] = true
		}
		for db := range dbs {
			if of.moves && !isMaster {
				continue // it has what its master has
			}
			keys, _ := s.DB(db).Try("KEYS", "*")
			for _, key := range keys.Elems {
				ttl, _ := s.DB(db).Try("PTTL", key.Str)
				of.ttls[place{i + 1, db, key.Str}] = ttl.Int
				if db == 0 && isMaster {
					end, _ := explore.End(func(words ...string) (string, int64, error) {
						v, err := s.Try(words...)
						return v.Str, v.Int, err
					}, key.Str)
					of.ends[lab.Printable(key.Str)] += end
				}
			}
		}
		if of.hung != nil {
			info, _ := s.Try("INFO", "clients", "stats")
			of.waiting += waiting(info.Str)
		}
	}
}

// waiting reads from INFO how many clients wait for an element, and how many channels somebody listens to.
func waiting(info string) (n int) {
	for line := range strings.Lines(info) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		switch name {
		case "blocked_clients", "pubsub_channels", "pubsub_patterns", "pubsubshard_channels":
			more, _ := strconv.Atoi(value)
			n += more
		}
	}
	return n
}

// longestSettle is how long a key may live for settle to wait for its end.
const longestSettle = 24 * time.Hour

// settle finds a watchdog that still renews a lock when nobody works any more. In real time that would take too
// long.
func (of *played) settle(masters Masters) {
	if !masters[0].InBubble() {
		return
	}
	var most int64
	for _, ttl := range of.ttls {
		if ttl < longestSettle.Milliseconds() {
			most = max(most, ttl)
		}
	}
	if most == 0 {
		return
	}
	time.Sleep(time.Duration(most)*time.Millisecond + time.Second)
	for _, at := range slices.SortedFunc(maps.Keys(of.ttls), comparePlaces) {
		if of.ttls[at] <= 0 || of.ttls[at] > most {
			continue
		}
		if ttl, _ := masters[at.master-1].DB(at.db).Try("PTTL", at.key); ttl.Int > 0 {
			of.failures = append(of.failures, at.key+" is renewed for ever, although all workers have ended")
		}
	}
}

func comparePlaces(a, b place) int {
	return cmp.Or(a.master-b.master, a.db-b.db, strings.Compare(a.key, b.key))
}

// exports returns the histories of all masters.
func exports(masters Masters) []lab.History {
	all := make([]lab.History, len(masters))
	for i, s := range masters {
		text, err := s.Try("LAB", "LOG", "EXPORT")
		if err == nil {
			err = json.Unmarshal([]byte(text.Str), &all[i])
		}
		if err != nil {
			all[i] = lab.History{Format: lab.Format, Master: i + 1, Masters: len(masters)}
		}
	}
	if masters[0].InBubble() {
		renumber(all)
	}
	return all
}

// renumber gives the entries a real time that is the same in each run: that of the bubble, in their order.
func renumber(all []lab.History) {
	var entries []*lab.Entry
	for i := range all {
		for j := range all[i].Entries {
			entries = append(entries, &all[i].Entries[j])
		}
	}
	slices.SortStableFunc(entries, func(a, b *lab.Entry) int { return cmp.Compare(a.Mono, b.Mono) })
	var last int64
	for _, e := range entries {
		last = max(last+1, (e.Time-entries[0].Time)*1000)
		e.Mono = last
	}
}
