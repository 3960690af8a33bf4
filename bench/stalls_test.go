package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestThePingerAnswersDuringEveryKindOfWork(t *testing.T) {
	tmp := t.TempDir()
	w := &watch{contenders: twoServers(t), cores: unpinned(), rounds: 1, share: 0.002, log: logIn(tmp)}
	require.NoError(t, w.run(regexp.MustCompile(""), 1<<20))
	require.Len(t, w.sheet.rows, len(stallRows(1)))
	for _, r := range w.sheet.rows {
		for _, figures := range r.figures {
			require.Positive(t, figures[0], "longest gap of %s", r.name)
		}
	}
	out := filepath.Join(tmp, "stalls.md")
	require.NoError(t, w.publish(out))
	text, err := os.ReadFile(out)
	require.NoError(t, err)
	require.Contains(t, string(text), "\n| APPEND a byte to 500 MB | ")
	require.Contains(t, string(text), "\n## The collector of miniredisd in these rows\n\n"+
		"| row | longest gap ms | collections | longest stop ms | marking ms | collector's CPU ms |\n")
}

func TestRowsThatNeedMoreMemoryThanThereIsAreSkippedWithAReason(t *testing.T) {
	w := &watch{contenders: twoServers(t)[1:], cores: unpinned(), rounds: 1, share: 0.001, log: logIn(t.TempDir())}
	require.NoError(t, w.run(regexp.MustCompile("^(nothing|5M keys under writes)$"), 1))
	require.Len(t, w.sheet.rows, 1)
	require.Contains(t, w.about, "skipped: 5M keys under writes: it needs 6 MiB, and 1 are available")
}

func TestTheCollectorOfTheServerIsSeen(t *testing.T) {
	c := twoServers(t)[1]
	c.log, c.env = logIn(t.TempDir()), []string{"GODEBUG=gctrace=1", "GOGC=1"}
	s, err := c.start(anyCore)
	require.NoError(t, err)
	t.Cleanup(s.stop)
	own, err := dial(s.addr)
	require.NoError(t, err)
	defer own.Close()
	require.NoError(t, own.large(64<<20, "SET", "v"))
	w := &watch{log: c.log}
	trace, err := w.collected(s)
	require.NoError(t, err)
	require.Positive(t, parseCollections(trace).count)
}

func TestCollectionsAreSummedUp(t *testing.T) {
	const trace = `12:M 22 Nov 2026 10:00:00.000 * Ready
gc 1 @0.004s 2%: 0.02+0.50+0.01 ms clock, 0.04+0.25/0.41/0+0.02 ms cpu, 3->4->0 MB, 4 MB goal, 1 MB stacks, 2 P
gc 2 @3.218s 0%: 0.01+16+1.5 ms clock, 0.02+0/12/3.5+3.0 ms cpu, 46->47->24 MB, 48 MB goal, 1 MB stacks, 2 P (forced)
gc 3 @3.3`
	got := parseCollections(trace)
	require.Equal(t, 2, got.count)
	require.InDelta(t, 1.5, got.stop, 1e-9)
	require.InDelta(t, 16.5, got.marking, 1e-9)
	require.InDelta(t, 0.72+18.52, got.cpu, 1e-9)
	require.Zero(t, parseCollections(""))
}

func TestALargeValueComesBackWhole(t *testing.T) {
	s, err := twoServers(t)[1].start(anyCore)
	require.NoError(t, err)
	t.Cleanup(s.stop)
	c, err := dial(s.addr)
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, c.large(3<<20+17, "SET", "v"))
	v, err := c.Do("STRLEN", "v")
	require.NoError(t, err)
	require.Equal(t, int64(3<<20+17), v.Int)
	require.NoError(t, c.discard("GET", "v"))
	require.NoError(t, c.large(1<<20, "APPEND", "v"))
	require.ErrorContains(t, c.discard("GET", "missing"), "no bulk string")
	require.ErrorContains(t, c.large(1, "NOSUCHCOMMAND"), "unknown command")
}
