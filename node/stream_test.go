package node_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

// The size of a node depends on the bytes of each element in Redis's listpack. XADD MAXLEN ~ trims
// whole nodes only. So the test compares lengths and tree sizes after many entries of all shapes.
func TestStreamNodesEndWhereThoseOfRedisDo(t *testing.T) {
	redistest.Require(t)
	for seed, limits := range [][]string{
		nil,
		{"--stream-node-max-bytes", "700", "--stream-node-max-entries", "0"},
		{"--stream-node-max-bytes", "0", "--stream-node-max-entries", "7"},
		{"--stream-node-max-bytes", "20000", "--stream-node-max-entries", "200"},
	} {
		t.Run(strings.Join(limits, " "), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(seed), 7))
			ours, theirs := redistest.Dial(t, start(t, limits)), redistest.Dial(t, redistest.Start(t, limits...).Addr)
			var ms, seq uint64
			for i := range 3000 {
				args := randomStreamCommand(r, &ms, &seq)
				want, got := theirs.Do(args...), ours.Do(args...)
				require.Equal(t, want, got, "command %d: %.200s", i, strings.Join(args, " "))
				if i%10 == 0 {
					require.Equal(t, theirs.Do("XINFO", "STREAM", "s"), ours.Do("XINFO", "STREAM", "s"), "after command %d", i)
				}
			}
			require.Equal(t, theirs.Do("XRANGE", "s", "-", "+"), ours.Do("XRANGE", "s", "-", "+"))
		})
	}
}

func randomStreamCommand(r *rand.Rand, ms, seq *uint64) []string {
	switch r.IntN(60) {
	case 0:
		return []string{"XTRIM", "s", "MAXLEN", "~", strconv.Itoa(r.IntN(1000))}
	case 1:
		return []string{"XTRIM", "s", "MINID", "~", strconv.FormatUint(*ms-*ms/(8+r.Uint64N(50)), 10),
			"LIMIT", strconv.Itoa(r.IntN(200))}
	case 2:
		return []string{"XTRIM", "s", "MAXLEN", strconv.Itoa(200 + r.IntN(900))}
	case 3, 4, 5, 6:
		return []string{"XDEL", "s", fmt.Sprintf("%d-%d", *ms-min(*ms, r.Uint64N(20)), *seq),
			strconv.FormatUint(*ms-min(*ms, r.Uint64N(300)), 10)}
	}
	if step := []uint64{0, 1, 1, 2, 300, 70_000, 20_000_000, 1 << 40}[r.IntN(8-r.IntN(5))]; step > 0 {
		*ms += step
		*seq = []uint64{0, 0, 0, 1, r.Uint64() >> r.IntN(64)}[r.IntN(5)]
	} else {
		*seq++
	}
	args := []string{"XADD", "s"}
	if r.IntN(20) == 0 {
		args = append(args, "MAXLEN", "~", strconv.Itoa(100+r.IntN(600)))
	}
	args = append(args, fmt.Sprintf("%d-%d", *ms, *seq))
	fields := [][]string{
		{"f"}, {"name", "7"}, {"name", "7", "x", "f"}, {"a much longer name of a field", "300", "-5000"},
	}[r.IntN(4)]
	for _, f := range fields {
		args = append(args, f, randomStreamValue(r))
	}
	return args
}

func randomStreamValue(r *rand.Rand) string {
	switch r.IntN(4) {
	case 0:
		return strconv.FormatInt(int64(r.Uint64())>>r.IntN(64), 10)
	case 1:
		return "0" + strconv.Itoa(r.IntN(100))
	case 2:
		return strings.Repeat("v", r.IntN(70))
	}
	return strings.Repeat("w", r.IntN(150)*r.IntN(40)*(r.IntN(8)/7))
}
