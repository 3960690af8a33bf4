package persist

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"sync/atomic"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/persist/disk"
	"github.com/miniredisd/miniredisd/persist/rdb"
	"github.com/miniredisd/miniredisd/persist/rewrite"
	"github.com/miniredisd/miniredisd/server"
)

// Files keeps the data beyond the end of the process, in a file. It belongs to the goroutine that executes
// commands. SAVE stops the loop, BGSAVE does not: bgsave.go.
type Files struct {
	s        *server.Server
	Disk     disk.FS
	Hooks    Hooks
	History  HistoryHooks
	Stopping *Stopping

	back int64 // ms that a lab has taken back from the clock

	reserved string // the folder that no other server uses, "" for none
	release  func()

	loading  *loading // of these files, nil for none under way
	Progress Progress // of the last loading

	saved           int64 // unix seconds of the last save, 0 for none
	saves           int64 // SAVE was called so often, or a save in the background began
	Loaded, Expired int64 // keys, when a file was loaded last

	Background Background
	AOF        appendOnly
	pace       savePace   // of what is under way
	saveDelay  *rdb.Delay // of its keys
}

// New gives a server in a Go program a disk in memory, so that it leaves the program's folder alone.
func New(s *server.Server) *Files {
	p := &Files{s: s, Disk: disk.System{}, release: func() {}, Background: Background{Took: -1},
		saveDelay: rdb.NewDelay(0), History: plainHistory()}
	p.Stopping = &Stopping{s: s, p: p, Asked: new(atomic.Bool)}
	if !s.Cfg.SystemFiles || s.Cfg.LabDisk {
		p.Disk = disk.NewSim(s.Cfg.Seed)
	}
	p.AOF.p, p.AOF.rewrite.took = p, -1
	return p
}

// StartAgain makes the state that New makes, for LAB CRASH. The disk stays, with those who look at it.
func (p *Files) StartAgain() {
	p.StopTimer()
	disk, back, hooks, history, stopping := p.Disk, p.back, p.Hooks, p.History, p.Stopping
	*p = *New(p.s)
	p.Disk, p.back, p.Hooks, p.History, p.Stopping, p.AOF.p = disk, back, hooks, history, stopping, p
}

// Part is the place of the files in a pass.
func (p *Files) Part() server.Part {
	return server.Part{
		Self: p, Configured: p.configured,
		Cron: func() (again bool) {
			p.cron()
			return p.waits()
		},
		Advance: p.advance, Flushed: p.flushed, BeforeReplies: p.Flush, LongestSleep: p.longestSleep,
		Info: map[string]func(r *server.Report){"persistence": p.info}, Debug: p.debug(),
		Last: p.EndLoading, End: p.End,
	}
}

// Folder is where the file is. Each of several masters has a folder of its own.
func (p *Files) Folder() string {
	dir := p.s.Cfg.Relative("")
	if p.shares() {
		return filepath.Join(dir, strconv.Itoa(p.s.Port()))
	}
	return dir
}

// shares reports whether other masters of the process use the same disk.
func (p *Files) shares() bool { return p.s.NodeCount > 1 && !p.s.Cfg.LabDisk }

// Now is the time in ms by which the append only file is fsynced. In a lab that is the lab's time, and it never goes
// back.
func (p *Files) Now() int64 { return p.s.Ex.Clock.Timeline(p.s.Ex.Now.Mono)/1e6 + p.back }

// ClockBack keeps the time of the append only file going forward when the clock goes back by ns. The next fsync of
// everysec comes a second later, however long ago the last one was: so a test that sets its clock sees the same always.
func (p *Files) ClockBack(ns int64) {
	if w := p.AOF.Writer; w != nil {
		w.Begin(p.Now())
	}
	p.back += ns / 1e6
	to := (p.s.Ex.Now.Wall - ns) / 1e6
	p.saved, p.s.Figures.Started = min(p.saved, to/1000), min(p.s.Figures.Started, to) // a save is not in the future
	p.StopTimer()
}

// Path is the place of the RDB file.
func (p *Files) Path() string { return filepath.Join(p.Folder(), p.s.Cfg.DBFilename) }

// Reserve keeps other servers out of the folder from now on.
func (p *Files) Reserve() error {
	dir := p.Folder()
	if p.reserved == dir {
		return nil
	}
	lock, err := p.Disk.Lock(dir)
	if errors.Is(err, disk.ErrLocked) {
		return fmt.Errorf("another server keeps its data in %s: give this one another dir", dir)
	}
	if err != nil {
		return err
	}
	p.release()
	p.reserved, p.release = dir, lock.Release
	return nil
}

