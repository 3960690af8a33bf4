package picture

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/lab/words"
)

var update = flag.Bool("update", false, "write the pictures of testdata again: look at them")

// all has every kind of mark, two groups, and a bar whose client believes in it for too long.
func all() Picture {
	row := Row{Name: "worker-1", Bars: []Bar{
		{Span: Span{0, 4}, Belief: 8, Label: "30 s, token-1", Both: []Span{{6, 8}}, Title: "worker-1 took the lock."},
	}, Waits: []Span{{2, 5}}}
	for k := Command; k <= Error; k++ {
		label := k.words(words.English)
		row.Marks = append(row.Marks, Mark{At: int(k), Kind: k, Label: label, Title: "1 s: " + label})
	}
	return Picture{
		Title: "Two clients held one lock at the same time", Text: []string{"1 lock."},
		Locks: []Lock{{
			Title: "TWO HOLDERS of lock:a", State: Broken, Columns: 10, Text: []string{"Why: " + strings.Repeat("because ", 40)},
			Groups: []Group{
				{Name: "majority", Rows: []Row{{Name: "worker-2", Bars: []Bar{{Span: Span{3, 10}, Label: "2 of 3 masters"}}}},
					Both: []Span{{6, 8}}},
				{Name: "master 1", Times: []Time{{0, "0 s"}, {1, "1 s"}, {9, "30.001 s"}},
					Marks: []Mark{{3, Clock, "clock +30 s", ""}, {5, Crash, "crash", ""}}, Rows: []Row{row}},
			},
		}, {Title: "UNDECIDED: <lock:b>\x00", State: Unknown}},
	}
}

func drawn(t *testing.T, p Picture) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, Draw(&b, p))
	for d := xml.NewDecoder(bytes.NewReader(b.Bytes())); ; {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			return b.String()
		}
		require.NoError(t, err)
	}
}

func TestAPictureIsDrawnAsBefore(t *testing.T) {
	path := filepath.Join("testdata", "all.svg")
	svg := drawn(t, all())
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(svg), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), svg)
}

func TestAPictureSaysInWordsWhatItShows(t *testing.T) {
	svg := drawn(t, all())
	require.Contains(t, svg, `role="img" aria-labelledby="title desc"`)
	require.Contains(t, svg, `<title id="title">Two clients held one lock at the same time</title>`)
	require.Contains(t, svg, "master 1: worker-1 took the lock. Another client held the lock at the same time.")
	for k := Command; k <= Crash; k++ {
		require.Contains(t, svg, ">"+k.words(words.English)+"</text>", "the legend")
	}
}

func TestTheDescriptionOfABigPictureIsShort(t *testing.T) {
	g := Group{}
	for range 100 {
		g.Rows = append(g.Rows, Row{Name: "x", Bars: []Bar{{Title: "It held the lock."}}})
	}
	text := Describe(Picture{Locks: []Lock{{Title: "lock:a", Columns: 1, Groups: []Group{g}}}})
	require.Len(t, text, mostSentences+1)
	require.Equal(t, "41 more sentences are left out.", text[mostSentences])
}

func TestTextOfAHistoryCannotLeaveItsElement(t *testing.T) {
	evil := `</text><script>alert(1)</script>&"` + "\x01\xff"
	svg := drawn(t, Picture{Title: evil, Text: []string{evil}, Locks: []Lock{{
		Title: evil, Columns: 1, State: Safe, Groups: []Group{{
			Name: evil, Times: []Time{{0, evil}}, Marks: []Mark{{0, Clock, evil, evil}},
			Rows: []Row{{Name: evil, Bars: []Bar{{Span: Span{0, 1}, Label: evil, Title: evil}},
				Marks: []Mark{{0, Lost, evil, evil}}}},
		}},
	}}})
	require.NotContains(t, svg, "<script")
	require.NotContains(t, svg, "\x01")
}

func TestAnEmptyPictureIsAPicture(t *testing.T) {
	require.Contains(t, drawn(t, Picture{Title: "Nobody took a lock"}), "Nobody took a lock")
}

func TestLongTextsAreShortenedAndWrapped(t *testing.T) {
	require.Equal(t, "abcd…", shorten("abcdefg", 5))
	require.Equal(t, "abcde", shorten("abcde", 5))
	require.Equal(t, "锁锁…", shorten("锁锁锁锁", 5))
	require.Equal(t, []string{"锁锁", "  锁锁", "  锁锁锁"}, wrap("锁锁锁锁锁锁锁", 8), "a sentence without spaces")
	require.Equal(t, []string{"one two", "  three", "  abcdef…"}, wrap("one two three abcdefghij", 9)[:3])
}
