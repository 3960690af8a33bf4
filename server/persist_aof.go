package server

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/internal/rdb"
	"github.com/miniredisd/miniredisd/persist/aof"
	"github.com/miniredisd/miniredisd/persist/disk"
	"github.com/miniredisd/miniredisd/reactor"
	"github.com/miniredisd/miniredisd/store"
)

// appendOnly is the append only file (aof.c). It begins when the server starts: what was there is loaded, all keys are
// written as a new base, and from then on each pass appends what it has changed.
//
//	executePhase ── Propagation ──> Writer.Append
//	beforeSleep ───── flush ──────> Writer.Flush ──> then write, for the replies
type appendOnly struct {
	p      *persistence
	writer *aof.Writer // nil without one
	base   int64       // bytes of the base
	offset int64       // of the stream of changes
	timer  *reactor.Timer
	due    int64  // when it runs
	unlock func() // lets other servers use the folder
}

// startAOF loads the append only file and begins a new part. If there is none yet, it begins with what an older
// server has left: the single file of versions before 7.0, or an RDB file.
func (p *persistence) startAOF() error {
	a := &p.aof
	a.p = p
	err := a.refused()
	if err == nil {
		err = a.begin()
	}
	if err != nil {
		p.end()
		return &LoadError{fmt.Errorf("Fatal error loading the DB: %w. Exiting", err)}
	}
	return nil
}

// refused says what an append only file cannot do here.
func (a *appendOnly) refused() error {
	switch s := a.p.s; {
	case s.cfg.Lab && !s.cfg.LabDisk:
		return errors.New("appendonly yes with a lab needs --lab-disk yes: a crash of the lab has to lose files, too")
	case a.p.shares() && s.Port() == 0:
		return errors.New("appendonly yes needs a port: each of several masters has a folder named after it")
	}
	return nil
}

func (a *appendOnly) begin() error {
	p := a.p
	f := aof.Folder{On: p.disk, Path: filepath.Join(p.folder(), p.s.cfg.AppendDirname), Name: p.s.cfg.AppendFilename}
	if err := a.open(&f); err != nil {
		return err
	}
	manifest, err := aof.ReadManifest(p.disk, f.ManifestPath())
	whole := int64(-1)
	switch {
	case err == nil:
		whole, err = a.load(func(l *aof.Loading) error { return l.Load(p.disk, f.Path, manifest) })
	case errors.Is(err, fs.ErrNotExist):
		whole, err = a.upgrade(&f)
	}
	if err != nil {
		return err
	}
	part, manifest, err := a.newPart(&f, manifest, whole)
	if err != nil {
		return fmt.Errorf("can't begin a new append only file: %w", err)
	}
	return a.listen(part, &f, manifest)
}

// open makes the folder and reserves it.
func (a *appendOnly) open(f *aof.Folder) error {
	p := a.p
	if err := p.makeFolder(); err != nil {
		return err
	}
	if err := p.disk.Mkdir(f.Path); err != nil {
		return err
	}
	if err := p.disk.SyncDir(filepath.Dir(f.Path)); err != nil {
		return err
	}
	unlock, err := p.disk.Lock(f.Path)
	if errors.Is(err, disk.ErrLocked) {
		return fmt.Errorf("another server appends to %s: give this one another dir", f.Path)
	}
	a.unlock = unlock
	return err
}

// upgrade loads what is there without a manifest. Redis starts empty if that is an RDB file, and so loses it.
func (a *appendOnly) upgrade(f *aof.Folder) (whole int64, err error) {
	single := filepath.Join(a.p.folder(), f.Name)
	whole, err = a.load(func(l *aof.Loading) error { return l.LoadFile(a.p.disk, single) })
	if errors.Is(err, fs.ErrNotExist) {
		return -1, a.p.loadRDB()
	}
	if err == nil {
		a.p.s.log('*', "From now on the data are in %s, and %s is not used any more", f.Path, single)
	}
	return whole, err
}

// load executes the commands of an append only file again. whole is where the last part has to be cut off, -1 if it
// ends well.
func (a *appendOnly) load(from func(l *aof.Loading) error) (whole int64, err error) {
	s := a.p.s
	begin := s.ex.Clock.Mono()
	replay := s.ex.StartReplay()
	s.ks.Quietly(func() { err = from(a.loading(replay.Do)) })
	replay.End()
	var damage *aof.DamageError
	switch {
	case err == nil:
		whole = -1
	case !errors.As(err, &damage) || !damage.Truncated:
		return 0, err
	case !s.cfg.AOFLoadTruncated:
		return 0, fmt.Errorf("%w. aof-load-truncated is no, so it is not cut off at byte %d", err, damage.Whole)
	default:
		whole = damage.Whole
		s.log('#', "!!! Warning: short read while loading the AOF file %s!!!", filepath.Base(damage.File))
		s.log('#', "AOF %s loaded anyway because aof-load-truncated is enabled: it is cut off at byte %d", damage.File, whole)
	}
	s.log('*', "DB loaded from append only file: %.3f seconds", float64(s.ex.Clock.Mono()-begin)/1e9)
	return whole, nil
}

