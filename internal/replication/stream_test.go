package replication_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/replication"
)

var ids = [4]string{strings.Repeat("a", 40), strings.Repeat("b", 40), strings.Repeat("c", 40), strings.Repeat("d", 40)}

func read(c *replication.Cursor) string {
	var all []byte
	for b := c.Next(math.MaxInt64); b != nil; b = c.Next(math.MaxInt64) {
		all = append(all, b...)
	}
	return string(all)
}

// Readers that begin anywhere in the backlog, and read whenever they like, get all bytes in order.
func TestEachReaderGetsTheStreamFromItsPlaceOn(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	s := replication.New(ids[0])
	s.Size = 100_000
	s.Begin(ids[1])
	type reader struct {
		replication.Cursor
		from int64
		got  string
	}
	var all strings.Builder
	readers := []*reader{{Cursor: s.Reader(1), from: 1}}
	for i := range 3000 {
		text := strings.Repeat(fmt.Sprint(i, ","), 1+r.IntN(40)*(i%97/96*200+1))
		all.WriteString(text)
		if s.Append([]byte(text)) {
			s.Trim(s.Offset+1, false)
		}
		require.Equal(t, int64(all.Len()), s.Offset)
		require.Equal(t, s.Offset-s.Kept()+1, s.First())
		if i%50 == 0 {
			from := s.First() + r.Int64N(s.Kept()+2)
			readers = append(readers, &reader{Cursor: s.Reader(from), from: from})
		}
		if rd := readers[r.IntN(len(readers))]; i%3 == 0 {
			rd.got += read(&rd.Cursor)
		}
	}
	for _, rd := range readers {
		rd.got += read(&rd.Cursor)
		require.True(t, all.String()[rd.from-1:] == rd.got, "from %d", rd.from)
		require.Equal(t, s.Offset+1, rd.From())
	}
}

// The memory of what all readers have read is used again, whatever the order in which they read.
func TestBlocksAreUsedAgainBehindTheSlowestReader(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	s := replication.New(ids[0])
	s.Size = 100_000
	s.Begin(ids[1])
	var all strings.Builder
	readers, got := make([]replication.Cursor, 3), make([]strings.Builder, 3)
	for i := range readers {
		readers[i] = s.Reader(1)
	}
	for i := range 2000 {
		text := strings.Repeat(fmt.Sprint(i, ","), 1+r.IntN(40))
		switch i % 50 {
		case 0: // a block ends with this text
			text = strings.Repeat("x", int(16<<10-s.Offset%(16<<10)))
		case 1: // so all readers stand at its end, and then it is behind them
			for i := range readers {
				got[i].WriteString(read(&readers[i]))
			}
			text = strings.Repeat("y", 150_000)
		}
		all.WriteString(text)
		keep := s.Offset + 1
		for _, rd := range readers {
			keep = min(keep, rd.From())
		}
		if s.Append([]byte(text)) {
			s.Trim(keep, true)
		}
		if one := r.IntN(10); one < len(readers) {
			got[one].WriteString(read(&readers[one]))
		}
	}
	for i := range readers {
		got[i].WriteString(read(&readers[i]))
		require.True(t, all.String() == got[i].String())
	}
	growth := testing.AllocsPerRun(100, func() {
		s.Append(make([]byte, 16<<10))
		s.Trim(s.Offset+1, true)
	})
	require.LessOrEqual(t, growth, 1.0, "the bytes that are appended are all that is allocated")
	s.Resume()
	require.Equal(t, int64(16<<10), s.Mem())
	for range 100 {
		s.Append(make([]byte, 10_000))
		s.Trim(s.Offset+1, true)
		require.GreaterOrEqual(t, s.Mem(), s.Kept())
	}
}

func TestTheBacklogKeepsItsSizeAndWhatASlowReaderNeeds(t *testing.T) {
	s := replication.New(ids[0])
	s.Size = 1 << 20
	s.Begin(ids[1])
	kilobyte := []byte(strings.Repeat("x", 1000))
	fill := func(keep int64) {
		for range 5000 {
			if s.Append(kilobyte) {
				s.Trim(keep, false)
			}
		}
	}
	fill(1)
	require.Equal(t, int64(1), s.First())
	require.Equal(t, int64(5_000_000), s.Kept())
	fill(1 << 62)
	require.Greater(t, s.Kept(), s.Size)
	require.Less(t, s.Mem(), s.Size+3*s.Size/16)
	s.Size = 10
	s.Trim(1<<62, false)
	require.Less(t, s.Mem(), int64(1<<17))
}

func TestWhoMayContinue(t *testing.T) {
	s := replication.New(ids[0])
	require.Equal(t, replication.NotKept, s.Continue(ids[0], 1), "without a backlog")
	s.Size = 100_000
	s.Begin(ids[1])
	s.Append(make([]byte, 250_000))
	s.Append(make([]byte, 250_000))
	s.Trim(1<<62, false)
	first := s.First()
	require.Greater(t, first, int64(1))
	s.Shift(ids[2])
	s.Append(make([]byte, 1000))
	for _, ask := range []struct {
		id   string
		from int64
		want replication.Refusal
	}{
		{ids[0], 500_000, replication.OtherID},
		{"?", -1, replication.OtherID},
		{ids[1], 500_001, replication.Accepted},
		{strings.ToUpper(ids[1]), first, replication.Accepted},
		{ids[1], 500_002, replication.BeyondID2},
		{ids[1], first - 1, replication.NotKept},
		{ids[2], first, replication.Accepted},
		{ids[2], 501_001, replication.Accepted},
		{ids[2], 501_002, replication.NotKept},
		{ids[2], first - 1, replication.NotKept},
	} {
		require.Equal(t, ask.want, s.Continue(ask.id, ask.from), "%s %d", ask.id, ask.from)
	}
	s.End(ids[3])
	require.Equal(t, replication.OtherID, s.Continue(ids[2], 501_001))
	require.Equal(t, int64(0), s.First())
	require.Equal(t, int64(501_000), s.Offset)
	s.Begin(ids[0])
	require.Equal(t, int64(501_001), s.First())
	require.Equal(t, replication.Accepted, s.Continue(ids[0], 501_001))
	c := s.Reader(501_001)
	require.Empty(t, read(&c))
	s.Append([]byte("new"))
	require.Equal(t, "new", read(&c))
}
