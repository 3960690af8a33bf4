package main

import (
	"fmt"
	"slices"
	"time"
)

// attack is one row of the table.
type attack struct {
	name, does  string
	short, full int      // n in either form; 0 leaves the row out
	options     []string // of both servers
	prepare     func(*attacker)
	run         func(*attacker)
	endless     bool   // a script that only SCRIPT KILL or FUNCTION KILL ends
	held        bool   // what was sent stays in memory until the end: used_memory must show it
	known       string // why a finding is expected for now
}

func (a attack) size(short bool) int { return choose(short, a.short, a.full) }

// table is every attack, in the order in which they run.
func table() []attack {
	return slices.Concat(compileRows, endlessRows(), scriptRows, packRows, dataRows, streamRows, stringRows,
		restoreRows(), wireRows, memoryRows, pubsubRows, adminRows)
}

// caps end a server that an attack has brought down.
type caps struct {
	memoryMB   int
	time, busy time.Duration
}

// outcome is one attack on one server.
type outcome struct {
	took    time.Duration // until the attacker has its answers and others are served again
	peakMB  float64       // VmHWM
	usedMB  float64       // used_memory of INFO, with the attacker's connections open
	stall   time.Duration // longest wait of the pinger for an answer, BUSY or not
	busy    int           // BUSY answers
	killed  bool          // SCRIPT KILL ended the script
	death   string        // why the server ended, "" when it lives
	refused string        // first error reply
	same    []string      // what both servers must answer alike
}

// result is one row after it ran in both servers.
type result struct {
	attack
	n           int
	ours, redis outcome
	findings    []string
}

type bench struct {
	ours, redis contender
	caps        caps
	short       bool
	slack       float64 // see judge
}

// all runs the rows and prints each as soon as it is judged.
func (b bench) all(rows []attack) ([]result, error) {
	var results []result
	for _, a := range rows {
		r, err := b.row(a)
		// On a busy machine one measurement says little. A finding has to show three times.
		for again := 0; again < 2 && err == nil && r.bad(); again++ {
			fmt.Println("again:", r.line())
			r, err = b.row(a)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.name, err)
		}
		fmt.Println(r.line())
		results = append(results, r)
	}
	return results, nil
}

func (b bench) row(a attack) (result, error) {
	r := result{attack: a, n: a.size(b.short)}
	var err error
	if r.redis, err = b.meet(a, b.redis); err != nil {
		return r, err
	}
	if r.ours, err = b.meet(a, b.ours); err != nil {
		return r, err
	}
	r.findings = judge(a, r.ours, r.redis, b.caps.busy, b.slack)
	return r, nil
}

// meet runs a in a fresh server of c.
func (b bench) meet(a attack, c contender) (o outcome, err error) {
	limits := b.caps
	if a.endless {
		limits.time = min(limits.time, time.Duration(10*b.slack*float64(limits.busy)))
	}
	s, err := c.start(limits, a.options)
	if err != nil {
		return o, err
	}
	defer s.stop()
	x := &attacker{addr: s.addr, n: a.size(b.short)}
	defer x.close()
	if a.prepare != nil {
		a.prepare(x)
		if x.refused != "" && s.ended() == "" {
			return o, fmt.Errorf("%s: preparation: %s", c.name, x.refused)
		}
	}
	p := startPinger(s.addr, a.endless)
	began := time.Now()
	a.run(x)
	ask(s.addr, "PING")
	o.took = time.Since(began)
	w := p.stop()
	o.stall, o.busy = w.longest, w.busy
	o.killed = w.asked && s.ended() == "" // the attacker has its answer
	o.usedMB = usedMemory(s.addr)
	o.peakMB, o.death = s.peakMB(), s.ended()
	o.refused, o.same = x.refused, x.same
	return o, nil
}
