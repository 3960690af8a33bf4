package lab

import (
	"bytes"
	"maps"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/persist/aof"
	"github.com/miniredisd/miniredisd/persist/disk"
	"github.com/miniredisd/miniredisd/store"
)

// With lab-disk, LAB CRASH kills more than the keys in memory: the files lose what was not fsynced. The server that
// starts again loads what is left.
//
//	LAB CRASH ──> loseFiles ── DOWN ──> loadFiles ──> compare: which keys are not what they were?
//
// The log and the doctor are told of those keys only. A lock that is as it was has the same holder.

// outage is what the next LAB CRASH does to bytes that were not fsynced, besides losing them.
type outage struct {
	torn    int  // so many of each file stay
	reorder bool // the seed chooses which writes stay, whole or a half
}

func (l *State) hasDisk() bool { return l.disk != nil }

// loseFiles is the end of the process and of its disk's cache. The server has no files until loadFiles.
func (l *State) loseFiles(lose loss) {
	switch {
	case lose == loseNothing:
		l.Persist.AOF.End() // what has arrived in the file stays
		l.disk.Keep()
	case lose == loseAll:
		l.disk.Wipe()
	case l.outage.reorder:
		l.disk.Crash()
	default:
		l.disk.Lose(l.outage.torn)
	}
	l.outage, l.syncing = outage{}, nil
	l.Persist.StartAgain()
}

// loadFiles loads what the disk has, and compares it with what the server had. A server that cannot load its files
// ends, as in Redis.
func (l *State) loadFiles() {
	had := l.stored
	if had == nil {
		return
	}
	l.stored = nil
	for _, db := range l.KS.DBs { // the program around may have used a server that is down
		db.Flush()
	}
	if err := l.Persist.Start(); err != nil {
		l.Log('#', "Starting again after LAB CRASH: %v", err)
		l.Fatal = err
		l.Loop.Stop()
		return
	}
	l.touches.forget()
	l.Figures.Started = l.KS.Now
	for i, db := range had.DBs {
		l.compare(db, l.KS.DBs[i])
		expireOverdue(l.KS.DBs[i])
	}
}

// expireOverdue deletes the keys of an append only file whose time has come while the server was down. Elsewhere that
// happens as the time goes on, but the clock of a lab may stand still.
func expireOverdue(db *store.DB) {
	var overdue []string
	for key := range db.Values() {
		if k := db.Peek([]byte(key)); k.Overdue() {
			overdue = append(overdue, strings.Clone(key))
		}
	}
	for _, key := range overdue {
		db.Lookup([]byte(key), store.LookupNoNotify|store.LookupNoStats)
	}
}

// compare tells the log and the doctor of the keys that are not as they were.
func (l *State) compare(had, has *store.DB) {
	now := maps.Collect(has.Values())
	for key, v := range had.Values() {
		found, is := now[key]
		delete(now, key)
		switch {
		case !is && v.Expire() != 0 && v.Expire() <= l.KS.Now: // while the server was down
			gone := lab.Change{DB: has.ID, Key: lab.Printable(key), Cause: lab.ByExpiry, Before: labValue(v)}
			l.expired(has, key, []lab.Change{gone})
		case !is:
			l.doctor.Differs(has.ID, key, l.KS.Now, lab.NeverOnDisk)
			l.logDisk(has, key, lab.NeverOnDisk, labValue(v), store.Value{}, false)
		case !same(v, found):
			l.doctor.Differs(has.ID, key, l.KS.Now, lab.OlderOnDisk)
			l.logDisk(has, key, lab.OlderOnDisk, labValue(v), found, true)
		case v.Expire() != found.Expire():
			l.doctor.Expires(has.ID, key, found.Expire(), lab.ExpiryOnDisk)
			l.logDisk(has, key, lab.ExpiryOnDisk, labValue(v), found, true)
		}
	}
	for key, v := range now {
		l.logDisk(has, key, lab.BackFromDisk, nil, v, true)
	}
}

// logDisk logs a key that is not as it was. It is missing unless is.
func (l *State) logDisk(db *store.DB, key, why string, was *lab.Value, now store.Value, is bool) {
	if !l.history.Watches([]byte(key)) {
		return
	}
	c := lab.Change{DB: db.ID, Key: lab.Printable(key), Cause: lab.ByLoss, Before: was}
	if is {
		c.After = labValue(now)
	}
	c.Reduce(true)
	e := l.newEntry(nil, lab.EventDisk)
	e.Key, e.DB, e.Outcome, e.Reply, e.To = lab.Printable(key), db.ID, lab.Executed, why, now.Expire()
	e.Changes = []lab.Change{c}
	l.history.Add(e)
}

// same reports whether two values are equal. It compares strings and hashes wholly, and others as the log does.
func same(a, b store.Value) bool {
	switch {
	case a.Type() != b.Type():
		return false
	case a.Type() == store.TypeString:
		return bytes.Equal(a.Text(), b.Text())
	case a.Type() == store.TypeHash:
		return maps.Equal(fields(a), fields(b))
	}
	c := lab.Change{Before: labValue(a), After: labValue(b)}
	c.Before.Deadline = c.After.Deadline
	return !c.Reduce(false)
}

func fields(v store.Value) map[string]string {
	all := map[string]string{}
	for field, value := range store.As[*store.Hash](v).All() {
		all[string(field)] = string(value)
	}
	return all
}

// pace makes the fsync of everysec take as long as LAB DISK SLOW says.
func (l *State) pace(w *aof.Writer) {
	w.Begin(l.Persist.Now())
	w.Elsewhere, w.Wake, w.Hurry = nil, func() { l.Persist.Flush() }, l.endSync
	if l.disk.SlowBy(disk.OpFsync) > 0 {
		w.Elsewhere = l.syncLater
	}
}

// syncLater ends an fsync by the lab's clock.
func (l *State) syncLater(job func()) {
	l.syncing = job
	l.After(time.Duration(l.disk.SlowBy(disk.OpFsync))*time.Millisecond, func() { l.endSync() })
}

// endSync ends the slow fsync that is under way, if there is one. Somebody may wait for it on this goroutine.
func (l *State) endSync() {
	if l.syncing == nil {
		return
	}
	job := l.syncing
	l.syncing = nil
	l.beside(job)
}

// beside calls fn, which uses the disk in the background: the loop does not stand still meanwhile.
func (l *State) beside(fn func()) {
	l.took += l.disk.Slept()
	fn()
	l.disk.Slept()
}

// isBehind reports whether the loop stood still for a slow disk, and the clock has not moved yet.
func (l *State) isBehind() bool {
	if !l.hasDisk() {
		return false
	}
	l.took += l.disk.Slept()
	return l.took > 0
}

// diskTook moves the clock by the time for which the loop stood still.
func (l *State) diskTook() {
	if !l.isBehind() {
		return
	}
	mono := l.Ex.Clock.Mono()
	now := l.Clock.Now(mono)
	l.logMoved(now/1e6, now/1e6+l.took, false)
	l.Clock.Set(mono, now+l.took*1e6)
	l.took = 0
}
