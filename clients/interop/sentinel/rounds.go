package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"
)

// round is one failover under load.
type round struct {
	named    time.Duration // until the sentinels name a new master
	writes   time.Duration // until each writer has written to it
	returned time.Duration // from the fault's end until the old master is a replica
}

// series is several failovers of one group, one after another, and what they have cost.
type series struct {
	rounds []round
	balance
}

// failOver loses the master of a group n times, each time in the given way, and checks the data at the end.
func failOver(g *group, how string, n int) (s series, err error) {
	l := startLoad(g)
	for i := 0; i < n && err == nil; i++ {
		var r round
		if r, err = oneRound(g, l, how); err == nil {
			s.rounds = append(s.rounds, r)
		}
	}
	l.end()
	if err == nil {
		err = g.caughtUp()
	}
	if err == nil {
		s.balance, err = l.count()
	}
	switch {
	case err != nil:
	case s.confirmed == 0:
		err = errors.New("WAIT has confirmed no write")
	case s.confirmedLost > 0:
		err = fmt.Errorf("%d writes are lost that WAIT had confirmed", s.confirmedLost)
	}
	if err != nil {
		err = fmt.Errorf("%d of %d failovers, master %s: %w", len(s.rounds), n, how, errors.Join(err, g.logs()))
	}
	return s, err
}

func oneRound(g *group, l *load, how string) (r round, err error) {
	before := l.confirms()
	if err := until(groupLimit, "WAIT confirms writes", func() bool { return l.confirms() > before }); err != nil {
		return r, err
	}
	began := time.Now()
	if err := g.lose(how); err != nil {
		return r, err
	}
	l.mark()
	old, err := g.awaitMaster()
	if err != nil {
		return r, err
	}
	r.named = time.Since(began)
	if r.writes, err = l.awaitWrites(); err != nil {
		return r, err
	}
	back := time.Now()
	err = g.bringBack(old, how)
	r.returned = time.Since(back)
	return r, err
}

// runRounds plays series on each server, and prints a table.
func runRounds(o options, kinds []programs) error {
	fmt.Printf("%-14s %-7s %5s  %-15s  %-15s  %-15s  %-20s  %s\n", "server", "fault", "times", "new master", "all write",
		"old one back", "acknowledged, lost", "confirmed, lost")
	var failed error
	for _, how := range o.faults {
		for _, p := range kinds {
			s, err := playSeries(p, how, o.rounds)
			failed = errors.Join(failed, err)
			fmt.Println(s.row(p, how))
		}
	}
	return failed
}

func playSeries(p programs, how string, n int) (series, error) {
	dir, err := os.MkdirTemp("", "sentinel")
	if err != nil {
		return series{}, err
	}
	defer os.RemoveAll(dir)
	g, err := startGroup(dir, p, how == cutOff)
	if err != nil {
		return series{}, err
	}
	defer g.stop()
	return failOver(g, how, n)
}

func (s series) row(p programs, how string) string {
	span := func(of func(round) time.Duration) string {
		var all []time.Duration
		for _, r := range s.rounds {
			all = append(all, of(r))
		}
		if len(all) == 0 {
			return "-"
		}
		slices.Sort(all)
		return fmt.Sprintf("%.1f (%.1f to %.1f)", all[len(all)/2].Seconds(), all[0].Seconds(), all[len(all)-1].Seconds())
	}
	return fmt.Sprintf("%-14s %-7s %5d  %-15s  %-15s  %-15s  %-20s  %s", p.name(), how, len(s.rounds),
		span(func(r round) time.Duration { return r.named }), span(func(r round) time.Duration { return r.writes }),
		span(func(r round) time.Duration { return r.returned }),
		fmt.Sprintf("%d, %d", s.acknowledged, s.lost), fmt.Sprintf("%d, %d", s.confirmed, s.confirmedLost))
}