// newPart makes the part to append to, and a base of all keys before it. A base has no place for fields of hashes
// that expire, under a dialect of Redis. Then the old parts stay.
func (a *appendOnly) newPart(f *aof.Folder, old *aof.Manifest, whole int64) (disk.File, *aof.Manifest, error) {
	if a.fitsBase() {
		return f.Begin(old, a.p.writeTo)
	}
	if old == nil || whole >= 0 && len(old.Incr) == 0 {
		return nil, nil, errors.New("fields of a hash expire, and the format of a base has no place for that")
	}
	a.p.s.log('#', "The old append only file stays, and a new part follows: fields of a hash expire, and the format of a "+
		"base has no place for that")
	return f.Continue(old, whole)
}

// fitsBase reports whether each value has a place in an RDB file.
func (a *appendOnly) fitsBase() bool {
	format := a.p.format()
	for _, db := range a.p.s.ks.DBs {
		for _, v := range db.Values() {
			if !rdb.CanDump(v, format) {
				return false
			}
		}
	}
	return true
}

// listen appends from now on.
func (a *appendOnly) listen(part disk.File, f *aof.Folder, m *aof.Manifest) error {
	size, err := part.Size()
	if err != nil {
		return err
	}
	if m.Base != nil {
		if a.base, err = fileSize(f.On, filepath.Join(f.Path, m.Base.Name)); err != nil {
			return err
		}
	}
	s := a.p.s
	a.writer = aof.NewWriter(part, size)
	a.writer.Log, a.writer.Policy = s.log, aof.PolicyOf(s.cfg.AppendFsync)
	a.writer.Begin(a.p.now())
	if s.lab.hasDisk() {
		s.lab.pace(a.writer)
	} else if s.cfg.SystemFiles { // a disk in memory has nothing to wait for
		a.writer.Elsewhere = elsewhere
		a.writer.Wake = func() { s.loop.Post(func() {}) }
	}
	s.ex.Propagation.Listen(func(unit []byte) {
		a.offset += int64(len(unit))
		a.writer.Append(unit)
	})
	return nil
}

// elsewhere runs an fsync beside the loop.
func elsewhere(job func()) { go job() }

func fileSize(on disk.FS, path string) (int64, error) {
	f, err := on.Open(path)
	if err != nil {
		return 0, err
	}
	size, err := f.Size()
	if closed := f.Close(); err == nil {
		err = closed
	}
	return size, err
}

// flush is what a pass does between its last command and its first reply (aof.c: flushAppendOnlyFile). If the changes
// must be on disk now, and cannot, it ends the server: no reply may be written then.
func (p *persistence) flush() (ok bool) {
	a := &p.aof
	if a.writer == nil {
		return true
	}
	now := p.now()
	err := a.flush(now)
	if err != nil {
		if p.fatal == nil {
			p.fatal = fmt.Errorf("the append only file cannot be written, and appendfsync is always: %w", err)
			p.s.log('#', "Can't recover from AOF write error when the AOF fsync policy is 'always'. Exiting...")
		}
		p.s.loop.Stop()
		return false
	}
	p.s.ex.DiskError = nil
	if why := a.writer.Err(); why != nil {
		p.s.ex.DiskError = store.Error("MISCONF Errors writing to the AOF file: " + why.Error())
	}
	if at, due := a.writer.Next(now); due && (a.timer == nil || at < a.due) {
		p.stopTimer()
		a.due = at
		a.timer = p.s.after(max(time.Duration(at-now), 1)*time.Millisecond, func() {
			a.timer = nil
			p.flush() // at this time: the clock of a lab may go on in the same pass
		})
	}
	return true
}

// flush writes what the pass has changed, and shows it.
func (a *appendOnly) flush(now int64) error {
	v := a.p.s.glass
	if !v.looks() {
		return a.writer.Flush(now)
	}
	before, began := a.writer.State(), a.p.s.trace.Mark()
	err := a.writer.Flush(now)
	v.appended(before, a.writer.State(), a.writer.Err(), began)
	return err
}

// follow takes appendfsync from the configuration. What was executed under always is fsynced before.
func (a *appendOnly) follow(cfg *config.Config) {
	a.p.s.lab.endSync() // Flush would wait for it
	if a.writer != nil && a.p.flush() {
		a.writer.Policy = aof.PolicyOf(cfg.AppendFsync)
	}
}

// end writes and fsyncs the rest.
func (a *appendOnly) end() {
	if a.p != nil {
		a.p.s.lab.endSync() // Close would wait for it
	}
	if a.writer != nil && a.p.fatal == nil {
		a.p.s.log('*', "Calling fsync() on the AOF file.")
		if err := a.writer.Close(); err != nil {
			a.p.s.log('#', "Fail to fsync the AOF file: %v.", err)
		}
	}
	if a.unlock != nil {
		a.unlock()
		a.unlock = nil
	}
}
