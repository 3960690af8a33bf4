package persist

import (
	"iter"
	"time"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/persist/disk"
	"github.com/miniredisd/miniredisd/persist/rdb"
	"github.com/miniredisd/miniredisd/store"
)

// loading is the loading of the server's own files while it serves clients. Most of their commands get the error
// LOADING. The code that loads is a coroutine: it runs only inside loadOn, and goes back to its caller after some keys.
// Redis serves clients from inside the loader (rdb.c: rdbLoadProgressCallback, aof.c: loadSingleAppendOnlyFile).
//
//	executePhase ── loadOn ──> load ──> keys, commands ──> rest
//	     ^                                                   │ loading-process-events-interval-bytes, or 1024 commands
//	     └───────────────────────────────────────────────────┘
//
// The goroutine that executes commands makes the coroutine, resumes it and ends it: Go refuses another thread.
type loading struct {
	p      *Files
	next   func() (struct{}, bool)
	stop   func()
	pause  func(struct{}) bool
	replay bool        // store.Keyspace.Loading, while the coroutine runs
	over   bool        // load has returned
	gone   bool        // nobody wants the keys any more
	done   func(error) // gets what load returns
	err    error

	mark     int64 // bytes of a file: after them comes the next rest
	reads    int64 // bytes that were read since the last rest
	commands int   // since the last rest
}

const (
	restCommands = 1024    // aof.c: loadSingleAppendOnlyFile
	restBytes    = 2 << 20 // inside a value; between two keys the directive counts

	errGivenUp store.Error = "ERR The loading was given up"
)

// Progress is what INFO says of a loading.
type Progress struct {
	Began int64        // unix seconds
	Total int64        // bytes of all files
	Read  int64        // of them
	RDB   *rdb.Loading // of the RDB file; nil for none yet

	keys int // so many were delayed, or not
	debt int // microseconds that keys are still to be delayed
}

// Loads reports whether the server's own files are being loaded.
func (p *Files) Loads() bool { return p.loading != nil }

// loadBeside calls load as a coroutine, and done when it is over.
func (p *Files) loadBeside(load func() error, done func(err error)) {
	l := &loading{p: p, done: done, mark: int64(p.s.Cfg.LoadingInterval)}
	l.next, l.stop = iter.Pull(func(yield func(struct{}) bool) {
		l.pause = yield
		l.err = load()
		l.over = true
	})
	p.loading, p.Progress = l, Progress{Began: p.Unix()}
	p.s.Ex.Refusals.Set(command.LoadsFiles, true)
	p.loadOn()
}

// loadOn gives the coroutine its part of a pass.
func (p *Files) loadOn() {
	l := p.loading
	l.run(func() { l.next() })
	if l.over {
		p.loading = nil
		p.s.Ex.Refusals.Set(command.LoadsFiles, false)
		l.done(l.err)
	}
}

// run calls what resumes the coroutine.
func (l *loading) run(resume func()) {
	ks := l.p.s.KS
	ks.Loading = l.replay
	ks.Quietly(resume)
	l.replay, ks.Loading = ks.Loading, false
}

// EndLoading ends the coroutine, if there is one. The keys so far stay.
func (p *Files) EndLoading() {
	l := p.loading
	if l == nil {
		return
	}
	p.loading = nil
	l.gone = true
	l.run(l.stop)
	p.s.Ex.Refusals.Set(command.LoadsFiles, false)
}

// rest goes back to the loop. An error means that it shall load no more.
func (l *loading) rest() error {
	l.reads, l.commands = 0, 0
	if l.gone || !l.pause(struct{}{}) {
		return errGivenUp
	}
	return nil
}

// loadedKey is called after each key of an RDB file, which ends at a byte of it.
func (p *Files) loadedKey(end int64) error {
	slept, l := p.delay(), p.loading
	if l == nil || end < l.mark && !slept {
		return nil
	}
	l.mark = end + int64(p.s.Cfg.LoadingInterval)
	return l.rest()
}

// loadedCommand is called after each command of an append only file.
func (p *Files) loadedCommand() error {
	slept, l := p.delay(), p.loading
	if l == nil {
		return nil
	}
	if l.commands++; l.commands < restCommands && !slept {
		return nil
	}
	return l.rest()
}

// RestInScript is rest in the middle of a slow script, which is executed again.
func (p *Files) RestInScript() (stop bool) { return p.loading != nil && p.loading.rest() != nil }

// delay makes each key last key-load-delay microseconds, for tests. The loop stands still meanwhile, for a millisecond
// or more at once. A delay of -n makes each nth key last one microsecond, where Redis draws a number (debug.c:
// debugDelay).
func (p *Files) delay() (slept bool) {
	us, w := p.s.Cfg.KeyLoadDelay, &p.Progress
	if us == 0 {
		return false
	}
	if w.keys++; us < 0 {
		if w.keys%-us != 0 {
			return false
		}
		us = 1
	}
	if w.debt += us; w.debt < 1000 {
		return false
	}
	time.Sleep(time.Duration(w.debt) * time.Microsecond)
	w.debt = 0
	return true
}

// from is the disk to load from.
func (p *Files) from() disk.FS {
	if p.loading == nil {
		return p.Disk
	}
	return pacedDisk{p.Disk, p.loading}
}

// pacedDisk is a disk for the coroutine: its files count what is read, and take a rest inside large values.
type pacedDisk struct {
	disk.FS
	l *loading
}

// Open opens a file to read it.
func (d pacedDisk) Open(name string) (disk.File, error) {
	f, err := d.FS.Open(name)
	return pacedFile{f, d.l}, err
}

type pacedFile struct {
	disk.File
	l *loading
}

// Read reads at most what may come between two rests.
func (f pacedFile) Read(b []byte) (int, error) {
	l := f.l
	if l.gone {
		return 0, errGivenUp
	}
	n, err := f.File.Read(b[:min(len(b), restBytes)])
	l.p.Progress.Read += int64(n)
	if l.reads += int64(n); l.reads >= restBytes && err == nil {
		err = l.rest()
	}
	return n, err
}
