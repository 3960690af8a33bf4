package persist

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/ascii"
	snapshots "github.com/miniredisd/miniredisd/persist/snapshot"
	"github.com/miniredisd/miniredisd/server"
	"github.com/miniredisd/miniredisd/store"
)

// Background is a save while commands go on (rdb.c: rdbSaveBackground). Package snapshot has a goroutine that writes
// the file.
type Background struct {
	snapshot *snapshots.Snapshot // nil for none
	done     func(err error)     // gets how it ended
	dirty    int64               // changes before it began
	began    int64               // unix seconds
	Took     int64               // seconds that the last one took, -1 for none
	tried    int64               // unix seconds when the last one began
	isWanted bool                // BGSAVE asked for one while it could not begin
}

const (
	errSaving store.Error = "ERR Background save already in progress"
	errBusy   store.Error = "ERR Another child process is active (AOF?): can't BGSAVE right now. Use BGSAVE SCHEDULE in " +
		"order to schedule a BGSAVE whenever possible."
	errNoSave  store.Error = "ERR Background saving is currently not in progress or scheduled"
	retryDelay             = 5 // seconds from a failed save to the next one (server.h: CONFIG_BGSAVE_RETRY_DELAY)
)

// BGSAVE [SCHEDULE | CANCEL] (rdb.c: bgsaveCommand)
// SCHEDULE waits for the end of an AOF rewrite.
func (p *Files) bgsave(c *command.Call) error {
	switch {
	case len(c.Args) == 2 && ascii.EqualFold(c.Args[1], "cancel") && c.Cmd.Offers("cancel"):
		return p.cancel(c)
	case len(c.Args) > 2 || len(c.Args) == 2 && !ascii.EqualFold(c.Args[1], "schedule"):
		return server.ErrSyntax
	case p.Background.snapshot != nil:
		return errSaving
	case p.UnderWay() != nil && c.Ex.Depth == 0 && len(c.Args) == 1:
		return errBusy
	case p.UnderWay() != nil || c.Ex.Depth > 0:
		p.Background.isWanted = true
		c.Status("Background saving scheduled")
		return nil
	case p.beginBackground() != nil:
		return errPlain
	}
	c.Status("Background saving started")
	return nil
}

// cancel ends a save, or forgets one that was to come.
func (p *Files) cancel(c *command.Call) error {
	b := &p.Background
	switch {
	case b.snapshot != nil:
		p.s.Log('*', "Background saving will be aborted due to user request")
		b.snapshot.Abort()
		c.Status("Background saving cancelled")
	case b.isWanted:
		c.Status("Scheduled background saving cancelled")
	default:
		return errNoSave
	}
	b.isWanted = false
	return nil
}

// beginBackground begins a save of what the keyspace is now. The log has the reason if it cannot.
func (p *Files) beginBackground() error { return p.BeginSave(p.SavedInBackground) }

// BeginSave begins a save in the background. done gets how it ended.
func (p *Files) BeginSave(done func(err error)) error {
	b := &p.Background
	p.saves++
	b.dirty, b.tried = p.s.KS.Stats.Dirty, p.Unix()
	if err := p.prepare(); err != nil {
		p.s.Log('#', "Can't save in background: %v", err)
		p.s.Ex.Refusals.Set(command.SaveFailed, true)
		return err
	}
	p.s.Log('*', "Background saving started")
	p.Launch(done, func(wake, ended func()) *snapshots.Snapshot {
		return snapshots.Begin(p.s.KS, p.forRDB(), p.Path(), p.Saving(), wake, ended)
	})
	return nil
}

// Launch begins the snapshot of a save, or of what replicas get. There is one at a time. done gets how it ended.
func (p *Files) Launch(done func(err error), begin func(wake, ended func()) *snapshots.Snapshot) {
	b := &p.Background
	p.s.Stats.Forks++
	p.AOF.At.now = false // with no-appendfsync-on-rewrite nothing is fsynced meanwhile: the next flush knows
	var begun *snapshots.Snapshot
	loop := p.s.Loop // the writer calls these: it must not read p, which LAB CRASH replaces
	begun = begin(func() { loop.Post(func() {}) }, func() {
		loop.Post(func() {
			if b.snapshot == begun {
				p.endBackground()
			}
		})
	})
	b.snapshot, b.done, b.began, p.pace = begun, done, p.Unix(), savePace{last: p.s.Ex.Clock.Mono()}
	if p.Hooks.slowDisk() && !begun.IsStream() {
		p.Hooks.Beside(func() { p.ended(begun.Finish()) })
	}
}

// endBackground waits for the end of the snapshot.
func (p *Files) endBackground() { p.ended(p.Background.snapshot.Wait()) }

func (p *Files) ended(err error) {
	b := &p.Background
	b.snapshot, b.Took = nil, p.Unix()-b.began
	b.done(err)
}

