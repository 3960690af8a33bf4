package persist

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/persist/aof"
	"github.com/miniredisd/miniredisd/persist/disk"
	"github.com/miniredisd/miniredisd/reactor"
	"github.com/miniredisd/miniredisd/store"
)

// appendOnly is the append only file (aof.c). When the server starts, what is there is loaded. From then on each pass
// appends what it has changed. CONFIG SET appendonly begins and ends it while the server runs: switch.go.
//
//	executePhase ── Propagation ──> Writer.Append
//	BeforeSleep ───── flush ──────> Writer.Flush ──> then write, for the replies
type appendOnly struct {
	p        *Files
	folder   aof.Folder
	manifest *aof.Manifest // in force; nil as long as nobody has asked for it
	Writer   *aof.Writer   // nil without one
	waits    bool          // for the first base: until then nothing counts (server.h: AOF_WAIT_REWRITE)
	rewrite  rewriting

	before  int64 // bytes of the parts before the one that is appended to
	base    int64 // bytes when the last rewrite ended
	stamped int64 // unix seconds of the last annotation
	began   int64 // at.appended when the Writer began
	At      appended
	timer   *reactor.Timer
	due     int64 // when it runs

	brokenSince int64 // ms of Files.Now, when an fsync failed

	Slow time.Duration // sleep before each write, for tests

	lock disk.Lock // of the folder
}

// startAOF loads the append only file and begins a new part. If there is none yet, it begins with what an older
// server has left: the single file of versions before 7.0, or an RDB file.
func (p *Files) startAOF() error {
	if err := p.AOF.refused(); err != nil {
		return err
	}
	return p.AOF.begin()
}

// refused says what an append only file cannot do here.
func (a *appendOnly) refused() error {
	switch s := a.p.s; {
	case s.Cfg.Lab && !s.Cfg.LabDisk:
		return errors.New("appendonly yes with a lab needs --lab-disk yes: a crash of the lab has to lose files, too")
	case a.p.shares() && s.Port() == 0:
		return errors.New("appendonly yes needs a port: each of several masters has a folder named after it")
	}
	return nil
}

func (a *appendOnly) begin() error {
	if err := a.open(); err != nil {
		return err
	}
	f := &a.folder
	manifest, err := aof.ReadManifest(f.On, f.ManifestPath())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return a.upgrade()
	case err == nil:
		err = a.finishMove(manifest)
	}
	if err != nil {
		return err
	}
	tail, err := a.load(func(l *aof.Loading) error { return a.loadParts(l, manifest) })
	if err != nil {
		return err
	}
	switch {
	case tail == nil:
		err = a.listen(f.Resume(manifest))
	case tail.Torn || len(manifest.Incr) == 0:
		err = a.listen(f.Begin(manifest, a.p.writeBase))
	default:
		err = a.listen(f.Cut(manifest, tail.Whole))
	}
	a.clean()
	return err
}

// open makes the folder and reserves it.
func (a *appendOnly) open() error {
	p := a.p
	a.folder = aof.Folder{
		On: p.Disk, Path: filepath.Join(p.Folder(), p.s.Cfg.AppendDirname), Name: p.s.Cfg.AppendFilename,
		Commands: !p.s.Cfg.AOFUseRDBPreamble,
	}
	if a.hasFolder() {
		return nil
	}
	a.release()
	if err := p.MakeFolder(); err != nil {
		return err
	}
	if err := p.Disk.Mkdir(a.folder.Path); err != nil {
		return err
	}
	if err := p.Disk.SyncDir(filepath.Dir(a.folder.Path)); err != nil {
		return err
	}
	lock, err := p.Disk.Lock(a.folder.Path)
	if errors.Is(err, disk.ErrLocked) {
		return fmt.Errorf("another server appends to %s: give this one another dir", a.folder.Path)
	}
	a.lock = lock
	return err
}

// hasFolder reports whether the folder is reserved, and nobody has removed it since.
func (a *appendOnly) hasFolder() bool { return a.lock.IsHere != nil && a.lock.IsHere() }

// isOthers reports whether another server has begun an append only file in the folder.
func (a *appendOnly) isOthers() bool {
	f, err := a.folder.On.Open(a.folder.ManifestPath())
	if err == nil {
		_ = f.Close()
	}
	return !errors.Is(err, fs.ErrNotExist)
}

// release lets other servers use the folder.
func (a *appendOnly) release() {
	if a.lock.Release != nil {
		a.lock.Release()
		a.lock = disk.Lock{}
	}
}

// single is the path of the file of versions before 7.0.
func (a *appendOnly) single() string { return filepath.Join(a.p.Folder(), a.folder.Name) }

