package topology_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/lab/topology"
)

// id returns the ID of a node of a test: a digit, 40 times.
func id(n int) string { return strings.Repeat(fmt.Sprint(n), 40) }

// formed returns the views of a cluster whose masters share the slots, and whose replicas come after them. All of them
// know all.
func formed(masters, replicas int) []topology.View {
	var views []topology.View
	for n := range masters + replicas {
		views = append(views, topology.New(topology.Node{
			ID: id(n + 1), Shard: id(n + 1), Host: "127.0.0.1", Port: 7001 + n, BusPort: 17001 + n,
		}))
	}
	for n := range views {
		var err error
		views[n], err = views[n].Number(uint64(n + 1))
		mustNot(err)
		if n < masters {
			views[n], err = views[n].Claim(slots(n*topology.Slots/masters, (n+1)*topology.Slots/masters-1))
			mustNot(err)
		}
		for other := range views {
			if other != n {
				views[n] = views[n].With(*views[other].Me())
			}
		}
		if n >= masters {
			views[n], err = views[n].Replicate(id(n%masters+1), true)
			mustNot(err)
		}
	}
	return heardByAll(views)
}

func mustNot(err error) {
	if err != nil {
		panic(err)
	}
}

func slots(from, to int) (all []int) {
	for slot := from; slot <= to; slot++ {
		all = append(all, slot)
	}
	return all
}

// heardByAll is every node hearing every other one, until nothing changes any more.
func heardByAll(views []topology.View) []topology.View {
	for range 4 {
		for n := range views {
			for other := range views {
				views[n] = views[n].Hear(&views[other], 1, newEpoch(views), true)
			}
		}
	}
	return views
}

// newEpoch makes epochs that no view has.
func newEpoch(views []topology.View) func() uint64 {
	return func() (newest uint64) {
		for i := range views {
			newest = max(newest, views[i].Current)
		}
		return newest + 1
	}
}

