package persist

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/persist/aof"
	"github.com/miniredisd/miniredisd/persist/rdb"
	snapshots "github.com/miniredisd/miniredisd/persist/snapshot"
	"github.com/miniredisd/miniredisd/store"
)

// rewriting makes the append only file short again (aof.c: rewriteAppendOnlyFileBackground). A snapshot writes the keys
// of one moment as a new base. From that moment on, commands are appended to a new part. When the base is complete, the
// manifest names it and the new part, and the rest is removed. The goroutine of the snapshot does all of that:
// aof.Rewrite.
type rewriting struct {
	snapshot *snapshots.Snapshot // nil for none
	job      *aof.Rewrite
	kind     aof.Kind
	began    int64 // unix seconds
	took     int64 // seconds that the last one took, -1 for none
	isWanted bool  // one shall begin as soon as it can (server.h: aof_rewrite_scheduled)

	failed   bool  // the last one
	count    int64 // of all
	failures int64 // without a success between them
	delay    int64 // minutes; see limited
	next     int64 // unix seconds
}

const (
	errRewriting store.Error = "ERR Background append only file rewriting already in progress"
	errRewrite   store.Error = "ERR Can't execute an AOF background rewriting. Please check the server logs for more " +
		"information."
)

// BGREWRITEAOF (aof.c: bgrewriteaofCommand)
func (p *Files) bgrewriteaof(c *command.Call) error {
	r := &p.AOF.rewrite
	switch {
	case r.snapshot != nil:
		return errRewriting
	case p.UnderWay() != nil || c.Ex.Depth > 0:
		r.isWanted, r.failures = true, 0
		c.Status("Background append only file rewriting scheduled")
		return nil
	case p.AOF.beginRewrite() != nil:
		return errRewrite
	}
	c.Status("Background append only file rewriting started")
	return nil
}

// beginRewrite begins a rewrite. The log has the reason if it cannot.
func (a *appendOnly) beginRewrite() error {
	p, r := a.p, &a.rewrite
	if err := a.turn(); err != nil {
		p.s.Log('#', "Can't rewrite append only file in background: %v", err)
		r.failed = true
		r.failures++
		return err
	}
	r.count++
	p.s.Stats.Forks++
	a.At.now = false
	saving, job, keep, on := p.savingBase(), r.job, p.s.Cfg.AOFDisableAutoGC, p.forBase()
	write := func(fill func(to io.Writer) error) error {
		return job.Write(func(path string) error { return rdb.SaveBy(on, path, fill) }, keep)
	}
	var begun *snapshots.Snapshot
	loop := p.s.Loop // the writer calls these: it must not read p, which LAB CRASH replaces
	begun = snapshots.BeginBy(p.s.KS, write, saving, func() { loop.Post(func() {}) }, func() {
		loop.Post(func() {
			if r.snapshot == begun {
				a.endRewrite()
			}
		})
	})
	p.s.Log('*', "Background append only file rewriting started")
	r.snapshot, r.began, r.isWanted = begun, p.Unix(), false
	p.pace = savePace{last: p.s.Ex.Clock.Mono()}
	if p.Hooks.slowDisk() {
		p.Hooks.Beside(func() { a.rewritten(begun.Finish()) })
	}
	return nil
}

// turn makes the part that commands go to from now on.
func (a *appendOnly) turn() (err error) {
	if err := a.ready(); err != nil {
		return err
	}
	kind := aof.Alone
	switch {
	case a.Writer != nil:
		kind = aof.Chained
		err := a.Writer.Drain(a.p.Now())
		if err != nil { // with always the server ends before its next reply
			return err
		}
		if a.Writer.Broken() {
			kind = aof.Apart
		}
	case a.waits:
		kind = aof.Apart
	}
	a.folder.Commands = !a.p.s.Cfg.AOFUseRDBPreamble
	job, part, err := a.folder.Rewrite(a.manifest, kind)
	if err != nil {
		return err
	}
	if kind != aof.Alone {
		a.p.s.Log('*', "Creating AOF incr file %s on background rewrite", job.PartName())
	}
	switch {
	case kind == aof.Alone:
	case a.Writer == nil:
		a.before, a.base = 0, 0
		a.write(part, 0)
	default:
		a.before += a.Writer.State().Size
		a.Writer.Turn(part)
		a.feed()
	}
	a.rewrite.job, a.rewrite.kind, a.manifest = job, kind, job.Manifest
	return nil
}