// finishMove moves that file to the folder, if a crash has kept a former start from it.
func (a *appendOnly) finishMove(m *aof.Manifest) error {
	f := &a.folder
	if m.Base == nil || m.Base.Name != f.Name || len(m.Incr) > 0 {
		return nil
	}
	if _, _, err := f.Sizes(m); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err := f.On.Rename(a.single(), filepath.Join(f.Path, f.Name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the loader says what is missing
	}
	if err == nil {
		err = f.On.SyncDir(f.Path)
	}
	return err
}

// upgrade loads what is there without a manifest. Redis starts empty if that is an RDB file, and so loses it.
func (a *appendOnly) upgrade() error {
	f := &a.folder
	tail, err := a.load(func(l *aof.Loading) error { return l.LoadFile(a.p.from(), a.single()) })
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := a.p.loadRDB(); err != nil {
			return err
		}
	case err != nil:
		return err
	case tail == nil:
		if err := a.listen(f.Adopt(a.single())); err != nil {
			return err
		}
		a.p.s.Log('*', "Successfully migrated an old-style AOF file (%s) into the AOF directory (%s).", f.Name,
			a.p.s.Cfg.AppendDirname)
		return nil
	default:
		a.p.s.Log('*', "From now on the data are in %s, and %s is not used any more", f.Path, a.single())
	}
	return a.listen(f.Begin(nil, a.p.writeBase))
}

// loadParts loads the parts of a manifest.
func (a *appendOnly) loadParts(l *aof.Loading, m *aof.Manifest) error {
	_, a.p.Progress.Total, _ = a.folder.Sizes(m) // the loader says what is missing
	return l.Load(a.p.from(), a.folder.Path, m)
}

// load executes the commands of an append only file again. tail says where its end has to be cut off, nil if it ends
// well.
func (a *appendOnly) load(from func(l *aof.Loading) error) (tail *aof.DamageError, err error) {
	s := a.p.s
	begin := s.Ex.Clock.Mono()
	replay := s.Ex.StartReplay()
	s.KS.Quietly(func() { err = from(a.loading(replay.Do)) })
	replay.End()
	switch {
	case err == nil:
	case !errors.As(err, &tail):
		return nil, err
	case !tail.Truncated && !tail.Torn:
		return nil, fmt.Errorf("Bad file format reading the append only file %w", err)
	case !s.Cfg.AOFLoadTruncated:
		return nil, fmt.Errorf("Unexpected end of file reading the append only file %w. aof-load-truncated is no, so it is "+
			"not cut off at byte %d", err, tail.Whole)
	default:
		s.Log('#', "!!! Warning: short read while loading the AOF file %s!!!", filepath.Base(tail.File))
		s.Log('#', "AOF %s loaded anyway because aof-load-truncated is enabled: it is cut off at byte %d",
			tail.File, tail.Whole)
	}
	s.Log('*', "DB loaded from append only file: %.3f seconds", float64(s.Ex.Clock.Mono()-begin)/1e9)
	return tail, nil
}

// listen appends from now on, to a part that is in the manifest.
func (a *appendOnly) listen(part disk.File, m *aof.Manifest, err error) error {
	if err != nil {
		return fmt.Errorf("can't begin to append: %w", err)
	}
	size, err := part.Size()
	if err != nil {
		return err
	}
	base, all, err := a.folder.Sizes(m)
	if err != nil {
		return err
	}
	a.manifest, a.base, a.before = m, base, all-size
	a.write(part, size)
	return nil
}

// write makes a Writer for a part of this size.
func (a *appendOnly) write(part disk.File, size int64) {
	s := a.p.s
	a.Writer = aof.NewWriter(part, size)
	a.Writer.Log, a.Writer.Policy = s.Log, aof.PolicyOf(s.Cfg.AppendFsync)
	if pace := a.p.Hooks.Pace; pace != nil {
		pace(a.Writer)
	} else if s.Cfg.SystemFiles { // a disk in memory has nothing to wait for
		a.Writer.Elsewhere = elsewhere
		a.Writer.Wake = func() { s.Loop.Post(func() {}) }
	}
	a.began = a.At.Appended
	a.feed()
}

// feed appends what changes from now on. The first command is SELECT.
func (a *appendOnly) feed() {
	a.p.s.Ex.Propagation.Listen(func(unit []byte) {
		if now := a.p.Unix(); a.p.s.Cfg.AOFTimestampEnabled && now > a.stamped {
			a.stamped = now
			a.append(aof.Annotation(now))
		}
		a.append(unit)
	})
}

func (a *appendOnly) append(bytes []byte) {
	a.At.Appended += int64(len(bytes))
	a.Writer.Append(bytes)
}

