package repl

import (
	"fmt"
	"io"
	"iter"
	"path/filepath"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/replication/follow"
	"github.com/miniredisd/miniredisd/persist/disk"
	"github.com/miniredisd/miniredisd/persist/rdb"
	"github.com/miniredisd/miniredisd/server/persist"
	"github.com/miniredisd/miniredisd/store"
)

// syncing is a full synchronization: the file of the master, and the keys in it (replication.c: readSyncBulkPayload).
// The directive repl-diskless-load says how:
//
//	disabled      socket ──> temp-repl-PORT.rdb ──> loader ──> keyspace, empty by then; the file becomes dump.rdb
//	on-empty-db   socket ──> loader ──> keyspace, if that is empty
//	swapdb        socket ──> loader ──> other databases, which take the place of the old ones at the end
//
// Nothing waits for bytes or for the disk's end of a file: the loader continues with each piece.
type syncing struct {
	at     follow.Position // of the stream after the file
	Begun  bool            // the master has said where the file ends
	size   int64           // -1 if only its end will tell
	read   int64           // bytes that have come
	direct bool            // into the loader

	file    disk.File // what has come, or what is loaded
	path    string
	synced  int64 // bytes that were fsynced
	loads   bool  // the file is complete, and being loaded
	loader  *loader
	loading *rdb.Loading
	beside  []*store.DB // for swapdb
	code    [][]byte    // the libraries, for swapdb
}

const (
	syncEvery  = 8 << 20          // bytes between two fsyncs (replication.c: REPL_MAX_WRITTEN_BEFORE_FSYNC)
	loadBudget = int64(5_000_000) // ns in a pass
)

// beginFile prepares for the bytes of the file.
func (f *following) beginFile(size int64) {
	y, how := f.Sync, f.s.Cfg.ReplDisklessLoad
	y.Begun, y.size = true, size
	y.direct = how == "swapdb" || how == "on-empty-db" && f.keys() == 0
	to := "to disk"
	if y.direct {
		to = "to parser"
	}
	if size < 0 {
		f.s.Log('*', "MASTER <-> REPLICA sync: receiving streamed RDB from master with EOF %s", to)
	} else {
		f.s.Log('*', "MASTER <-> REPLICA sync: receiving %d bytes from master %s", size, to)
	}
	if y.direct {
		f.beginLoading(how == "swapdb")
		return
	}
	if err := f.create(); err != nil {
		f.fail('#', "Opening the temp file needed for MASTER <-> REPLICA synchronization: "+err.Error())
	}
}

func (f *following) create() (err error) {
	p, y := f.s.Persist, f.Sync
	if err = p.MakeFolder(); err != nil {
		return err
	}
	if err = p.Reserve(); err != nil {
		return err
	}
	y.path = filepath.Join(p.Folder(), fmt.Sprintf("temp-repl-%d.rdb", f.s.Port()))
	_ = p.Disk.Remove(y.path) // a process that was killed has left it
	y.file, err = p.Disk.Create(y.path)
	return err
}

// takeFile takes a piece of the file.
func (f *following) takeFile(b []byte) {
	y := f.Sync
	y.read += int64(len(b))
	if y.direct {
		f.s.Persist.Progress.Read += int64(len(b))
		if y.loader.feed(b); y.loader.over {
			f.loaded()
		}
		return
	}
	_, err := y.file.Write(b)
	if err == nil && y.read-y.synced >= syncEvery {
		y.synced = y.read
		err = y.file.Sync()
	}
	if err != nil {
		f.fail('#', "Write error or short write writing to the DB dump file needed for MASTER <-> REPLICA "+
			"synchronization: "+err.Error())
	}
}

// endFile is called when the file is complete.
func (f *following) endFile() {
	y := f.Sync
	if y.direct {
		y.loader.end()
		f.loaded()
		return
	}
	err := y.file.Sync()
	if err == nil {
		err = y.file.Close()
		y.file = nil
	}
	if err == nil {
		y.file, err = f.s.Persist.Disk.Open(y.path)
	}
	if err != nil {
		f.fail('#', "Failed trying to sync the temp DB to disk in MASTER <-> REPLICA synchronization: "+err.Error())
		return
	}
	f.beginLoading(false)
	y.loads = true
}

// beginLoading makes a loader. Without beside, the old keys go first.
func (f *following) beginLoading(beside bool) {
	y, p := f.Sync, f.s.Persist
	p.AbortBackground()
	y.loading = p.RDBLoading(false)
	if beside {
		y.beside = f.s.KS.EmptyDatabases()
		y.loading.DBs = y.beside
		y.loading.Library = func(code []byte) error {
			y.code = append(y.code, code)
			return nil
		}
	} else {
		f.s.Log('*', "MASTER <-> REPLICA sync: Flushing old data")
		f.forget()
		f.s.Ex.Empty()
	}
	loads := command.LoadsMaster
	if beside && y.at.ID == f.s.Replicas.Stream.ID { // the old keys are an older state of the same data
		loads = command.LoadsAside
	}
	f.s.Ex.Refusals.Set(loads, true)
	f.s.Log('*', "MASTER <-> REPLICA sync: Loading DB in memory")
	p.Progress = persist.Progress{Began: p.Unix(), Total: max(y.size, 0), RDB: y.loading}
	y.loader = newLoader(f.s.KS, y.loading)
}

