package explore

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/doctor"
	"github.com/miniredisd/miniredisd/lab/verdict"
)

// point is a Point, and how to strike it.
type point struct {
	Point
	glob    string // of the key or the channel
	order   int    // of the client among those with requests about that key
	named   bool   // Client is a name
	reads   bool   // the command can only read
	repeats bool   // it is the same as the point before: a client that tries again and again
}

// noted is the rule that puts messages into the log.
const noted = "explore-messages"

// seen is a request about a lock, or a message, in one run.
type seen struct {
	point
	name   string
	client int64
}

// identity is what makes points of several runs the same.
func (s *seen) identity() Point {
	p := s.Point
	p.Writes, p.Unstable = false, false
	return p
}

// findPoints finds the points in the baselines. The error says why there is none.
func (e *Explorer) findPoints() error {
	if err := e.findLocks(); err != nil {
		return err
	}
	var runs [][]seen
	names := map[string]int{}
	for _, run := range e.base.runs {
		all := e.look(run.Histories)
		runs = append(runs, all)
		for name := range namesOf(all) {
			names[name]++
		}
	}
	index, times := map[Point]int{}, map[Point]int{}
	for _, run := range runs {
		for i := range run {
			s := &run[i]
			s.named = s.name != "" && names[s.name] == len(runs)
			s.Client = fmt.Sprintf("#%d", s.order)
			if s.named {
				s.Client = s.name
			}
			id := s.identity()
			times[id]++
			at, known := index[id]
			if !known {
				at = len(e.points)
				index[id] = at
				e.points = append(e.points, s.point)
			}
			e.points[at].Writes = e.points[at].Writes || s.Writes
		}
	}
	for i := range e.points {
		p := &e.points[i]
		p.Unstable = times[(&seen{point: *p}).identity()] < len(runs)
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

func unstable(p point) int {
	if p.Unstable {
		return 1
	}
	return 0
}

func namesOf(all []seen) map[string]bool {
	names := map[string]bool{}
	for _, s := range all {
		if s.name != "" {
			names[s.name] = true
		}
	}
	return names
}

// findLocks finds the globs of the locks. A lock whose name differs in each run gets a glob for all of them.
func (e *Explorer) findLocks() error {
	e.locks = slices.Clone(e.opt.Keys)
	times := map[string]int{}
	var keys []string
	for _, run := range e.base.runs {
		grants, err := verdict.Grants(run.Histories)
		if err != nil {
			return err
		}
		inRun := map[string]bool{}
		for _, g := range grants {
			if !inRun[g.Key] && !e.listed(g.Key) {
				inRun[g.Key] = true
				if times[g.Key]++; times[g.Key] == 1 {
					keys = append(keys, g.Key)
				}
			}
		}
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

// entry is an entry of a master's log.
type entry struct {
	lab.Entry
	master int // from 1
}

// merged returns the entries of all masters in the order in which they happened.
func merged(histories []lab.History) []entry {
	var all []entry
	for _, h := range histories {
		for _, en := range h.Entries {
			all = append(all, entry{en, h.Master})
		}
	}
	slices.SortStableFunc(all, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.Mono, b.Mono), cmp.Compare(a.master, b.master), cmp.Compare(a.Seq, b.Seq))
	})
	return all
}

// place is a lock on a master, or a channel.
type place struct {
	master  int
	glob    string
	message bool
}

// observer numbers the requests of one run as rules do it.
type observer struct {
	e        *Explorer
	censuses map[place]*lab.Census
	counts   map[string]int       // by place and client
	wrote    map[int64]bool       // by client: the script or EXEC that runs has changed a key
	inside   map[int]*transaction // by master
	all      []seen
	last     map[string]int // index in all of the newest request, by place and client
}

// look returns the points of a run in the order of the log.
func (e *Explorer) look(histories []lab.History) []seen {
	o := &observer{e: e, censuses: map[place]*lab.Census{}, counts: map[string]int{}, wrote: map[int64]bool{},
		inside: map[int]*transaction{}, last: map[string]int{}}
	for _, en := range merged(histories) {
		switch {
		case en.Event == noted && len(en.Cmd) > 0:
			o.message(en)
		case len(en.Cmd) == 0 || en.Client == 0:
		case en.By == doctor.Exec:
			o.queued(en)
		case en.By != "":
			o.wrote[en.Client] = o.wrote[en.Client] || changes(en)
		default:
			o.executed(en.master)
			o.request(en)
		}
	}
	for master := range e.opt.Masters {
		o.executed(master + 1)
	}
	return o.all
}

// transaction is an EXEC under way. The log has its commands, and no entry for the EXEC itself.
type transaction struct {
	first entry
	keys  []string
	words []string
}

// queued takes a command of EXEC.
func (o *observer) queued(en entry) {
	t := o.inside[en.master]
	if t == nil || t.first.Run != en.Run {
		o.executed(en.master)
		t = &transaction{first: en}
		o.inside[en.master] = t
	}
	about, _ := doctor.Describe(en.Cmd)
	t.keys = append(t.keys, about.Keys...)
	t.words = append(t.words, en.Cmd[1:]...)
	o.wrote[en.Client] = o.wrote[en.Client] || changes(en)
}

// executed ends the EXEC of a master, if one is under way.
func (o *observer) executed(master int) {
	if t := o.inside[master]; t != nil {
		delete(o.inside, master)
		o.add(t.first, "EXEC", doctor.About{Keys: t.keys, Runs: true}, t.words)
	}
}

func (o *observer) request(en entry) {
	name := strings.ToUpper(en.Cmd[0])
	if name == "WAIT" || name == "WAITAOF" {
		return // they name no lock; the verdict reads them
	}
	about, ok := doctor.Describe(en.Cmd)
	words := en.Cmd[1:]
	if about.Runs {
		words = en.Cmd[min(2, len(en.Cmd)):]
		unknown := strings.HasPrefix(en.Reply, "NOSCRIPT") || strings.Contains(en.Reply, "Function not found")
		if en.Outcome == lab.Failed && unknown {
			return // the text follows, and that is the same step
		}
	}
	if !ok {
		about.Keys = []string{en.Key}
		name = ""
	}
	o.add(en, name, about, words)
}

// add numbers a request about each lock that it names. It is a point of the first one.
func (o *observer) add(en entry, name string, about doctor.About, words []string) {
	wrote := changes(en) || o.wrote[en.Client]
	delete(o.wrote, en.Client)
	keys := slices.Clone(about.Keys)
	if !slices.Contains(keys, en.Key) && en.Key != "" {
		keys = append(keys, en.Key)
	}
	args := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return slices.Contains(keys, w) })
	first := true
	for _, glob := range o.globs(en, about, keys) {
		at := place{en.master, glob, false}
		number := o.census(at).Number(en.Client, en.Name, args)
		who := fmt.Sprint(at, number)
		o.counts[who]++
		if name == "" || !first {
			continue
		}
		first = false
		p := point{glob: glob, order: number, reads: !about.Writes && !about.Runs}
		p.N, p.Command, p.Key, p.Master, p.Writes = o.counts[who], name, shown(glob), en.master, wrote
		if i, ok := o.last[who]; ok && !wrote {
			before := &o.all[i]
			p.repeats = before.Command == name && !before.Writes
		}
		o.last[who] = len(o.all)
		o.all = append(o.all, seen{p, en.Name, en.Client})
	}
}

