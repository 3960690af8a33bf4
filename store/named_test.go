package store

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNamedAgreesWithAMapUnderRandomChanges(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	list, model := new(Named[StreamConsumer]), map[string]bool{}
	compare := (*StreamConsumer).compare
	for i := range 60_000 {
		name := fmt.Sprint(r.IntN(6_000))
		c := list.find([]byte(name), compare)
		require.Equal(t, model[name], c != nil)
		switch grow := i/15_000%2 == 0; {
		case grow && c == nil:
			list.insert(&StreamConsumer{Name: name}, []byte(name), compare)
			model[name] = true
		case !grow:
			require.Equal(t, c, list.remove([]byte(name), compare))
			delete(model, name)
		}
		require.Equal(t, len(model), list.Len())
	}
	check := func() {
		var names []string
		for c := range list.All() {
			names = append(names, c.Name)
		}
		require.Equal(t, slices.Sorted(maps.Keys(model)), names)
	}
	check()
	for name := range model {
		require.Equal(t, name, list.remove([]byte(name), compare).Name)
		delete(model, name)
	}
	check()
	require.Nil(t, list.Last())
}
