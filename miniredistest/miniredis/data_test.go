package miniredis_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/miniredistest/miniredis"
)

// value returns a function that fails the test for an error, and returns the value otherwise.
func value[V any](v V, err error) func(*testing.T) V {
	return func(t *testing.T) V {
		t.Helper()
		require.NoError(t, err)
		return v
	}
}

// fails returns a function that checks the error of a method: want, or any error for nil.
func fails[V any](_ V, err error) func(*testing.T, error) {
	return func(t *testing.T, want error) {
		t.Helper()
		require.Error(t, err)
		if want != nil {
			require.ErrorIs(t, err, want)
		}
	}
}

func TestStringsAndCounters(t *testing.T) {
	m := miniredis.RunT(t)
	require.NoError(t, m.Set("s", "v"))
	require.Equal(t, "v", value(m.Get("s"))(t))
	require.Equal(t, 5, value(m.Incr("n", 5))(t))
	require.InDelta(t, 5.5, value(m.IncrByFloat("n", 0.5))(t), 0)
	fails(m.Get("nosuch"))(t, miniredis.ErrKeyNotFound)
	fails(m.Incr("s", 1))(t, miniredis.ErrIntValueError)
	fails(m.IncrByFloat("s", 1))(t, miniredis.ErrFloatValueError)
	require.NoError(t, m.Set("max", "9223372036854775807"))
	fails(m.Incr("max", 1))(t, miniredis.ErrIntValueOverflowError)
	m.HSet("h", "f", "v")
	require.ErrorIs(t, m.Set("h", "v"), miniredis.ErrWrongType)
	fails(m.Get("h"))(t, miniredis.ErrWrongType)
	require.Equal(t, 1, value(m.PfAdd("p", "a", "b"))(t))
	require.Equal(t, 1, value(m.PfAdd("q", "c"))(t))
	require.NoError(t, m.PfMerge("r", "p", "q"))
	require.Equal(t, 3, value(m.PfCount("r"))(t))
	fails(m.PfCount("s"))(t, miniredis.ErrNotValidHllValue)
}

func TestListsAndSets(t *testing.T) {
	m := miniredis.RunT(t)
	require.Equal(t, 3, value(m.Push("l", "b", "c", "d"))(t))
	require.Equal(t, 4, value(m.Lpush("l", "a"))(t))
	require.Equal(t, 5, value(m.RPush("l", "e"))(t))
	require.Equal(t, "a", value(m.Lpop("l"))(t))
	require.Equal(t, "e", value(m.Pop("l"))(t))
	require.Equal(t, "d", value(m.RPop("l"))(t))
	m.CheckList(t, "l", "b", "c")
	fails(m.List("nosuch"))(t, miniredis.ErrKeyNotFound)
	fails(m.Pop("nosuch"))(t, miniredis.ErrKeyNotFound)

	require.Equal(t, 2, value(m.SAdd("s", "y", "x"))(t))
	m.CheckSet(t, "s", "y", "x")
	require.Equal(t, []string{"x", "y"}, value(m.SMembers("s"))(t))
	require.True(t, value(m.SIsMember("s", "x"))(t))
	require.Equal(t, 1, value(m.SRem("s", "x", "z"))(t))
	require.Equal(t, 1, value(m.SCard("s"))(t))
	require.Equal(t, "y", value(m.SRandMember("s"))(t))
	require.Zero(t, value(m.SCard("nosuch"))(t))
	require.Empty(t, value(m.SRandMember("nosuch"))(t))
	fails(m.SMembers("nosuch"))(t, miniredis.ErrKeyNotFound)
	fails(m.IsMember("nosuch", "x"))(t, miniredis.ErrKeyNotFound)
	fails(m.SRem("nosuch", "x"))(t, miniredis.ErrKeyNotFound)
	fails(m.SAdd("l", "x"))(t, miniredis.ErrWrongType)
	fails(m.SCard("l"))(t, miniredis.ErrWrongType)
}

