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

// Saving is what a file gets.
type Saving struct {
	Keys      *store.Keyspace
	Libraries []string // of functions

	Compress, Checksum bool   // rdbcompression, rdbchecksum
	Format             int    // FormatRedis or FormatValkey
	Version            string // of the Redis or Valkey that this server is
	UsedMemory         int    // bytes
}

// Save writes a file under another name in the same folder, and then gives it its name (rdb.c: rdbSave).
func Save(on disk.FS, path string, s *Saving) error {
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
	if err := s.fill(f); err != nil {
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

// fill writes and closes a file.
func (s *Saving) fill(f disk.File) error {
	err := s.Write(f)
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

// Write writes the content of a file (rdb.c: rdbSaveRio).
func (s *Saving) Write(to io.Writer) error {
	out := values.NewSink(to, s.Format, s.Compress, s.Checksum)
	head, version := fmt.Appendf(nil, "%s%0*d", signature, versionDigits, s.Format), "redis-ver"
	if s.Format == FormatValkey {
		head, version = fmt.Appendf(nil, "%s%0*d", signatureValkey, versionDigits-1, s.Format), "valkey-ver"
	}
	out.Bytes(head...)
	for _, field := range [...][2]string{
		{version, s.Version}, {"redis-bits", "64"}, {"ctime", strconv.FormatInt(s.Keys.Now/1000, 10)},
		{"used-mem", strconv.Itoa(s.UsedMemory)}, {"aof-base", "0"},
	} {
		out.Bytes(opAux)
		out.Text([]byte(field[0]))
		out.Text([]byte(field[1]))
	}
	for _, code := range s.Libraries {
		out.Bytes(values.OpcodeLibrary)
		out.Text([]byte(code))
	}
	for _, db := range s.Keys.DBs {
		if db.Len() == 0 {
			continue
		}
		if err := s.database(out, db); err != nil {
			return err
		}
	}
	out.Bytes(opEOF)
	if err := out.Flush(); err != nil {
		return err
	}
	out.Fixed(out.Checksum())
	return out.Flush()
}

// database writes the keys of a database. A hash whose fields expire cannot be kept in the format of Redis.
func (s *Saving) database(out *values.Sink, db *store.DB) error {
	out.Bytes(opSelectDB)
	out.Number(uint64(db.ID))
	out.Bytes(opResizeDB)
	out.Number(uint64(db.Len()))
	out.Number(uint64(db.Expires()))
	for name, v := range db.Values() {
		if !values.CanDump(v, s.Format) {
			return fmt.Errorf("fields of the hash '%s' expire, and version %d of the format has no place for that",
				name, s.Format)
		}
		if at := v.Expire(); at != 0 {
			out.Bytes(opExpireMs)
			out.Fixed(uint64(at))
		}
		switch past := s.Keys.Past(v); past.By {
		case store.EvictLRU:
			out.Bytes(opIdle)
			out.Number(uint64(past.Idle))
		case store.EvictLFU:
			out.Bytes(opFreq, past.Freq)
		}
		out.Value([]byte(name), v)
	}
	return nil
}