// elsewhere runs an fsync beside the loop.
func elsewhere(job func()) { go job() }

// Flush is what a pass does between its last command and its first reply (aof.c: flushAppendOnlyFile). If the changes
// must be on disk now, and cannot, it ends the server: no reply may be written then.
func (p *Files) Flush() (ok bool) {
	a := &p.AOF
	if a.Writer == nil {
		return true
	}
	now := p.Now()
	a.Writer.NoSync = p.s.Cfg.NoAppendFsyncOnRewrite && p.UnderWay() != nil
	if !a.isBroken() {
		a.brokenSince = now
	}
	err := a.flush(now)
	if err != nil {
		if p.s.Fatal == nil {
			p.s.Fatal = fmt.Errorf("the append only file cannot be written, and appendfsync is always: %w", err)
			p.s.Log('#', "Can't recover from AOF write error when the AOF fsync policy is 'always'. Exiting...")
		}
		p.s.Loop.Stop()
		return false
	}
	why := a.Writer.Err()
	p.s.Ex.Refusals.Set(command.AOFFailed, why != nil)
	if why != nil {
		p.s.Ex.Refusals.AOFError = store.Error("MISCONF Errors writing to the AOF file: " + config.ErrorText(why))
	} else if !a.waits {
		a.synced()
	}
	if at, due := a.Writer.Next(now); due && (a.timer == nil || at < a.due) {
		p.StopTimer()
		a.due = at
		a.timer = p.s.After(max(time.Duration(at-now), 1)*time.Millisecond, func() {
			a.timer = nil
			p.Flush() // at this time: the clock of a lab may go on in the same pass
		})
	}
	return true
}

// flush writes what the pass has changed, and shows it.
func (a *appendOnly) flush(now int64) error {
	if sleep := a.Slow; sleep > 0 && a.Writer.State().Buffered > 0 {
		time.Sleep(sleep)
	}
	show := a.p.Hooks.Appended
	if show == nil || !a.p.s.Trace.Detailed() {
		return a.Writer.Flush(now)
	}
	before, began := a.Writer.State(), a.p.s.Trace.Mark()
	err := a.Writer.Flush(now)
	show(before, a.Writer.State(), a.Writer.Err(), began)
	return err
}

// synced notes how much is on the disk, for clients that wait for it.
func (a *appendOnly) synced() {
	st := a.Writer.State()
	a.At.now = a.Writer.Policy == aof.Always && !a.Writer.NoSync
	if synced := a.began + st.Synced; synced != a.At.synced {
		a.At.synced = synced
		a.p.History.Fsynced()
	}
	a.At.advance(a.p.History.Offset(), st.Syncing)
}

// appended is how far the append only file is, since the server began.
type appended struct {
	Appended int64 // bytes
	synced   int64 // of them, on the disk
	now      bool  // what a command appends is on the disk before its reply

	// Offset is how much of the stream of replication is on the disk (server.h: fsynced_reploff).
	Offset  int64
	pending struct{ appended, offset int64 } // what the fsync under way reaches
}

// Has reports whether so many bytes are on the disk before a reply of now.
func (a *appended) Has(bytes int64) bool { return a.now || a.synced >= bytes }

// advance moves offset, after a flush. now is the offset of what was executed.
func (a *appended) advance(now int64, syncing bool) {
	if a.pending.appended <= a.synced {
		a.Offset = max(a.Offset, a.pending.offset)
		if syncing {
			a.pending.appended, a.pending.offset = a.Appended, now
		}
	}
	if a.synced >= a.Appended {
		a.Offset = now
	}
}

// configure takes appendfsync from the configuration. What was executed under always is fsynced before.
func (a *appendOnly) configure(cfg *config.Config) {
	a.p.Hooks.end() // Flush would wait for it
	if a.Writer != nil && a.p.Flush() {
		a.Writer.Policy = aof.PolicyOf(cfg.AppendFsync)
		a.At.now = false // the next flush knows
	}
}

// End writes and fsyncs the rest.
func (a *appendOnly) End() {
	if a.p != nil {
		a.p.Hooks.end() // Close would wait for it
	}
	if a.Writer != nil && a.p.s.Fatal == nil {
		a.p.s.Log('*', "Calling fsync() on the AOF file.")
		if err := a.Writer.Close(); err != nil {
			a.p.s.Log('#', "Fail to fsync the AOF file: %v.", err)
		}
	}
	a.release()
}

// StopTimer takes back the time of the next fsync. The next flush sets it anew.
func (p *Files) StopTimer() {
	if p.AOF.timer != nil {
		p.s.Timers.Cancel(p.AOF.timer)
		p.AOF.timer = nil
	}
}