// End aborts what is under way in the background, ends the append only file, and lets other servers use the folder.
func (p *Files) End() {
	p.AbortBackground()
	p.AOF.abortRewrite()
	p.AOF.End()
	p.release()
	p.reserved, p.release = "", func() {}
}

// exists reports whether there is a file to load, or why it cannot be read.
func (p *Files) exists() (bool, error) {
	if p.s.Cfg.DBFilename == "" {
		return false, nil
	}
	f, err := p.Disk.Open(p.Path())
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("can't open the RDB file: %w", err)
	}
	p.Progress.Total, _ = f.Size()
	return true, f.Close()
}

// Start loads what there is. With the system's files, Run does that in its first passes: the server listens already. A
// disk in memory has nothing to wait for.
func (p *Files) Start() error {
	if err := p.AOF.refused(); err != nil && p.s.Cfg.AppendOnly {
		return &LoadError{fmt.Errorf("Fatal error loading the DB: %w. Exiting", err)}
	}
	if p.s.LoadsInRun {
		p.s.Inbox.Posted = append(p.s.Inbox.Posted, func() { p.loadBeside(p.loadAll, p.started) })
		return nil
	}
	err := p.loadAll()
	if err != nil {
		p.End()
	}
	return err
}

// loadAll loads the append only file or the RDB file, if there is one (server.c: loadDataFromDisk). A master whose port
// the system chooses has no folder yet, so it starts empty.
func (p *Files) loadAll() error {
	var err error
	what := "Nothing was changed. Exiting"
	switch {
	case p.s.Cfg.AppendOnly:
		err, what = p.startAOF(), "Exiting"
	case p.shares() && p.s.Port() == 0:
	default:
		err = p.loadRDB()
	}
	if errors.As(err, new(*rdb.DamageError)) {
		what = "Nothing was changed. Terminating server after rdb file reading failure."
	}
	if err != nil {
		p.advise(err)
		return &LoadError{fmt.Errorf("Fatal error loading the DB: %w. %s", err, what)}
	}
	p.s.Ex.ResetStats() // no client has sent these commands
	return nil
}

// started continues the start of the server after the loading in Run, or ends it.
func (p *Files) started(err error) {
	if err == nil {
		err = p.s.Parts.Start()
	}
	if err != nil {
		p.s.Fatal = err
		p.s.Loop.Stop()
		return
	}
	p.s.NotifyLoaded()
}

// loadRDB loads the file, if there is one.
func (p *Files) loadRDB() error {
	found, err := p.exists()
	if err == nil && found {
		if err = p.Reserve(); err == nil {
			err = p.loadAtStart()
		}
	}
	return err
}

// loadAtStart loads the file of an earlier run. Replicas and the master may know the history that it names. What has
// expired meanwhile, replicas still have (server.c: loadDataFromDisk).
func (p *Files) loadAtStart() error {
	type key struct {
		db   int
		name string
	}
	var late []key
	l := p.RDBLoading(false)
	l.Late = func(db int, name []byte) { late = append(late, key{db, string(name)}) }
	if err := p.loadBy(l); err != nil {
		return err
	}
	if p.History.Restore(l.Stream) {
		for _, k := range late {
			p.s.Ex.Propagation.KeyGone(p.s.KS.DBs[k.db], k.name, p.s.Cfg.LazyExpire)
		}
	}
	return nil
}

// LoadError says why a server did not start: its data cannot be loaded.
type LoadError struct{ error }

// Unwrap returns the reason.
func (e *LoadError) Unwrap() error { return e.error }

// load loads the file. With merge, keys and libraries of the file replace those that exist.
func (p *Files) load(merge bool) error { return p.loadBy(p.RDBLoading(merge)) }

// loadBy loads the file. On a replica nothing has expired: the master says when.
func (p *Files) loadBy(l *rdb.Loading) error {
	begin := p.s.Ex.Clock.Mono()
	p.s.KS.Loading = p.s.Cfg.ReplicaOf != ""
	err := l.Load(p.from(), p.Path())
	p.s.KS.Loading = false
	p.Loaded, p.Expired = l.Loaded, l.Expired
	if err == nil {
		p.s.Log('*', "DB loaded from disk: %.3f seconds", float64(p.s.Ex.Clock.Mono()-begin)/1e9)
	}
	return err
}