func TestARequestGoesWhereRedisSendsIt(t *testing.T) {
	all := formed(3, 3)
	foo, bar := []byte("foo"), []byte("bar") // slots 12182 and 5061: node 3 and node 1
	tag := func(s string) []byte { return []byte("{foo}" + s) }
	gives, err := all[2].Migrate(12182, id(1))
	require.NoError(t, err)
	gets, err := all[0].Import(12182, id(3))
	require.NoError(t, err)
	lone := topology.New(topology.Node{ID: id(1)})
	has := func(keys ...string) func([]byte) bool {
		return func(key []byte) bool { return strings.Contains(strings.Join(keys, " "), string(key)) }
	}
	for _, c := range []struct {
		name string
		view topology.View
		q    topology.Query
		want topology.Verdict
		slot int
		to   string
	}{
		{"no key is executed anywhere", all[0], topology.Query{}, topology.Here, -1, ""},
		{"even when the cluster is down", all[0], topology.Query{IsDown: true}, topology.Here, -1, ""},
		{"the owner executes", all[2], topology.Query{Keys: [][]byte{foo}}, topology.Here, 12182, ""},
		{"others send to it", all[0], topology.Query{Keys: [][]byte{foo}}, topology.Moved, 12182, id(3)},
		{"also its replica", all[5], topology.Query{Keys: [][]byte{foo}}, topology.Moved, 12182, id(3)},
		{"unless for reads", all[5], topology.Query{Keys: [][]byte{foo}, ReadsHere: true}, topology.Here, 12182, ""},
		{"a write goes to the master", all[5], topology.Query{Keys: [][]byte{foo}, ReadsHere: true, Writes: true},
			topology.Moved, 12182, id(3)},
		{"a shard channel is on replicas too", all[5], topology.Query{Keys: [][]byte{foo}, IsShard: true},
			topology.Here, 12182, ""},
		{"two slots", all[2], topology.Query{Keys: [][]byte{foo, bar}}, topology.CrossSlot, -1, ""},
		{"nobody serves", lone, topology.Query{Keys: [][]byte{foo, bar}, IsDown: true}, topology.Unbound, -1, ""},
		{"down", all[2], topology.Query{Keys: [][]byte{foo}, IsDown: true}, topology.Down, -1, ""},
		{"down, and two slots", all[2], topology.Query{Keys: [][]byte{foo, bar}, IsDown: true}, topology.CrossSlot, -1, ""},
		{"down for writes", all[2], topology.Query{Keys: [][]byte{foo}, IsDown: true, ReadsWhenDown: true, Writes: true},
			topology.DownReads, -1, ""},
		{"not for reads", all[2], topology.Query{Keys: [][]byte{foo}, IsDown: true, ReadsWhenDown: true},
			topology.Here, 12182, ""},
		{"down for shard channels", all[2], topology.Query{Keys: [][]byte{foo}, IsDown: true, IsShard: true,
			ReadsWhenDown: true}, topology.Down, -1, ""},
		{"not for these", all[2], topology.Query{Keys: [][]byte{foo}, IsDown: true, IsShard: true, PubSubWhileDown: true},
			topology.Here, 12182, ""},
		{"it is still here", gives, topology.Query{Keys: [][]byte{foo}, Has: has("foo")}, topology.Here, 12182, ""},
		{"it is there", gives, topology.Query{Keys: [][]byte{foo}, Has: has()}, topology.Ask, 12182, id(1)},
		{"all are there", gives, topology.Query{Keys: [][]byte{foo, tag("b")}, Has: has()}, topology.Ask, 12182, id(1)},
		{"half of them", gives, topology.Query{Keys: [][]byte{foo, tag("b")}, Has: has("foo")}, topology.TryAgain, 12182, ""},
		{"MIGRATE moves them", gives, topology.Query{Keys: [][]byte{foo, tag("b")}, Has: has("foo"), IsMigrate: true},
			topology.Here, 12182, ""},
		{"a shard channel stays", gives, topology.Query{Keys: [][]byte{foo}, IsShard: true, Has: has()},
			topology.Here, 12182, ""},
		{"who does not ask is sent back", gets, topology.Query{Keys: [][]byte{foo}, Has: has("foo")},
			topology.Moved, 12182, id(3)},
		{"who asks is served", gets, topology.Query{Keys: [][]byte{foo}, Asking: true, Has: has()}, topology.Here, 12182, ""},
		{"twice the same key", gets, topology.Query{Keys: [][]byte{foo, foo}, Asking: true, Has: has()},
			topology.Here, 12182, ""},
		{"two keys, one here", gets, topology.Query{Keys: [][]byte{foo, tag("b")}, Asking: true, Has: has("foo")},
			topology.TryAgain, 12182, ""},
		{"two keys, both here", gets, topology.Query{Keys: [][]byte{foo, tag("b")}, Asking: true, Has: has("foo", "{foo}b")},
			topology.Here, 12182, ""},
	} {
		verdict, slot, to := c.view.Decide(&c.q)
		require.Equal(t, c.want, verdict, c.name)
		require.Equal(t, c.slot, slot, c.name)
		if c.to == "" {
			require.Nil(t, to, c.name)
		} else {
			require.Equal(t, c.to, to.ID, c.name)
		}
	}
}

// A request about one key in the home of a node stays there, whatever else it says.
func TestTheHomeOfANodeIsWhatDecideSays(t *testing.T) {
	v := topology.New(topology.Node{ID: "a"})
	require.Equal(t, topology.NoRange(), v.Home())
	v, err := v.Claim([]int{5, 100, 101, 102, 16383})
	require.NoError(t, err)
	require.Equal(t, 100, v.Home().From)
	require.Equal(t, 102, v.Home().To)
	v.Migrating = map[int]string{5: "b"}
	require.Equal(t, topology.NoRange(), v.Home())
}
