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
			b, err := db.Lookup(key, LookupWrite).MutStr(key, len(val))
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

// sizes is what the values of db hold, summed up anew.
func sizes(db *DB) (sum int) {
	for n := range db.keys.All() {
		sum += n.Val.size()
	}
	return sum
}
