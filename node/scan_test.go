package node_test

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/amount"
	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/resp"
)

// scanned describes the target of SCAN, HSCAN, SSCAN or ZSCAN: how to add and remove an element,
// and how many values a scan returns for each.
type scanned struct {
	scan, add, remove []string
	values            int
}

func scans() map[string]scanned {
	return map[string]scanned{
		"SCAN":  {[]string{"SCAN"}, []string{"SET", "%", "v"}, []string{"DEL", "%"}, 1},
		"HSCAN": {[]string{"HSCAN", "key"}, []string{"HSET", "key", "%", "v"}, []string{"HDEL", "key", "%"}, 2},
		"SSCAN": {[]string{"SSCAN", "key"}, []string{"SADD", "key", "%"}, []string{"SREM", "key", "%"}, 1},
		"ZSCAN": {[]string{"ZSCAN", "key"}, []string{"ZADD", "key", "1", "%"}, []string{"ZREM", "key", "%"}, 2},
	}
}

// each sends the command once for every name. The name replaces %.
func each(t *testing.T, c *redistest.Conn, command []string, names []string) {
	t.Helper()
	var all []byte
	for _, name := range names {
		one := slices.Clone(command)
		one[slices.Index(one, "%")] = name
		all = resp.AppendRequest(all, one...)
	}
	require.NoError(t, c.Send(all))
	for range names {
		require.NotEqual(t, byte('-'), c.Read().Kind)
	}
}

func names(prefix string, n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = prefix + strconv.Itoa(i)
	}
	return all
}

// step calls the scan once and counts what it returns.
func (s *scanned) step(c *redistest.Conn, cursor string, seen map[string]int, options ...string) (next string) {
	reply := c.Do(slices.Concat(s.scan, []string{cursor}, options)...)
	for i := 0; i < len(reply.Elems[1].Elems); i += s.values {
		seen[reply.Elems[1].Elems[i].Str]++
	}
	return reply.Elems[0].Str
}

func TestScanReturnsWhatIsPresentThroughoutWhileTheRestComesAndGoes(t *testing.T) {
	t.Parallel()
	for command, s := range scans() {
		if !amount.Picked(command, 2) {
			continue
		}
		t.Run(command, func(t *testing.T) {
			c := redistest.Dial(t, start(t, nil))
			stay, move := names("stay", 1000), names("move", 20_000)
			each(t, c, s.add, stay)
			seen := map[string]int{}
			cursor, i := "0", 0
			for calls := 0; calls == 0 || cursor != "0"; calls++ {
				cursor = s.step(c, cursor, seen, "COUNT", "100")
				// The table grows to 21,000 elements and shrinks to 1,000 during the scan.
				if step := 500; calls/40%2 == 0 {
					each(t, c, s.add, move[i:i+step])
					i += step
				} else {
					i -= step
					each(t, c, s.remove, move[i:i+step])
				}
				require.Less(t, calls, 20_000, "the scan does not end")
			}
			for _, name := range stay {
				require.NotZero(t, seen[name], name)
			}
		})
	}
}

func TestScanReturnsEveryElementOnceWhileNothingChanges(t *testing.T) {
	t.Parallel()
	for command, s := range scans() {
		if !amount.Picked(command, 2) {
			continue
		}
		t.Run(command, func(t *testing.T) {
			for _, n := range []int{1, 5, 127, 1000, 4095, 4096, 4097} {
				c := redistest.Dial(t, start(t, nil))
				each(t, c, s.add, names("m", n))
				seen := map[string]int{}
				for cursor := s.step(c, "0", seen); cursor != "0"; {
					cursor = s.step(c, cursor, seen)
				}
				require.Len(t, seen, n)
			}
		})
	}
}

func TestScanCountIsElementsComeToWhetherOrNotTheyMatch(t *testing.T) {
	t.Parallel()
	for command, s := range scans() {
		t.Run(command, func(t *testing.T) {
			c := redistest.Dial(t, start(t, nil))
			each(t, c, s.add, names("m", 10_000))
			for _, options := range [][]string{nil, {"MATCH", "m1*"}, {"MATCH", "nothing"}} {
				seen := map[string]int{}
				calls, cursor := 0, "0"
				for calls == 0 || cursor != "0" {
					cursor = s.step(c, cursor, seen, append(options, "COUNT", "100")...)
					calls++
				}
				// Each call visits 100 elements and the rest of the last bucket.
				require.LessOrEqual(t, calls, 100)
				require.Greater(t, calls, 90)
			}
		})
	}
}

func TestScanFiltersByTypeAndPattern(t *testing.T) {
	c := redistest.Dial(t, start(t, nil))
	each(t, c, []string{"SET", "%", "v"}, names("string", 500))
	each(t, c, []string{"RPUSH", "%", "v"}, names("list", 500))
	each(t, c, []string{"SADD", "%", "v"}, names("set", 500))
	s := scans()["SCAN"]
	for _, f := range []struct {
		options []string
		want    int
	}{
		{[]string{"TYPE", "list"}, 500},
		{[]string{"TYPE", "SET", "MATCH", "set1*"}, 111},
		{[]string{"TYPE", "zset"}, 0},
		{[]string{"MATCH", "*t1??"}, 200},
	} {
		t.Run(fmt.Sprint(f.options), func(t *testing.T) {
			seen := map[string]int{}
			for cursor := s.step(c, "0", seen, f.options...); cursor != "0"; {
				cursor = s.step(c, cursor, seen, f.options...)
			}
			require.Len(t, seen, f.want)
		})
	}
}
