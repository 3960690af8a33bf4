package command

import (
	"strings"

	"github.com/miniredisd/miniredisd/internal/rdb"
	"github.com/miniredisd/miniredisd/luaeval"
	"github.com/miniredisd/miniredisd/store"
)

// Image is the content of an RDB file: every key of every database, and the function libraries. It
// shares no memory with the keyspace.
type Image struct {
	keys      []imageKey
	libraries []string
}

type imageKey struct {
	db     int
	key    string
	value  []byte // in the format of rdb.Save
	expire int64  // unix ms, 0 for never
	past   store.Past
}

// Image saves all keys and libraries (rdb.c: rdbSaveRio).
func (ex *Executor) Image() *Image {
	im := &Image{libraries: ex.Scripts.Code().Libraries}
	for _, db := range ex.KS.DBs {
		for key, v := range db.Values() {
			im.keys = append(im.keys, imageKey{db.ID, strings.Clone(key), rdb.Save(v), v.Expire(), ex.KS.Past(v)})
		}
	}
	return im
}

// errDuplicate ends Load: the key exists already.
const errDuplicate store.Error = "ERR a key of the image is in the keyspace already"

// Load restores an image. With merge, a key or library of the image replaces one that exists. Without
// merge, one that exists ends the loading with an error. Overdue keys are left out, and no client is
// notified (rdb.c: rdbLoadRioWithLoadingCtx).
func (ex *Executor) Load(im *Image, merge bool) (err error) {
	for _, code := range im.libraries {
		if _, err := ex.Scripts.lua().LoadLibrary(ex.Scripts.functions, []byte(code), merge); err != nil {
			return err
		}
	}
	ex.KS.Quietly(func() {
		for i := range im.keys {
			if err = ex.loadKey(&im.keys[i], merge); err != nil {
				return
			}
		}
	})
	return err
}

func (ex *Executor) loadKey(k *imageKey, merge bool) error {
	if k.expire != 0 && k.expire < ex.KS.Now {
		return nil
	}
	db, key := ex.KS.DBs[k.db], []byte(k.key)
	found := db.Lookup(key, store.LookupNoEffects)
	if !merge && found.Exists() {
		return errDuplicate
	}
	v, err := rdb.Load(ex.KS, k.value)
	if err != nil {
		return err
	}
	found.Put(key, v, k.expire, k.past)
	return nil
}

// SavedLen returns the bytes of a value in an RDB file, without its type.
func SavedLen(v store.Value) int { return len(rdb.Save(v)) - 1 }

// Empty deletes all keys and function libraries (db.c: emptyData).
func (ex *Executor) Empty() {
	ex.flushAll()
	ex.Scripts.functions = luaeval.NewLibraries()
}
