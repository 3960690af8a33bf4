package store

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStringsChangedInAnyWayAreWhatAMapHoldsAndAccountedFor(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	ks := NewKeyspace(Options{})
	db := ks.DBs[0]
	model := map[string][]byte{}
	for range 20_000 {
		key := fmt.Appendf(nil, "k%d", r.IntN(8))
		val := bytes.Repeat([]byte{byte('0' + r.IntN(10))}, r.IntN(60))
		old := model[string(key)]
		switch r.IntN(6) {
		case 0:
			db.SetStr(key, val, false)
			model[string(key)] = val
		case 1:
			db.Lookup(key, LookupWrite).SetText(key, val)
			model[string(key)] = val
		case 2:
			db.Lookup(key, LookupWrite).SetRaw(key, bytes.Clone(val), false)
			model[string(key)] = val
		case 3:
			n, err := db.Lookup(key, LookupWrite).Append(key, val, 1000)
			want := append(bytes.Clone(old), val...)
			if len(old) > 0 && len(want) > 1000 {
				require.Equal(t, ErrStringLimit, err)
				break
			}
			require.NoError(t, err)
			require.Equal(t, len(want), n)
			model[string(key)] = want
		case 4:
			b, err := db.Lookup(key, LookupWrite).MutStr(key, 0, len(val))
			require.NoError(t, err)
			copy(b, val)
			want := append(bytes.Clone(old), make([]byte, max(0, len(val)-len(old)))...)
			copy(want, val)
			model[string(key)] = want
		case 5:
			_, had := model[string(key)]
			require.Equal(t, had, db.Delete(key))
			delete(model, string(key))
			continue
		}
		got, ok, err := db.Str(key)
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, string(model[string(key)]), string(got))
		require.Equal(t, sizes(db), ks.valueBytes)
	}
}

func TestALentStringStaysAsItIs(t *testing.T) {
	key, val := []byte("k"), bytes.Repeat([]byte("x"), 100)
	for name, change := range map[string]func(*DB){
		"overwritten": func(db *DB) { db.SetStr(key, bytes.Repeat([]byte("y"), 100), false) },
		"changed in place": func(db *DB) {
			b, err := db.Lookup(key, LookupWrite).MutStr(key, 0, 100)
			require.NoError(t, err)
			b[0] = 'y'
		},
		"grown": func(db *DB) {
			_, err := db.Lookup(key, LookupWrite).Append(key, []byte("y"), 1000)
			require.NoError(t, err)
			b, err := db.Lookup(key, LookupWrite).MutStr(key, 0, 200)
			require.NoError(t, err)
			clear(b)
		},
		"renamed": func(db *DB) {
			other := []byte("other")
			db.Lookup(key, LookupWrite).MoveTo(db.Lookup(other, LookupWrite), other)
			db.SetStr(other, bytes.Repeat([]byte("y"), 100), false)
		},
	} {
		t.Run(name, func(t *testing.T) {
			ks := NewKeyspace(Options{})
			db := ks.DBs[0]
			db.SetStr(key, val, false)
			k := db.Lookup(key, LookupNone)
			lent, err := k.Str()
			require.NoError(t, err)
			k.Lend()
			change(db)
			require.Equal(t, string(val), string(lent))
			require.Equal(t, sizes(db), ks.valueBytes)
		})
	}
}

func TestAStringIsCopiedOnceForALoan(t *testing.T) {
	key := []byte("k")
	db := NewKeyspace(Options{}).DBs[0]
	db.SetStr(key, bytes.Repeat([]byte("x"), 100), false)
	db.Lookup(key, LookupNone).Lend()
	first, err := db.Lookup(key, LookupWrite).MutStr(key, 0, 100)
	require.NoError(t, err)
	second, err := db.Lookup(key, LookupWrite).MutStr(key, 0, 100)
	require.NoError(t, err)
	require.Same(t, &first[0], &second[0])
}

// sizes is what the values of db hold, summed up anew.
func sizes(db *DB) (sum int) {
	for n := range db.keys.All() {
		sum += n.Val.size()
	}
	return sum
}
