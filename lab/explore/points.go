package explore

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/lab/verdict"
)

// point is a Point, and how to strike it.
type point struct {
	Point
	glob    string // of the key or the channel; "" for a command that changes all keys
	order   int    // of the client among those with requests about that key
	script  string // the SHA1 of the script, or the name of the function; "" if it runs none
	named   bool   // Client is a name
	reads   bool   // the command can only read
	repeats bool   // two requests before it are the same, and nobody has changed the key between them

	// Requests of other kinds that come between may differ in each run. So there is a second way to count: among the
	// requests with the same command, or the same script.
	kindOrder, kindN int
	byKind           bool // the second way is needed
}

// noted is the rule that puts messages into the log.
const noted = "explore-messages"

// seen is a request about a lock, or a message, in one run.
type seen struct {
	point
	name   string
	client int64
	polled time.Duration // since the poll before it; 0 if the request before it was none
}

// identity is what makes points of several runs the same.
type identity struct {
	client, command, key string
	master, n            int
	message              bool
}

func (p *point) identity() identity {
	id := identity{p.Client, cmp.Or(p.script, p.Command), p.Key, p.Master, p.kindN, p.Message}
	if p.Message {
		id.n = p.N
	}
	return id
}

// findPoints finds the points in the baselines. The error says why there is none.
func (e *Explorer) findPoints() error {
	if err := e.findLocks(); err != nil {
		return err
	}
	var runs [][]seen
	for _, run := range e.base.runs {
		all, _ := e.look(run.Histories)
		runs = append(runs, all)
	}
	e.nameClients()
	index, times := map[identity]int{}, map[identity]int{}
	for _, run := range runs {
		for _, s := range run {
			e.polls = max(e.polls, s.polled)
			s.Client, s.named = s.name, e.names[s.name]
			if !s.named {
				s.Client = number(s.order)
			}
			id := s.identity()
			times[id]++
			at, known := index[id]
			if !known {
				at = len(e.points)
				index[id] = at
				e.points = append(e.points, s.point)
			}
			p := &e.points[at]
			p.Writes, p.repeats = p.Writes || s.Writes, p.repeats && s.repeats
			p.byKind = p.byKind || p.N != s.N || p.order != s.order && !p.named
		}
	}
	watched := map[string]bool{} // by glob: an EXEC may do nothing, and then the log lacks it, and rules count it
	for _, p := range e.points {
		watched[p.glob] = watched[p.glob] || p.Command == "WATCH"
	}
	for i := range e.points {
		p := &e.points[i]
		p.byKind = p.byKind || watched[p.glob]
		p.Unstable = times[p.identity()] < len(runs)
		p.byKind = p.byKind || p.Unstable
	}
	slices.SortStableFunc(e.points, func(a, b point) int { return unstable(a) - unstable(b) })
	if len(e.points) == 0 {
		return errors.New("no request about a lock was seen" + e.saw())
	}
	for _, p := range e.points {
		e.report.Points = append(e.report.Points, p.Point)
		e.report.Cells = append(e.report.Cells, make([]Cell, len(e.faults)))
	}
	return nil
}

// nameClients finds the names that clients have in each baseline.
func (e *Explorer) nameClients() {
	times := map[string]int{}
	for _, run := range e.base.runs {
		inRun := map[string]bool{}
		for _, en := range merged(run.Histories) {
			inRun[en.Name] = true
		}
		for name := range inRun {
			times[name]++
		}
	}
	e.names = map[string]bool{}
	for name, n := range times {
		e.names[name] = name != "" && n == len(e.base.runs)
	}
}

func unstable(p point) int {
	if p.Unstable {
		return 1
	}
	return 0
}

// findLocks finds the globs of the locks. A lock whose name differs in each run gets a glob for all of them.
func (e *Explorer) findLocks() error {
	e.locks = slices.Clone(e.opt.Keys)
	keys, times, err := e.granted()
	if err != nil {
		return err
	}
	for key := range e.opt.Limits {
		e.locks = append(e.locks, globOf(key))
	}
	slices.Sort(e.locks[len(e.opt.Keys):])
	for _, key := range keys {
		glob := globOf(key)
		if times[key] < len(e.base.runs) {
			glob = classOf(key)
		}
		if !slices.Contains(e.locks, glob) {
			e.locks = append(e.locks, glob)
		}
	}
	if len(e.locks) == 0 {
		return errors.New("no command took a lock" + e.saw() +
			"; a lock is SET with NX, SETNX, or a script that takes one; " +
			e.opt.option("--key GLOB", "Locks or keys") + " names others")
	}
	return nil
}

// granted returns the keys that baselines took as locks, in order, and in how many baselines each was taken. The report
// names the keys that only look like locks.
func (e *Explorer) granted() (keys []string, times map[string]int, err error) {
	times, aside := map[string]int{}, map[string]string{}
	for _, run := range e.base.runs {
		grants, err := verdict.Grants(run.Histories)
		if err != nil {
			return nil, nil, err
		}
		inRun := map[string]bool{}
		for _, g := range grants {
			if inRun[g.Key] || e.listed(g.Key) {
				continue
			}
			inRun[g.Key] = true
			if why := beside(run.Histories, g.Key); why != "" {
				aside[shown(classOf(g.Key))] = why
			} else if times[g.Key]++; times[g.Key] == 1 {
				keys = append(keys, g.Key)
			}
		}
	}
	for _, glob := range slices.Sorted(maps.Keys(aside)) {
		e.report.Notes = append(e.report.Notes, glob+" was not taken for a lock: "+aside[glob])
	}
	return keys, times, nil
}

// listed reports whether --key or --limit names a key.
func (e *Explorer) listed(key string) bool {
	_, limited := e.opt.Limits[key]
	return limited || slices.ContainsFunc(e.opt.Keys, func(glob string) bool { return matches(glob, key) })
}

// saw says what the baselines had instead of locks.
func (e *Explorer) saw() string {
	times := map[string]int{}
	for _, h := range e.base.runs[0].Histories {
		for _, en := range h.Entries {
			if en.By == "" && len(en.Cmd) > 0 && en.Event != noted {
				times[strings.ToUpper(en.Cmd[0])]++
			}
		}
	}
	if len(times) == 0 {
		found := "It finds the server by REDIS_URL, or by REDIS_HOST and REDIS_PORT"
		if e.opt.InTest {
			found = "Its clients have to connect to the server of the trial: in Go by Dial, or to Addr with RealTime"
		}
		return ": " + e.opt.explored() + " sent no command about a key. " + found
	}
	var names []string
	for name, n := range times {
		names = append(names, fmt.Sprintf("%s (%d)", name, n))
	}
	slices.Sort(names)
	return ", only " + strings.Join(names[:min(len(names), 12)], ", ")
}

// lockOf returns the glob of the lock that key is, or "".
func (e *Explorer) lockOf(key string) string {
	for _, glob := range e.locks {
		if matches(glob, key) {
			return glob
		}
	}
	return ""
}

// channel returns the glob of a channel: with the parts that differ between locks of one kind left open, if the
// locks have globs.
func (e *Explorer) channel(name string) string {
	if slices.ContainsFunc(e.locks, func(glob string) bool { return glob != globOf(shown(glob)) }) {
		return classOf(name)
	}
	return globOf(name)
}
