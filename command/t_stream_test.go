package command

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/clock"
	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/store"
)

func TestStreamIDsAreReadAsStrtoullWould(t *testing.T) {
	for text, want := range map[string]store.StreamID{
		"0": {Seq: 9}, "5": {Ms: 5, Seq: 9}, "5-3": {Ms: 5, Seq: 3},
		"18446744073709551615-18446744073709551615": store.MaxStreamID(),
		"007-+3": {Ms: 7, Seq: 3}, " 5-\t3": {Ms: 5, Seq: 3}, "5--03": {Ms: 5, Seq: math.MaxUint64 - 2},
	} {
		id, err := parseStreamID([]byte(text), 9)
		require.NoError(t, err, "%q", text)
		require.Equal(t, want, id, "%q", text)
	}
	for _, text := range []string{
		"", "-", "+", "-5", "5-", "5--3", "5-3-1", "5 -3", "5-3 ", " ", "5-x", "5-*",
		"18446744073709551616", strings.Repeat("0", 128),
	} {
		_, err := parseStreamID([]byte(text), 9)
		require.Equal(t, errStreamID, err, "%q", text)
	}
}

func TestReadingAndTrimmingAStreamAllocatesNothing(t *testing.T) {
	cfg := config.Default()
	cfg.SlowlogSlowerThan = -1 // an entry would be an allocation
	ex := New(cfg, store.NewKeyspace(store.Options{}), clock.New(), &testHost{}, NewCommands())
	s, w := &Session{Authenticated: true}, &resp.Writer{Proto: 2}
	do := func(line string) func() {
		var args [][]byte
		for _, a := range strings.Fields(line) {
			args = append(args, []byte(a))
		}
		return func() {
			w.Buf = w.Buf[:0]
			ex.Do(s, args, w)
		}
	}
	for range 1000 {
		do("XADD s * f v g w")()
	}
	do("XGROUP CREATE s g 0")()
	do("XREADGROUP GROUP g alice COUNT 200 STREAMS s >")()
	for _, line := range []string{
		"XRANGE s - + COUNT 100", "XREVRANGE s + - COUNT 100", "XREAD COUNT 10 STREAMS s 0", "XREAD STREAMS s $", "XLEN s",
		"XTRIM s MAXLEN ~ 1000", "XDEL s 1-1",
		"XREADGROUP GROUP g alice COUNT 10 STREAMS s 0", "XPENDING s g", "XPENDING s g - + 10 alice", "XACK s g 1-1",
		"XCLAIM s g bob 0 1-1 JUSTID",
	} {
		run := do(line)
		require.Zero(t, testing.AllocsPerRun(100, run), line)
	}
}