// loadMore gives the loader of a file on the disk its part of a pass.
func (f *following) loadMore() {
	y, until := f.Sync, f.s.Ex.Clock.Mono()+loadBudget
	chunk := make([]byte, linkChunk)
	for !y.loader.over && f.s.Ex.Clock.Mono() < until {
		n, err := y.file.Read(chunk)
		f.s.Persist.Progress.Read += int64(n)
		y.loader.feed(chunk[:n])
		if err != nil {
			y.loader.fail(err)
		}
	}
	if y.loader.over {
		f.loaded()
	}
}

// loaded ends a full synchronization, well or not.
func (f *following) loaded() {
	y, p := f.Sync, f.s.Persist
	err := y.loader.err
	from := "disk"
	if y.direct {
		from = "socket"
	} else if err == nil {
		err = p.AdoptFile(y.path)
	}
	if err != nil {
		f.s.Log('#', "%v", err)
		f.fail('#', "Failed trying to load the MASTER synchronization DB from "+from+", check server logs.")
		return
	}
	if y.beside != nil {
		f.s.Log('*', "MASTER <-> REPLICA sync: Swapping active DB with loaded DB")
		f.swap()
	}
	if err := p.AOF.Restart(); err != nil {
		f.fail('#', "Can't begin a new append only file for the keys of the master: "+err.Error())
		return
	}
	p.Loaded, p.Expired = y.loading.Loaded, y.loading.Expired
	f.s.KS.Stats.Dirty++
	f.closeSync()
	f.Known, f.db = y.at.ID != "", y.loading.Stream.DB
	f.s.Replicas.adopt(y.at)
	l := f.Link
	f.begin(l)
	f.s.Log('*', "MASTER <-> REPLICA sync: Finished with success")
	f.s.Link.Up(true)
	if f.Link == l {
		f.acknowledge(l)
		f.flush(l)
	}
}

// swap puts what was loaded in place of the old keys and libraries.
func (f *following) swap() {
	y := f.Sync
	f.forget()
	f.s.Persist.AbortBackground() // it saves the old ones
	f.s.Ex.Empty()
	f.s.Ex.ReplaceDatabases(y.beside)
	y.beside = nil
	for _, code := range y.code {
		if err := f.s.Ex.Scripts.LoadLibrary(code, false); err != nil {
			f.s.Log('#', "Failed loading library, %v", err)
		}
	}
}

// abortSync throws away what has come of a full synchronization. Keys that are loaded in part go, too.
func (f *following) abortSync() {
	y := f.Sync
	if y == nil {
		return
	}
	half := y.loader != nil && y.beside == nil
	f.closeSync()
	for _, db := range y.beside {
		db.Flush()
	}
	if half {
		f.s.Ex.Empty()
	}
	if y.path != "" {
		_ = f.s.Persist.Disk.Remove(y.path) // renamed, or never made
	}
}

// closeSync ends the loader and lets clients in.
func (f *following) closeSync() {
	y := f.Sync
	f.Sync = nil
	if y.loader != nil {
		y.loader.stop()
	}
	if y.file != nil {
		_ = y.file.Close()
	}
	f.s.Ex.Refusals.Set(command.LoadsMaster|command.LoadsAside, false)
}

// keys is the number of keys in all databases.
func (f *following) keys() (n int) {
	for _, db := range f.s.KS.DBs {
		n += db.Len()
	}
	return n
}

// loader loads an RDB file that comes piece by piece. The code that reads the file is a coroutine: it runs only inside
// feed, end and fail, and goes back to its caller when it needs more bytes. Redis blocks there, and looks for other
// clients from time to time (rdb.c: rdbLoadProgressCallback).
type loader struct {
	resume func()
	stop   func()
	wait   func(struct{}) bool
	chunk  []byte
	source error // what Read returns after the last piece
	over   bool
	err    error
}

const errStopped store.Error = "the synchronization was given up"

func newLoader(ks *store.Keyspace, loading *rdb.Loading) *loader {
	l := &loader{}
	next, stop := iter.Pull(func(yield func(struct{}) bool) {
		l.wait = yield
		l.err = loading.ReadStream(l, "the file of the master")
		l.over = true
	})
	l.stop = stop
	l.resume = func() {
		ks.Loading = true // nothing expires: the master says when
		ks.Quietly(func() { next() })
		ks.Loading = false
	}
	return l
}

// feed lets the loader have a piece. It returns when all of it is used.
func (l *loader) feed(b []byte) {
	if l.chunk = b; len(b) > 0 && !l.over {
		l.resume()
	}
}

// end tells the loader that there is no more.
func (l *loader) end() { l.fail(io.EOF) }

func (l *loader) fail(err error) {
	if l.source = err; !l.over {
		l.resume()
	}
}

// Read is what the coroutine reads by.
func (l *loader) Read(p []byte) (int, error) {
	for len(l.chunk) == 0 {
		if l.source != nil {
			return 0, l.source
		}
		if !l.wait(struct{}{}) {
			return 0, errStopped
		}
	}
	n := copy(p, l.chunk)
	l.chunk = l.chunk[n:]
	return n, nil
}
