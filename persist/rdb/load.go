package rdb

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	values "github.com/miniredisd/miniredisd/internal/rdb"
	"github.com/miniredisd/miniredisd/persist/disk"
	"github.com/miniredisd/miniredisd/store"
)

// Loading is where the content of a file goes.
type Loading struct {
	Keys    *store.Keyspace
	Library func(code []byte) error // loads a library of functions

	DBs []*store.DB // that get the keys; nil for those of Keys

	Merge    bool // a key of the file replaces one that exists; else it ends the loading
	Checksum bool // rdbchecksum: compare the checksum

	Log func(level byte, format string, args ...any)

	// Each, unless nil, is called after each key, with the number of bytes so far. Its error ends the loading.
	Each func(end int64) error

	// UsedMemory is what the server that has written the file said of its memory, in bytes.
	UsedMemory int64

	// Late gets each key that is left out because its time is over; it may be nil.
	Late func(db int, key []byte)

	// Stream is what the file says of its place in a history. The ID is "" if it says nothing.
	Stream Replication

	// Load counts these keys. Expired ones and empty ones were left out.
	Loaded, Expired, Empty int64
}

// DamageError says where and why a file cannot be loaded.
type DamageError struct {
	File   string
	Offset int64 // bytes before the record at fault
	Why    string
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("%s: byte %d: %s", e.File, e.Offset, e.Why)
}

// Load reads a file (rdb.c: rdbLoad). The error is fs.ErrNotExist if there is none, and a *DamageError if it is no file
// to load. Then some keys may be loaded already.
func (l *Loading) Load(from disk.FS, path string) error {
	f, err := from.Open(path)
	if err != nil {
		return err
	}
	size, err := f.Size()
	if err == nil {
		err = l.Read(f, size, path)
	}
	_ = f.Close()
	return err
}

// Read reads the content of a file. size is the number of bytes that it may read.
func (l *Loading) Read(from io.Reader, size int64, path string) error {
	return l.read(l.reader(values.NewSource(from, size, l.Keys)), path)
}

// ReadStream is Read for a file that arrives, and that nothing may follow. name is for errors.
func (l *Loading) ReadStream(from io.Reader, name string) error {
	r := l.reader(values.NewStream(from, l.Keys))
	if err := l.read(r, name); err != nil {
		return err
	}
	at := r.src.Offset()
	if n, _ := io.ReadFull(r.src.Rest(), make([]byte, 1)); n > 0 {
		return &DamageError{name, at, "there are bytes behind the end of the file"}
	}
	return nil
}

func (l *Loading) reader(src *values.Source) *reader {
	if l.DBs == nil {
		l.DBs = l.Keys.DBs
	}
	return &reader{Loading: l, src: src, db: l.DBs[0]}
}

func (l *Loading) read(r *reader, path string) (err error) {
	l.Keys.Quietly(func() { err = r.file() })
	if err == nil {
		return nil
	}
	if broken := r.src.Err(); broken != nil {
		err = damage(broken, err)
	}
	return &DamageError{path, r.record, err.Error()}
}

// ReadBase is Read for the beginning of an append only file. It returns how many bytes the RDB file has, and a reader
// of what comes after it. Keys whose time is over are loaded too: a later command may have made them persist (rdb.c:
// RDBFLAGS_AOF_PREAMBLE).
func (l *Loading) ReadBase(from io.Reader, size int64, path string) (bytes int64, rest io.Reader, err error) {
	r := l.reader(values.NewSource(from, size, l.Keys))
	if err := l.read(r, path); err != nil {
		return 0, nil, err
	}
	return r.src.Offset(), r.src.Rest(), nil
}

// damage adds to what was being read why it could not be read.
func damage(broken, what error) error {
	switch {
	case errors.Is(broken, values.ErrShort):
		return fmt.Errorf("%w: the file ends too early, or a length is wrong", what)
	case errors.Is(broken, values.ErrFormat):
		return fmt.Errorf("%w: the bytes make no sense", what)
	}
	return fmt.Errorf("%w: %w", what, broken)
}

