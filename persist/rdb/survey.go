package rdb

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	values "github.com/miniredisd/miniredisd/internal/rdb"
	"github.com/miniredisd/miniredisd/store"
)

// Survey is what a file contains. Read checks the file as Load does and keeps none of its keys (redis-check-rdb.c). So
// it does not see a key that the file has twice. Unlike a Loading it takes any number of databases, keys whose time is
// over, and the data of modules.
type Survey struct {
	Now int64 // unix ms: says which keys have expired

	Version   int         // of the format
	Aux       [][2]string // names and values of auxiliary fields
	Libraries []string    // the code of each library of functions
	Modules   []string    // that have data outside of keys
	DBs       []DBSurvey  // those that have keys, in the order of their IDs
	Empty     int64       // keys without elements, which servers skip
	Unsummed  bool        // the file has no checksum

	Bytes int64     // of the file, up to the end of the format
	Rest  io.Reader // what comes after them
}

// DBSurvey is what a file contains of a database.
type DBSurvey struct {
	ID      uint64
	Types   map[string]int64 // keys of each type
	Expires int64            // keys that have a time
	Expired int64            // and those of them whose time is over
}

// typeOfModules is the type of a module's keys.
const typeOfModules = "module"

// Read reads the content of a file. size is the number of bytes that it may read. The error is a *DamageError. Then the
// Survey has what stands before the damage.
func (s *Survey) Read(from io.Reader, size int64, path string) error {
	ks := store.NewKeyspace(store.Options{Databases: 1})
	r := surveyor{to: s, dbs: map[uint64]*DBSurvey{}}
	r.reader = reader{Loading: &Loading{Keys: ks, Library: r.library}, src: values.NewSource(from, size, ks)}
	err := r.file()
	for _, id := range slices.Sorted(maps.Keys(r.dbs)) {
		s.DBs = append(s.DBs, *r.dbs[id])
	}
	if err == nil {
		s.Bytes, s.Rest = r.src.Offset(), r.src.Rest()
		return nil
	}
	if broken := r.src.Err(); broken != nil {
		err = damage(broken, err)
	}
	return &DamageError{path, r.record, err.Error()}
}

// surveyor reads one file. It reads those records itself that a Loading would keep or refuse.
type surveyor struct {
	reader
	to  *Survey
	dbs map[uint64]*DBSurvey
	id  uint64 // of the database
}

func (r *surveyor) file() (err error) {
	if r.to.Version, err = r.version(); err != nil {
		return err
	}
	for {
		r.record = r.src.Offset()
		kind := r.src.Byte()
		if r.src.Err() != nil {
			return errors.New("the end mark is missing")
		}
		if kind == opEOF {
			return r.end()
		}
		if err := r.survey(kind); err != nil {
			return err
		}
	}
}

// survey reads a record.
func (r *surveyor) survey(kind byte) error {
	switch {
	case kind == opSelectDB:
		r.id = r.src.Number()
	case kind == opAux:
		name, value := string(r.src.Text()), string(r.src.Text())
		if r.src.Err() == nil {
			r.to.Aux = append(r.to.Aux, [2]string{name, value})
		}
	case kind == opModuleAux:
		return r.moduleAux()
	case kind == typeModule2:
		return r.moduleKey()
	case kind >= values.OpcodeLibrary || kind == typeModulePreGA:
		return r.one(kind)
	default:
		return r.surveyKey(kind)
	}
	if r.src.Err() != nil {
		return fmt.Errorf("record %d", kind)
	}
	return nil
}

func (r *surveyor) library(code []byte) error {
	r.to.Libraries = append(r.to.Libraries, string(code))
	return nil
}

func (r *surveyor) surveyKey(kind byte) error {
	name := r.src.Text()
	if r.src.Err() != nil {
		return errors.New("the name of a key")
	}
	v, empty := r.src.Value(kind)
	switch {
	case r.src.Err() != nil:
		return fmt.Errorf("the key '%s', of type %d", name, kind)
	case empty:
		r.to.Empty++
		r.next = attributes{}
		return nil
	}
	r.count(v.Type().String())
	return nil
}

// count counts a key of the present database.
func (r *surveyor) count(kind string) {
	db := r.dbs[r.id]
	if db == nil {
		db = &DBSurvey{ID: r.id, Types: map[string]int64{}}
		r.dbs[r.id] = db
	}
	db.Types[kind]++
	if r.next.has {
		db.Expires++
	}
	if r.next.has && r.next.expire < r.to.Now {
		db.Expired++
	}
	r.next = attributes{}
}

func (r *surveyor) moduleKey() error {
	name := r.src.Text()
	module := moduleName(r.src.Number())
	r.skipModule()
	if r.src.Err() != nil {
		return fmt.Errorf("the key '%s' of the module '%s'", name, module)
	}
	r.count(typeOfModules)
	return nil
}

func (r *surveyor) moduleAux() error {
	module := moduleName(r.src.Number())
	when := r.src.Number() // followed by when the module wants it: before the keys, or after them
	r.src.Number()
	if r.src.Err() == nil && when != moduleUint {
		return fmt.Errorf("data of the module '%s': bad when_opcode", module)
	}
	r.skipModule()
	if r.src.Err() != nil {
		return fmt.Errorf("data of the module '%s'", module)
	}
	r.to.Modules = append(r.to.Modules, module)
	return nil
}

// What stands before each piece of a module's data (rdb.h: RDB_MODULE_OPCODE_*).
const (
	moduleEnd = iota
	moduleSint
	moduleUint
	moduleFloat
	moduleDouble
	moduleString
)

// skipModule skips the data of a module: only the module knows what they mean (rdb.c: rdbLoadCheckModuleValue).
func (r *surveyor) skipModule() {
	for r.src.Err() == nil {
		switch r.src.Number() {
		case moduleEnd:
			return
		case moduleSint, moduleUint:
			r.src.Number()
		case moduleFloat:
			r.src.Bytes(4)
		case moduleDouble:
			r.src.Bytes(8)
		case moduleString:
			r.src.Text()
		}
	}
}

// end compares the checksum after the end mark.
func (r *surveyor) end() error {
	expected := r.src.Checksum()
	r.record = r.src.Offset()
	if r.to.Unsummed = r.to.Version < checksumVersion; r.to.Unsummed {
		return nil
	}
	got := r.src.Fixed()
	switch {
	case r.src.Err() != nil:
		return errors.New("the checksum")
	case got == 0:
		r.to.Unsummed = true
	case got != expected:
		return fmt.Errorf("RDB CRC error: expected %x, got %x", expected, got)
	}
	return nil
}