// AdoptFile makes the file of a master the file of this server.
func (p *Files) AdoptFile(path string) error {
	if p.s.Cfg.DBFilename == "" {
		return p.Disk.Remove(path)
	}
	if err := p.Disk.Rename(path, p.Path()); err != nil {
		return err
	}
	p.saved = p.Unix()
	if p.s.Cfg.RDBDelSyncFiles && p.IsOff() {
		p.s.Log('*', "Removing the RDB file obtained from the master. This replica has persistence disabled")
		return p.Disk.Remove(p.Path())
	}
	return p.Disk.SyncDir(p.Folder())
}

// IsOff reports whether no file is written without a command that asks for it (server.c: allPersistenceDisabled).
func (p *Files) IsOff() bool { return p.s.Cfg.Save == "" && !p.s.Cfg.AppendOnly }

// save writes the file (rdb.c: rdbSave). The log has the reason if it cannot.
func (p *Files) save() error {
	err := p.write()
	if err != nil {
		p.s.Log('#', "%v", err)
		return err
	}
	p.s.Log('*', "DB saved on disk")
	p.s.KS.Stats.Dirty = 0
	p.saved = p.Unix()
	p.s.Ex.Refusals.Set(command.SaveFailed, false)
	return nil
}

func (p *Files) write() error {
	if err := p.prepare(); err != nil {
		return err
	}
	return p.writeTo(p.Path())
}

// prepare makes sure that there is a folder for the file, and that it belongs to this server.
func (p *Files) prepare() error {
	if p.s.Cfg.DBFilename == "" {
		return errors.New("Failed opening the temp RDB file for saving: dbfilename is empty")
	}
	if err := p.MakeFolder(); err != nil {
		return err
	}
	return p.Reserve()
}

// MakeFolder makes the folder of one of several masters.
func (p *Files) MakeFolder() error {
	if !p.shares() {
		return nil
	}
	dir := p.Folder()
	if err := p.Disk.Mkdir(dir); err != nil {
		return err
	}
	return p.Disk.SyncDir(filepath.Dir(dir))
}

// writeTo writes all keys and functions to a file.
func (p *Files) writeTo(path string) error {
	saving := p.Saving()
	saving.Keys = p.s.KS
	return rdb.Save(p.forRDB(), path, saving)
}

// forRDB and forBase are the disk for a file that is written at once, and perhaps in the background.
func (p *Files) forRDB() disk.FS { return p.spread(p.s.Cfg.RDBSaveIncrementalFsync) }

func (p *Files) forBase() disk.FS { return p.spread(p.s.Cfg.AOFRewriteIncrementalFsync) }

func (p *Files) spread(isOn bool) disk.FS {
	if isOn {
		return disk.Spread{FS: p.Disk}
	}
	return p.Disk
}

// writeBase is writeTo for the base of an append only file.
func (p *Files) writeBase(path string) error {
	saving := p.savingBase()
	saving.Keys = p.s.KS
	return rdb.Save(p.forBase(), path, saving)
}

// savingBase is saving for the base of an append only file (aof.c: rewriteAppendOnlyFile).
func (p *Files) savingBase() *rdb.Saving {
	saving := p.Saving()
	saving.Base = true
	if p.s.Cfg.AOFUseRDBPreamble {
		return saving
	}
	saving.As = rewrite.Begin
	if p.s.Cfg.AOFTimestampEnabled {
		saving.Stamp = p.Unix()
	}
	return saving
}

// Saving returns what a file gets besides the keys.
func (p *Files) Saving() *rdb.Saving {
	d := p.s.Ex.Table.Dialect
	version := d.RedisVersion
	if d.DumpVersion >= rdb.FormatValkey {
		version = d.Version
	}
	p.saveDelay.Set(p.s.Cfg.RDBKeySaveDelay)
	return &rdb.Saving{
		Now: p.s.KS.Now, Libraries: p.s.Ex.Scripts.Code().Libraries,
		Compress: p.s.Cfg.RDBCompression, Checksum: p.s.Cfg.RDBChecksum,
		Format: p.Format(), Version: version, UsedMemory: p.s.Figures.UsedMemory(),
		Delay: p.saveDelay, Stream: p.History.Place(),
	}
}

// Format is the version of the RDB format that this dialect writes.
func (p *Files) Format() int { return max(rdb.FormatRedis, p.s.Ex.Table.Dialect.DumpVersion) }

// lastSave is in unix seconds: of the last save, or of the start.
func (p *Files) lastSave() int64 { return max(p.saved, p.s.Figures.Started/1000) }