// reader reads one file.
type reader struct {
	*Loading
	src    *values.Source
	record int64 // where the record begins that is being read
	db     *store.DB
	next   attributes
	rooms  uint64 // for how many keys tables were made
}

// expect makes room for the keys that a file announces. A key has at least four bytes in a file, and so has a bucket of
// a table: the tables of all databases together are at most twice as large as the file.
func (r *reader) expect(keys uint64) {
	if r.db == nil { // a survey keeps no keys
		return
	}
	keys = min(keys, max(r.src.Left()/4, r.rooms)-r.rooms)
	r.rooms += keys
	r.db.Expect(int(keys))
}

// attributes are what stands before a key.
type attributes struct {
	expire int64 // unix ms
	has    bool  // an expire
	past   store.Past
}

// file reads the whole file (rdb.c: rdbLoadRioWithLoadingCtx).
func (r *reader) file() error {
	version, err := r.version()
	if err != nil {
		return err
	}
	for {
		r.record = r.src.Offset()
		kind := r.src.Byte()
		if r.src.Err() != nil {
			return errors.New("the end mark is missing")
		}
		if kind == opEOF {
			return r.checkSum(version)
		}
		if err := r.one(kind); err != nil {
			return err
		}
	}
}

// version reads the signature and the version (Valkey's rdb.c: rdbLoadRioWithLoadingCtx).
func (r *reader) version() (int, error) {
	head := string(r.src.Bytes(len(signature) + versionDigits))
	digits, valkey := strings.CutPrefix(head, signatureValkey)
	if !valkey {
		var redis bool
		if digits, redis = strings.CutPrefix(head, signature); !redis {
			return 0, errors.New("no RDB file: it does not begin with " + signature)
		}
	}
	version, err := strconv.Atoi(digits)
	known := version >= 1 && version <= FormatRedis
	if valkey {
		known = version == FormatValkey
	}
	if err != nil || !known {
		return 0, fmt.Errorf("Can't handle RDB format version %d", version)
	}
	return version, nil
}

// one reads a record.
func (r *reader) one(kind byte) error {
	switch kind {
	case opExpire:
		seconds := int32(binary.LittleEndian.Uint32(r.src.Bytes(4)))
		r.next.expire, r.next.has = int64(seconds)*1000, true
	case opExpireMs:
		r.next.expire, r.next.has = int64(r.src.Fixed()), true
	case opFreq:
		r.next.past = store.Past{By: store.EvictLFU, Freq: r.src.Byte()}
	case opIdle:
		r.next.past = store.Past{By: store.EvictLRU, Idle: int64(min(r.src.Number(), lruRange))}
	case opSelectDB:
		n := r.src.Number()
		if r.src.Err() == nil && n >= uint64(len(r.DBs)) {
			return fmt.Errorf("database %d: the directive databases says that there are %d", n, len(r.DBs))
		}
		r.db = r.DBs[min(n, uint64(len(r.DBs)-1))]
	case opResizeDB:
		keys := r.src.Number()
		r.src.Number()
		r.expect(keys)
	case opAux:
		r.aux(string(r.src.Text()), string(r.src.Text()))
	case opModuleAux:
		return fmt.Errorf("data of the module '%s', which is not here", moduleName(r.src.Number()))
	case opFunctionPreGA:
		return errors.New("functions of a release candidate of Redis 7.0, which no server loads")
	case values.OpcodeLibrary:
		return r.library(r.src.Text())
	default:
		err := r.key(kind)
		if err == nil && r.Each != nil {
			err = r.Each(r.src.Offset())
		}
		return err
	}
	if r.src.Err() != nil {
		return fmt.Errorf("record %d", kind)
	}
	return nil
}

// lruRange is more than the seconds of which a server knows.
const lruRange = 1 << 24