func TestHashesSortedSetsAndStreams(t *testing.T) {
	m := miniredis.RunT(t)
	m.HSet("h", "b", "1", "a", "2")
	require.Equal(t, "2", m.HGet("h", "a"))
	require.Empty(t, m.HGet("h", "nosuch"))
	require.Equal(t, []string{"a", "b"}, value(m.HKeys("h"))(t))
	require.Equal(t, 4, value(m.HIncrBy("h", "b", 3))(t))
	require.InDelta(t, 4.25, value(m.HIncrByFloat("h", "b", 0.25))(t), 0)
	m.HDel("h", "a")
	require.Equal(t, []string{"b"}, value(m.HKeys("h"))(t))
	fails(m.HKeys("nosuch"))(t, miniredis.ErrKeyNotFound)

	require.True(t, value(m.ZAdd("z", 2, "two"))(t))
	require.True(t, value(m.ZAdd("z", 1.5, "one"))(t))
	require.False(t, value(m.ZAdd("z", 1, "one"))(t))
	require.Equal(t, []string{"one", "two"}, value(m.ZMembers("z"))(t))
	require.Equal(t, map[string]float64{"one": 1, "two": 2}, value(m.SortedSet("z"))(t))
	require.InDelta(t, 2, value(m.ZScore("z", "two"))(t), 0)
	require.Equal(t, []float64{1, 0}, value(m.ZMScore("z", "one", "nosuch"))(t))
	require.True(t, value(m.ZRem("z", "one"))(t))
	require.False(t, value(m.ZRem("z", "one"))(t))
	fails(m.ZMembers("nosuch"))(t, miniredis.ErrKeyNotFound)
	fails(m.SortedSet("nosuch"))(t, miniredis.ErrKeyNotFound)
	fails(m.ZScore("nosuch", "x"))(t, miniredis.ErrKeyNotFound)
	fails(m.ZRem("nosuch", "x"))(t, miniredis.ErrKeyNotFound)

	require.Equal(t, "1-1", value(m.XAdd("x", "1-1", []string{"f", "v"}))(t))
	id := value(m.XAdd("x", "", []string{"g", "w"}))(t)
	entries := []miniredis.StreamEntry{{"1-1", []string{"f", "v"}}, {id, []string{"g", "w"}}}
	require.Equal(t, entries, value(m.Stream("x"))(t))
	require.Empty(t, value(m.Stream("nosuch"))(t))
	fails(m.XAdd("x", "1-1", []string{"f", "v"}))(t, nil)
}

func TestDatabasesAreSeparate(t *testing.T) {
	m := miniredis.RunT(t)
	require.NoError(t, m.Set("a", "0"))
	m.Select(2)
	require.NoError(t, m.Set("b", "2"))
	require.Equal(t, []string{"b"}, m.Keys())
	require.Equal(t, []string{"a"}, m.DB(0).Keys())
	require.NoError(t, m.Copy(2, "b", 0, "c"))
	require.ErrorIs(t, m.Copy(2, "nosuch", 0, "c"), miniredis.ErrKeyNotFound)
	require.Equal(t, "string", m.DB(0).Type("c"))
	require.Empty(t, m.Type("c"))
	require.True(t, m.SwapDB(0, 2))
	require.False(t, m.SwapDB(0, 99))
	require.Equal(t, []string{"a", "c"}, m.Keys())
	require.Equal(t, "a  \"0\"\nc  \"2\"\n", m.Dump())
	require.True(t, m.Del("a"))
	require.False(t, m.Del("a"))
	require.True(t, m.Unlink("c"))
	m.FlushDB()
	require.True(t, m.DB(0).Exists("b"))
	m.FlushAll()
	require.False(t, m.DB(0).Exists("b"))
	fails(m.DB(99).Get("k"))(t, nil)
}

func TestChecksFailTheTest(t *testing.T) {
	m := miniredis.RunT(t)
	_, err := m.Push("l", "a")
	require.NoError(t, err)
	var f fakeT
	m.CheckGet(&f, "nosuch", "v")
	require.Equal(t, `GET error, key "nosuch": ERR no such key`, f.text)
	m.CheckList(&f, "l", "b")
	require.Equal(t, `List error, key "l": Expected []string{"b"}, got []string{"a"}`, f.text)
	m.CheckSet(&f, "l", "a")
	require.Contains(t, f.text, `Set error, key "l": WRONGTYPE Operation against a key holding`)
}
