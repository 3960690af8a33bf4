package rdb

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	values "github.com/miniredisd/miniredisd/internal/rdb"
	"github.com/miniredisd/miniredisd/persist/disk"
	"github.com/miniredisd/miniredisd/store"
)

// Replication is the place that the keys of a file have in a history of replication (server.h: rdbSaveInfo).
type Replication struct {
	ID     string // 40 hexadecimal digits
	Offset int64
	DB     int // that the stream has selected there
}

// Saving is what a file gets.
type Saving struct {
	Keys      *store.Keyspace // nil if a Writer gets the keys
	Libraries []string        // of functions
	Now       int64           // unix ms

	Compress, Checksum bool         // rdbcompression, rdbchecksum
	Format             int          // FormatRedis or FormatValkey
	Version            string       // of the Redis or Valkey that this server is
	UsedMemory         int          // bytes
	Base               bool         // of an append only file
	Stamp              int64        // unix seconds, for the beginning of commands; 0 for none
	Stream             *Replication // nil for none; a base never gets one

	Delay *Delay          // nil for none
	Stop  <-chan struct{} // closed when nobody wants the file any more; may be nil

	// As begins the content in another form than RDB; nil for RDB.
	As func(to io.Writer, s *Saving) Target
}

// Target gets keys, one after another.
type Target interface {
	Select(db int)                                         // in which the next keys are
	Size(keys, expires int)                                // of that database
	Key(name string, v store.Value, past store.Past) error // an error ends it all
	End() error                                            // after the last key
}

// Save writes a file with all keys of a keyspace.
func Save(on disk.FS, path string, s *Saving) error { return SaveBy(on, path, s.Write) }

// SaveBy writes a file under another name in the same folder, and then gives it its name (rdb.c: rdbSave). fill
// writes the content.
func SaveBy(on disk.FS, path string, fill func(to io.Writer) error) error {
	dir := filepath.Dir(path)
	temporary := filepath.Join(dir, fmt.Sprintf("temp-%d.rdb", os.Getpid()))
	// What is left of a process with this number that was killed, or a link that somebody has put there.
	if err := on.Remove(temporary); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("Failed opening the temp RDB file for saving: %w", err)
	}
	f, err := on.Create(temporary)
	if err != nil {
		return fmt.Errorf("Failed opening the temp RDB file for saving: %w", err)
	}
	if err := complete(f, fill); err != nil {
		_ = on.Remove(temporary)
		return fmt.Errorf("Write error while saving DB to the disk: %w", err)
	}
	if err := on.Rename(temporary, path); err != nil {
		_ = on.Remove(temporary)
		return fmt.Errorf("Error moving temp DB file on the final destination: %w", err)
	}
	if err := on.SyncDir(dir); err != nil {
		return fmt.Errorf("Failed to fsync directory while saving DB: %w", err)
	}
	return nil
}

// complete fills, fsyncs and closes a file.
func complete(f disk.File, fill func(to io.Writer) error) error {
	err := fill(f)
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

// Write writes the content of a file with all keys of a keyspace (rdb.c: rdbSaveRio).
func (s *Saving) Write(to io.Writer) error {
	w := s.Begin(to)
	for _, db := range s.Keys.DBs {
		if db.Len() == 0 {
			continue
		}
		w.Select(db.ID)
		w.Size(db.Len(), db.Expires())
		for name, v := range db.Values() {
			if err := w.Key(name, v, s.Keys.Past(v)); err != nil {
				return err
			}
		}
	}
	return w.End()
}

// Writer writes the content of a file key by key.
type Writer struct {
	out    *values.Sink
	format int
	name   []byte // of the key
	pace   Pace
}

// Begin writes what stands before the keys.
func (s *Saving) Begin(to io.Writer) Target {
	if s.As != nil {
		return s.As(to, s)
	}
	out := values.NewSink(to, s.Format, s.Compress, s.Checksum)
	head, version := fmt.Appendf(nil, "%s%0*d", signature, versionDigits, s.Format), "redis-ver"
	if s.Format == FormatValkey {
		head, version = fmt.Appendf(nil, "%s%0*d", signatureValkey, versionDigits-1, s.Format), "valkey-ver"
	}
	out.Bytes(head...)
	base := "0"
	if s.Base {
		base = "1"
	}
	fields := [][2]string{
		{version, s.Version}, {"redis-bits", "64"}, {"ctime", strconv.FormatInt(s.Now/1000, 10)},
		{"used-mem", strconv.Itoa(s.UsedMemory)},
	}
	if st := s.Stream; st != nil && !s.Base {
		fields = append(fields, [2]string{"repl-stream-db", strconv.Itoa(st.DB)}, [2]string{"repl-id", st.ID},
			[2]string{"repl-offset", strconv.FormatInt(st.Offset, 10)})
	}
	for _, field := range append(fields, [2]string{"aof-base", base}) {
		out.Bytes(opAux)
		out.Text([]byte(field[0]))
		out.Text([]byte(field[1]))
	}
	for _, code := range s.Libraries {
		out.Bytes(values.OpcodeLibrary)
		out.Text([]byte(code))
	}
	return &Writer{out: out, format: s.Format, pace: s.Pace()}
}

// Select says in which database the next keys are.
func (w *Writer) Select(db int) {
	w.out.Bytes(opSelectDB)
	w.out.Number(uint64(db))
}

// Size says how many keys the database has, so that its reader grows its tables at once.
func (w *Writer) Size(keys, expires int) {
	w.out.Bytes(opResizeDB)
	w.out.Number(uint64(keys))
	w.out.Number(uint64(expires))
}

// Key writes a key. A hash whose fields expire cannot be kept in the format of Redis.
func (w *Writer) Key(name string, v store.Value, past store.Past) error {
	if !values.CanDump(v, w.format) {
		return fmt.Errorf("fields of the hash '%s' expire, and version %d of the format has no place for that",
			name, w.format)
	}
	if at := v.Expire(); at != 0 {
		w.out.Bytes(opExpireMs)
		w.out.Fixed(uint64(at))
	}
	switch past.By {
	case store.EvictLRU:
		w.out.Bytes(opIdle)
		w.out.Number(uint64(past.Idle))
	case store.EvictLFU:
		w.out.Bytes(opFreq, past.Freq)
	}
	w.name = append(w.name[:0], name...)
	w.out.Value(w.name, v)
	w.pace.Wait()
	return w.out.Err() // at once: while the rest is copied for nothing, a full disk would stay full
}

// End writes what stands after the keys.
func (w *Writer) End() error {
	w.out.Bytes(opEOF)
	if err := w.out.Flush(); err != nil {
		return err
	}
	w.out.Fixed(w.out.Checksum())
	return w.out.Flush()
}