// globs returns the locks that keys belong to. A PUBLISH that has reached somebody is about its channel.
func (o *observer) globs(en entry, about doctor.About, keys []string) (globs []string) {
	if about.Publishes {
		if en.Reply == "0" || len(keys) == 0 {
			return nil
		}
		return []string{o.e.channel(keys[0])}
	}
	for _, key := range keys {
		if glob := o.e.lockOf(key); glob != "" && !slices.Contains(globs, glob) {
			globs = append(globs, glob)
		}
	}
	return globs
}

func (o *observer) census(at place) *lab.Census {
	if o.censuses[at] == nil {
		o.censuses[at] = &lab.Census{}
	}
	return o.censuses[at]
}

// message takes a message to a waiter.
func (o *observer) message(en entry) {
	at := place{en.master, o.e.channel(en.Key), true}
	number := o.census(at).Number(en.Client, en.Name, nil)
	who := fmt.Sprint(at, number)
	o.counts[who]++
	p := point{glob: at.glob, order: number}
	p.N, p.Command, p.Key, p.Master, p.Message = o.counts[who], en.Cmd[0], shown(at.glob), en.master, true
	o.all = append(o.all, seen{p, en.Name, en.Client})
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

// changes reports whether a command has changed a key, as far as its reply tells.
func changes(en entry) bool {
	about, ok := doctor.Describe(en.Cmd)
	if !ok || !about.Writes || en.Outcome == lab.Failed || en.Outcome == lab.NotExecuted {
		return false
	}
	name := strings.ToLower(en.Cmd[0])
	switch {
	case en.Kind == "_":
		return slices.ContainsFunc(en.Cmd, func(w string) bool { return strings.EqualFold(w, "get") })
	case name == "hset" || name == "hmset" || strings.HasPrefix(name, "hincr"):
		return true
	case en.Kind == ":" || en.Kind == "":
		return en.Reply != "0"
	}
	return true
}