// SavedInBackground notes how a save went (rdb.c: backgroundSaveDoneHandlerDisk).
func (p *Files) SavedInBackground(err error) {
	b := &p.Background
	switch {
	case err == nil:
		p.s.Log('*', "Background saving terminated with success")
		p.s.KS.Stats.Dirty -= b.dirty
		p.saved = p.Unix()
		p.s.Ex.Refusals.Set(command.SaveFailed, false)
	case errors.Is(err, snapshots.ErrAborted):
		p.s.Log('#', "Background saving aborted")
	default:
		p.s.Log('#', "%v", err)
		p.s.Log('#', "Background saving error")
		p.s.Ex.Refusals.Set(command.SaveFailed, true)
	}
}

// AbortBackground ends the save, if there is one. The old file stays.
func (p *Files) AbortBackground() {
	if p.Background.snapshot != nil {
		p.Background.snapshot.Abort()
		p.endBackground()
	}
}

// flushed aborts a save of what FLUSHALL has deleted. With save points the empty keyspace is saved at once (db.c:
// flushAllDataAndResetRDB). Inside of EXEC or a script that would be half of what these change, so it comes later.
func (p *Files) flushed() {
	if p.Background.snapshot != nil {
		p.Background.snapshot.Abort()
	}
	if p.s.Cfg.Save == "" || p.s.IsLoading() {
		return
	}
	p.AbortBackground()
	if p.s.Ex.Depth > 0 {
		ex := p.s.Ex
		p.s.Deferred = append(p.s.Deferred, func() {
			if p.s.Ex == ex { // else LAB CRASH has cut it
				p.flushed()
			}
		})
		return
	}
	_ = p.save() // the log has the reason
}

// UnderWay is the snapshot of a save or of a rewrite of the append only file. There is at most one.
func (p *Files) UnderWay() *snapshots.Snapshot {
	if p.Background.snapshot != nil {
		return p.Background.snapshot
	}
	return p.AOF.rewrite.snapshot
}

// advance gives the snapshot its part of this pass. All commands of the pass are executed.
func (p *Files) advance() {
	if p.Loads() {
		p.loadOn()
		return
	}
	if p.Hooks.slowDisk() {
		p.cron() // each move of the clock may reach a save point
	}
	if snapshot := p.UnderWay(); snapshot != nil {
		clock := p.s.Ex.Clock.Mono
		now := clock()
		snapshot.Advance(clock, now+p.pace.allow(now))
		p.pace.took(now, clock())
	}
}

// longestSleep lets the loop sleep as long as no file has to go on. A snapshot may have work for another pass, soon.
func (p *Files) longestSleep() time.Duration {
	snapshot := p.UnderWay()
	switch {
	case p.Loads():
		return 0
	case snapshot != nil && snapshot.CanAdvance(), p.Hooks.IsBehind != nil && p.Hooks.IsBehind():
		return paceWait
	}
	return -1
}

// savePace gives a save a quarter of the loop's time, in small parts. It is the same part while the loop is idle: a
// loop that never sleeps is put off by the kernel when other programs need the processor, and clients wait for that.
type savePace struct {
	credit int64 // ns that the save may take now; negative after a large collection
	last   int64 // monotonic ns, when it had the loop last
}

const (
	paceMost = 500_000          // ns at once
	paceWait = time.Millisecond // between two passes of an idle loop
)

// allow returns how long the save may run now, in ns.
func (p *savePace) allow(now int64) int64 {
	p.credit = min(p.credit+(now-p.last)/3, paceMost)
	return p.credit
}

// took notes how long it ran.
func (p *savePace) took(from, to int64) {
	p.credit -= to - from
	p.last = to
}

// cron begins a save or a rewrite if it is time for one (server.c: serverCron).
func (p *Files) cron() {
	if p.s.IsLoading() {
		return
	}
	b := &p.Background
	if p.UnderWay() == nil {
		p.AOF.beginWanted()
	}
	if p.UnderWay() == nil {
		p.savePoints()
	}
	if p.UnderWay() == nil {
		p.AOF.beginDue()
	}
	if p.UnderWay() == nil && b.isWanted && !p.failedLately() && p.beginBackground() == nil {
		b.isWanted = false
	}
}

// failedLately reports whether it is too early for another save.
func (p *Files) failedLately() bool {
	return p.s.Ex.Refusals.Has(command.SaveFailed) && p.Unix()-p.Background.tried <= retryDelay
}

func (p *Files) savePoints() {
	now := p.Unix()
	if p.failedLately() {
		return
	}
	for points := strings.Fields(p.s.Cfg.Save); len(points) > 1; points = points[2:] {
		seconds, _ := strconv.ParseInt(points[0], 10, 64)
		changes, _ := strconv.ParseInt(points[1], 10, 64)
		if p.s.KS.Stats.Dirty >= changes && now-p.lastSave() > seconds {
			p.s.Log('*', "%d changes in %d seconds. Saving...", changes, seconds)
			_ = p.beginBackground() // the log has the reason
			return
		}
	}
}

// waits reports whether cron may have to begin a save or a rewrite.
func (p *Files) waits() bool {
	return p.Background.isWanted || p.AOF.rewrite.isWanted || p.AOF.isBroken() ||
		p.s.Cfg.Save != "" && p.s.KS.Stats.Dirty > 0
}

// Unix is the time in unix seconds.
func (p *Files) Unix() int64 { return p.s.KS.Now / 1000 }