// aux logs what Redis logs of an auxiliary field. A server ignores the others.
func (r *reader) aux(name, value string) {
	n, _ := strconv.ParseInt(value, 10, 64)
	switch {
	case r.src.Err() != nil:
	case name != "" && name[0] == '%':
		r.Log('*', "RDB '%s': %s", name, value)
	case name == "redis-ver", name == "valkey-ver":
		r.Log('*', "Loading RDB produced by version %s", value)
	case name == "ctime":
		r.Log('*', "RDB age %d seconds", max(r.Keys.Now/1000-n, 0))
	case name == "repl-stream-db":
		r.Stream.DB = int(min(max(n, 0), int64(len(r.DBs)-1)))
	case name == "repl-id" && isID(value):
		r.Stream.ID = value
	case name == "repl-offset":
		r.Stream.Offset = max(n, 0)
	case name == "used-mem":
		r.UsedMemory = n
		r.Log('*', "RDB memory usage when created %.2f Mb", float64(n)/(1<<20))
	}
}

// isID reports whether a text is the ID of a history. INFO shows it.
func isID(text string) bool {
	raw, err := hex.DecodeString(text)
	return err == nil && len(raw) == 20
}

// moduleName is the name in the number of a module's type (module.c: moduleTypeNameByID).
func moduleName(id uint64) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	var name [9]byte
	id >>= 10 // the version
	for i := len(name) - 1; i >= 0; i-- {
		name[i] = letters[id&63]
		id >>= 6
	}
	return string(name[:])
}

func (r *reader) library(code []byte) error {
	if r.src.Err() != nil {
		return errors.New("a library of functions")
	}
	if err := r.Library(code); err != nil {
		return fmt.Errorf("Failed loading library, %w", err)
	}
	return nil
}

// key reads a key and stores it.
func (r *reader) key(kind byte) error {
	if kind == typeModulePreGA {
		return errors.New("a module's value of a release candidate of Redis 4.0, which no server loads")
	}
	name, next := r.src.Text(), r.next
	r.next = attributes{}
	if r.src.Err() != nil {
		return errors.New("the name of a key")
	}
	if kind == typeModule2 {
		return fmt.Errorf("the key '%s' belongs to the module '%s', which is not here", name, moduleName(r.src.Number()))
	}
	v, empty := r.src.Value(kind)
	switch {
	case r.src.Err() != nil:
		return fmt.Errorf("the key '%s', of type %d", name, kind)
	case empty:
		if r.Empty++; r.Empty <= 10 {
			r.Log('*', "rdbLoadObject skipping empty key: %s", name)
		}
		return nil
	case next.has && next.expire < r.Keys.Now && !r.Keys.Loading, v.DropOverdue():
		r.Expired++
		if r.Late != nil {
			r.Late(r.db.ID, name)
		}
		return nil
	}
	found := r.db.Peek(name)
	if found.Exists() && !r.Merge {
		return fmt.Errorf("RDB has duplicated key '%s' in DB %d", name, r.db.ID)
	}
	found.Put(name, v, next.expire, next.past)
	r.Keys.Settle()
	r.Loaded++
	return nil
}

// checkSum compares the checksum after the end mark.
func (r *reader) checkSum(version int) error {
	expected := r.src.Checksum()
	if version < checksumVersion {
		return r.done()
	}
	r.record = r.src.Offset()
	got := r.src.Fixed()
	switch {
	case r.src.Err() != nil:
		return errors.New("the checksum")
	case !r.Checksum:
	case got == 0:
		r.Log('*', "RDB file was saved with checksum disabled: no check performed.")
	case got != expected:
		return fmt.Errorf("RDB CRC error: expected %x, got %x", expected, got)
	}
	return r.done()
}

func (r *reader) done() error {
	skipped := ""
	if r.Empty > 0 {
		skipped = fmt.Sprintf(", empty keys skipped: %d", r.Empty)
	}
	r.Log('*', "Done loading RDB, keys loaded: %d, keys expired: %d%s.", r.Loaded, r.Expired, skipped)
	return nil
}