// ready makes sure of the folder, and knows its manifest.
func (a *appendOnly) ready() error {
	if err := a.refused(); err != nil {
		return err
	}
	knew := a.hasFolder()
	err := a.open()
	switch {
	case err == nil && !knew && a.manifest != nil && a.isOthers():
		a.release()
		return fmt.Errorf("another server has appended to %s: give this one another dir", a.folder.Path)
	case err != nil || a.manifest != nil:
		return err
	}
	a.manifest, err = aof.ReadManifest(a.folder.On, a.folder.ManifestPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// endRewrite waits for the end of the rewrite and notes how it went (aof.c: backgroundRewriteDoneHandler).
func (a *appendOnly) endRewrite() { a.rewritten(a.rewrite.snapshot.Wait()) }

func (a *appendOnly) rewritten(err error) {
	r, log := &a.rewrite, a.p.s.Log
	a.manifest = r.job.Manifest
	r.snapshot, r.took = nil, a.p.Unix()-r.began
	switch {
	case err == nil:
		log('*', "Background AOF rewrite terminated with success")
		r.failed, r.failures = false, 0
		if a.Writer != nil {
			a.Writer.Trust()
			a.waits = false
			a.before = r.job.Bytes
			a.base = a.before + a.Writer.State().Size
		}
		log('*', "Background AOF rewrite finished successfully")
		return
	case errors.Is(err, snapshots.ErrAborted):
		log('#', "Background AOF rewrite aborted")
	default:
		r.failed = true
		r.failures++
		log('#', "%v", err)
		log('#', "Background AOF rewrite terminated with error")
	}
	if r.kind != aof.Apart {
		return
	}
	log('*', "Removing the temp incr aof file %s in the background", a.folder.TemporaryPart())
	a.Writer.Drop()
	if a.waits {
		a.unlisten()
		r.isWanted = true
	}
}

// unlisten appends nothing any more.
func (a *appendOnly) unlisten() {
	ex := a.p.s.Ex
	ex.Propagation.Listen(nil)
	a.Writer = nil
	ex.Refusals.Set(command.AOFFailed, false)
	a.At = appended{Appended: a.At.Appended, synced: a.At.synced}
	a.p.History.Fsynced() // whoever waits gets an error
}

// abortRewrite ends the rewrite, if there is one.
func (a *appendOnly) abortRewrite() {
	if a.rewrite.snapshot != nil {
		a.rewrite.snapshot.Abort()
		a.endRewrite()
	}
}

// beginWanted begins a rewrite that had to wait, or that makes the file whole after a failed fsync.
func (a *appendOnly) beginWanted() {
	if (a.rewrite.isWanted || a.mendsNow()) && !a.limited() {
		_ = a.beginRewrite() // the log has the reason
	}
}

// mendsNow reports whether the file is to be made whole: a second after a failed fsync.
func (a *appendOnly) mendsNow() bool { return a.isBroken() && a.p.Now()-a.brokenSince >= 1000 }

func (a *appendOnly) isBroken() bool { return a.Writer != nil && a.Writer.Broken() }

// beginDue begins a rewrite if the file has grown enough since the last one.
func (a *appendOnly) beginDue() {
	cfg := a.p.s.Cfg
	if a.Writer == nil || a.waits || cfg.AutoAOFRewritePercentage == 0 {
		return
	}
	size := a.size()
	growth := size*100/max(a.base, 1) - 100
	if size <= cfg.AutoAOFRewriteMinSize || growth < int64(cfg.AutoAOFRewritePercentage) || a.limited() {
		return
	}
	a.p.s.Log('*', "Starting automatic rewriting of AOF on %d%% growth", growth)
	_ = a.beginRewrite() // the log has the reason
}

// size is that of all parts.
func (a *appendOnly) size() int64 {
	if a.Writer == nil {
		return 0
	}
	return a.before + a.Writer.State().Size
}

const (
	failuresMost = 3  // in a row, before a rewrite by itself has to wait (aof.c: AOF_REWRITE_LIMITE_THRESHOLD)
	delayMost    = 60 // minutes
)

// limited reports whether too many rewrites have failed for another one now (aof.c: aofRewriteLimited). The first wait
// is a minute, and each one is twice as long as the one before.
func (a *appendOnly) limited() bool {
	r, now := &a.rewrite, a.p.Unix()
	switch {
	case r.failures < failuresMost:
		r.delay, r.next = 0, 0
		return false
	case r.next != 0 && now < r.next:
		return true
	case r.next != 0:
		r.next = 0
		return false
	}
	r.delay = min(max(2*r.delay, 1), delayMost)
	r.next = now + 60*r.delay
	a.p.s.Log('#', "Background AOF rewrite has repeatedly failed and triggered the limit, will retry in %d minutes",
		r.delay)
	return true
}

// mayEnd aborts a rewrite before the server ends. The first base of a file must be complete, unless force.
func (a *appendOnly) mayEnd(force bool) bool {
	switch {
	case a.waits && a.rewrite.snapshot != nil && !force:
		a.p.s.Log('#', "Writing initial AOF, can't exit.")
		return false
	case a.waits && a.rewrite.snapshot != nil:
		a.p.s.Log('#', "Writing initial AOF. Exit anyway.")
	case a.rewrite.snapshot != nil:
		a.p.s.Log('#', "There is a child rewriting the AOF. Killing it!")
	}
	a.abortRewrite()
	return true
}

// clean removes the history that aof-disable-auto-gc has kept.
func (a *appendOnly) clean() {
	if a.p.s.Cfg.AOFDisableAutoGC || a.manifest == nil || a.rewrite.snapshot != nil {
		return
	}
	if err := a.folder.Clean(a.manifest); err != nil {
		a.p.s.Log('#', "Can't remove the history of the append only file: %v", err)
	}
}
