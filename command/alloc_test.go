package command

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// allocated is how many objects one turn of requests allocates on average: what happens every thousandth time, as when
// a table takes more room, comes out as a small fraction. A request is told how many turns came before.
func (d *driver) allocated(t *testing.T, turn ...func(i int) [][]byte) float64 {
	const runs, batch = 10, 500
	d.ex.Cfg.SlowlogSlowerThan = -1 // an entry would be an allocation
	d.ex.Configure()
	var requests [][][]byte
	for i := range (runs + 1) * batch { // testing.AllocsPerRun runs once more, to warm up
		for _, request := range turn {
			requests = append(requests, request(i))
		}
	}
	average := testing.AllocsPerRun(runs, func() {
		for _, args := range requests[:batch*len(turn)] {
			d.w.Buf = d.w.Buf[:0]
			d.ex.Do(&d.s, args, &d.w)
		}
		requests = requests[batch*len(turn):]
	}) / batch
	require.NotEqual(t, byte('-'), d.w.Buf[0], "%s", d.w.Buf)
	return average
}

func always(line string) func(int) [][]byte {
	args := words(line)
	return func(int) [][]byte { return args }
}

func numbered(format string) func(int) [][]byte {
	return func(i int) [][]byte { return words(fmt.Sprintf(format, i)) }
}

// rarely is what tables and lists that grow may cost beside.
const rarely = 0.5

// TestPublishDoesNotAllocate is about PUBLISH that somebody hears.
func TestAHotCommandOnAnExistingKeyAllocatesNothing(t *testing.T) {
	for _, line := range []string{
		"SET s a-value-that-is-longer-than-what-redis-embeds-in-its-objects", "GET s", "INCR n",
		"HSET h f v", "PUBLISH nobody hello",
	} {
		d := newDriver()
		d.do(t, "SET s value")
		require.InDelta(t, 0, d.allocated(t, always(line)), 0.01, line)
	}
	require.Less(t, newDriver().allocated(t, numbered("LPUSH l value-%08d")), 0.02, "a node holds many elements")
}

// Nodes of the keyspace's table are made many at a time, and do not count.
func TestANewKeyAllocatesItsNameAndItsValue(t *testing.T) {
	for format, most := range map[string]float64{
		"SET s%08d a-value-that-is-longer-than-what-redis-embeds-in-its-objects": 2,
		"INCR n%08d":       1, // the number stands in the node
		"HSET h%08d f v":   3, // the hash, and the bytes of its listpack
		"LPUSH l%08d v":    3, // the list, and those of its only node
		"HSET big f%08d v": 2, // a field of a table
	} {
		require.Less(t, newDriver().allocated(t, numbered(format)), most+rarely, format)
	}
}

// scripted is a driver that keeps a script, and requests to run it with args.
func scripted(script string, args func(i int) [][]byte) (d *driver, eval, evalsha func(i int) [][]byte) {
	d = newDriver()
	d.ex.Do(&d.s, requestOf("SCRIPT", "LOAD", script), &d.w)
	sha := string(d.w.Buf[len(d.w.Buf)-42 : len(d.w.Buf)-2])
	call := func(what ...string) func(int) [][]byte {
		return func(i int) [][]byte { return append(requestOf(what...), args(i)...) }
	}
	return d, call("EVAL", script), call("EVALSHA", sha)
}

const (
	token = "token-of-a-worker-0123456789"
	owner = "6b1e9bd4-5b5a-4b5e-8c5d-0123456789ab:1"
)

// A client that comes back with its lock and its token costs what the commands of the script cost by themselves: the
// engine keeps the tables of keys and arguments with the strings in them, and takes a value that equals an argument for
// that argument.
func TestTheScriptsOfLocksAllocateNothingBesideTheirCommands(t *testing.T) {
	take, free := always("SET lock "+token+" NX PX 30000"), always("DEL lock")
	for name, c := range map[string]struct {
		script, args, reply string
		before              func(int) [][]byte
		commands            []func(int) [][]byte
	}{
		"released":    {unlockScript, "1 lock " + token, ":1\r\n", take, []func(int) [][]byte{take, free}},
		"lost before": {unlockScript, "1 lock " + token, ":0\r\n", free, []func(int) [][]byte{free}},
		"taken, as Redisson's": {lockScript, "1 lock 30000 " + owner, "$-1\r\n", free, []func(int) [][]byte{
			free, always("HINCRBY lock " + owner + " 1"), always("PEXPIRE lock 30000"),
		}},
	} {
		plain := newDriver().allocated(t, c.commands...)
		d, eval, evalsha := scripted(c.script, always(c.args))
		require.InDelta(t, plain, d.allocated(t, c.before, eval), 0.01, name)
		require.Equal(t, c.reply, string(d.w.Buf), name)
		require.InDelta(t, plain, d.allocated(t, c.before, evalsha), 0.01, name)
		require.Equal(t, c.reply, string(d.w.Buf), name)
	}
}

// The remaining allocations are gopher-lua's. Its strings are immutable, so a new key or argument is
// a new string: the bytes, and a header for the interface that holds every value. A number is one
// allocation, except for small numbers, which the engine keeps.
func TestTheScriptsOfLocksAllocateStringsThatAreNewAndLargeNumbers(t *testing.T) {
	perString, perNumber := 2.0, 1.0
	take := numbered("SET lock:%[1]d token-of-a-worker-%[1]d NX PX 30000")
	plain := newDriver().allocated(t, take, numbered("DEL lock:%d"))
	d, eval, evalsha := scripted(unlockScript, numbered("1 lock:%[1]d token-of-a-worker-%[1]d"))
	require.Less(t, d.allocated(t, take, eval)-plain, 2*perString+rarely)
	require.Equal(t, ":1\r\n", string(d.w.Buf))
	d.do(t, "FLUSHALL")
	require.Less(t, d.allocated(t, take, evalsha)-plain, 2*perString+rarely)
	require.Equal(t, ":1\r\n", string(d.w.Buf))

	d, eval, evalsha = scripted(lockScript, always("1 lock 30000 "+owner))
	d.do(t, "HSET lock somebody-else 1")
	d.do(t, "PEXPIRE lock 3600000")
	require.InDelta(t, perNumber, d.allocated(t, eval), 0.01, "the time the lock is held")
	require.InDelta(t, perNumber, d.allocated(t, evalsha), 0.01)
	require.Equal(t, byte(':'), d.w.Buf[0])
}
