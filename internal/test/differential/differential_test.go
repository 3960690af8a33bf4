package differential

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/resp"
)

func TestTwoRealServersAgree(t *testing.T) {
	oracle := redistest.Start(t)
	other := redistest.Start(t)
	c := redistest.Dial(t, other.Addr)
	for name, value := range thresholds {
		c.Do("CONFIG", "SET", name, value)
	}
	Run(t, other.Addr, oracle, Options{Seed: 1, Count: 15000})
}

func TestDifferenceIsFoundAndShortened(t *testing.T) {
	oracle := redistest.Start(t)
	ours := redistest.Start(t, "--hash-max-listpack-entries", "2")
	d := &duel{t: t, older: true}
	d.oracle[0], d.ours[0] = redistest.Dial(t, oracle.Addr), redistest.Dial(t, ours.Addr)
	s := sequence{proto: 2}
	for _, c := range []string{"SET s1 a", "HSET h1 a 1 b 2", "HGET h1 a", "HSET h1 c 3 a 4", "DEL h1", "GET s1"} {
		s.commands = append(s.commands, command{' ', strings.Fields(c)})
	}
	require.NotNil(t, d.play(s))
	short, diff := d.shorten(s)
	require.Equal(t, "> HSET h1 a 1 b 2\n> HSET h1 c 4\n> OBJECT ENCODING h1\n"+
		"redis-server: \"listpack\"\nminiredisd:   \"hashtable\"", d.describe(short, diff))
}

func TestShortenKeepsWhatIsNeeded(t *testing.T) {
	list := strings.Split("abcdefghijklmnopq", "")
	got := shorten(list, func(l []string) bool {
		s := strings.Join(l, "")
		return strings.Contains(s, "c") && strings.Contains(s, "h") && strings.Contains(s, "q")
	})
	require.Equal(t, []string{"c", "h", "q"}, got)
}

func TestSeedFixesTheCommands(t *testing.T) {
	a, err := newGenerator(nil, oracle{})
	require.NoError(t, err)
	b, err := newGenerator(nil, oracle{})
	require.NoError(t, err)
	a.reset(rand.New(rand.NewPCG(7, 0)))
	b.reset(rand.New(rand.NewPCG(7, 0)))
	for range 1000 {
		require.Equal(t, a.command(), b.command())
	}
}

func TestCommandsThatTheOracleLacksAreNotSent(t *testing.T) {
	count := func(unknown map[string]bool) (sent int) {
		g, err := newGenerator([]string{"zset"}, oracle{unknown: unknown})
		require.NoError(t, err)
		g.reset(rand.New(rand.NewPCG(7, 0)))
		for range 1000 {
			if g.command().args[0] == "ZADD" {
				sent++
			}
		}
		return sent
	}
	require.NotZero(t, count(map[string]bool{"zadd": false}))
	require.Zero(t, count(map[string]bool{"zadd": true}))
}

func TestOnlyNewOraclesGetChangingBounds(t *testing.T) {
	count := func(older bool) (changes int) {
		g, err := newGenerator(nil, oracle{older: older})
		require.NoError(t, err)
		for n := range uint64(20) {
			g.reset(rand.New(rand.NewPCG(7, n)))
			for range 300 {
				if c := g.command(); c.args[0] == "CONFIG" {
					changes++
				}
			}
		}
		return changes
	}
	require.Zero(t, count(true))
	require.Greater(t, count(false), 50)
}

func TestSyntaxIsExpandedAsWritten(t *testing.T) {
	m := map[string]maker{"key": func(*generator) string { return "k" }}
	seen := map[string]bool{}
	nodes, err := parseSyntax("ZADD key [NX|XX] (1 key)+ 'nosort", m)
	require.NoError(t, err)
	g := &generator{Rand: rand.New(rand.NewPCG(1, 1))}
	for range 300 {
		seen[strings.ToUpper(strings.Join(g.expand(nil, nodes), " "))] = true
	}
	require.Len(t, seen, 3*4)
	require.Contains(t, seen, "ZADD K 1 K NOSORT")
	require.Contains(t, seen, "ZADD K XX 1 K 1 K 1 K 1 K NOSORT")
	for _, bad := range []string{"GET nothing", "GET [key", "GET key]", "A|B"} {
		_, err := parseSyntax(bad, m)
		require.Error(t, err, bad)
	}
}

func TestRepliesInAnyOrderMayDifferInNothingElse(t *testing.T) {
	bulk := func(s ...string) (list []resp.Value) {
		for _, v := range s {
			list = append(list, resp.Value{Kind: '$', Str: v})
		}
		return list
	}
	arr := func(v ...resp.Value) resp.Value { return resp.Value{Kind: '*', Elems: v} }
	d := &duel{}
	same := func(mode byte, name string, a, b resp.Value) bool {
		return d.agree(command{mode, []string{name}}, a, b, resp.Value{})
	}
	require.True(t, same('~', "SMEMBERS", arr(bulk("a", "b")...), arr(bulk("b", "a")...)))
	require.False(t, same(' ', "SMEMBERS", arr(bulk("a", "b")...), arr(bulk("b", "a")...)))
	require.False(t, same('~', "SMEMBERS", arr(bulk("a", "b")...), arr(bulk("b", "b")...)))
	require.True(t, same('%', "HGETALL", arr(bulk("a", "1", "b", "2")...), arr(bulk("b", "2", "a", "1")...)))
	require.False(t, same('%', "HGETALL", arr(bulk("a", "1", "b", "2")...), arr(bulk("b", "1", "a", "2")...)))
	require.True(t, same('%', "HRANDFIELD", arr(arr(bulk("a", "1")...), arr(bulk("b", "2")...)),
		arr(arr(bulk("b", "2")...), arr(bulk("a", "1")...))))
	require.False(t, same('@', "TTL", resp.Value{Kind: ':', Int: -1}, resp.Value{Kind: ':', Int: 5}))
	require.False(t, same('@', "TTL", resp.Value{Kind: ':', Int: 100}, resp.Value{Kind: ':', Int: 200}))
	require.True(t, same('?', "SRANDMEMBER", bulk("a")[0], bulk("b")[0]))
	require.False(t, d.agree(command{'^', []string{"SMEMBERS", "t1"}}, arr(bulk("a")...), arr(bulk("a")...),
		bulk("b")[0]))
}
