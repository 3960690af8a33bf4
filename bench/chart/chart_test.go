package chart

import (
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// texts returns what is written in a drawing, which has to be well-formed.
func texts(t *testing.T, path string) (found []string) {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	d := xml.NewDecoder(f)
	for {
		token, err := d.Token()
		if err == io.EOF {
			return found
		}
		require.NoError(t, err)
		if text, ok := token.(xml.CharData); ok && strings.TrimSpace(string(text)) != "" {
			found = append(found, strings.TrimSpace(string(text)))
		}
	}
}

func TestAGridShowsEveryPanelAndNamesEachLineOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "grid.svg")
	lines := []Line{{Name: "reactor", Y: []float64{1, 2, 3}}, {Name: "queue", Color: 4, Dash: 1, Y: []float64{2, 2, 2}}}
	g := Grid{
		Title: "requests", X: "connections", Y: "per second", Ticks: []string{"1", "10", "50"},
		Rows: [][]Panel{{{"32 B", lines}, {"1 KB", lines}}, {{"16 KB", lines}}},
	}
	require.NoError(t, g.Write(path))
	found := texts(t, path)
	for _, once := range []string{"requests", "32 B", "1 KB", "16 KB", "reactor", "queue"} {
		n := 0
		for _, text := range found {
			if text == once {
				n++
			}
		}
		require.Equal(t, 1, n, once)
	}
}

func TestBarsAreNamedWithTheirParts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bars.svg")
	b := Bars{Title: "CPU", X: "us", Parts: []string{"executing", "other"},
		Bars: []Bar{{"reactor", []float64{10, 0.5}}, {"queue", []float64{3, 12}}}}
	require.NoError(t, b.Write(path))
	svg, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Regexp(t, `font-family:[^;"]*, sans-serif[;"]`, string(svg))
	require.Subset(t, texts(t, path), []string{"CPU", "us", "executing", "other", "reactor  10.0 + 0.5",
		"queue  3.0 + 12.0"})
}

func TestLongBarsEndAtTheEdgeWithAMark(t *testing.T) {
	b := Bars{Parts: []string{"executing", "other"},
		Bars: []Bar{{"a", []float64{1, 1}}, {"b", []float64{2, 2}}, {"c", []float64{500, 500}}}}
	require.Equal(t, 12.0, b.edge())
	path := filepath.Join(t.TempDir(), "bars.svg")
	require.NoError(t, b.Write(path))
	svg, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, 2, strings.Count(string(svg), "stroke:#FFFFFF"), "two strokes across one bar")
}

func TestAKindHasOneColorInEveryTimeline(t *testing.T) {
	colors := map[string]string{}
	for _, kind := range []string{"sleep", "accept", "gather", "read phase", "read", "parse", "execute", "expire",
		"write phase", "write", "wait"} {
		require.NotContains(t, colors, colorOf(kind), kind)
		colors[colorOf(kind)] = kind
	}
	require.NotContains(t, colors, colorOf("something else"))
}

func TestValuesWithoutALogarithmAreLeftOut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "grid.svg")
	lines := []Line{{Name: "none", Y: []float64{0, 0}}, {Name: "some", Y: []float64{0, 3}}}
	g := Grid{Ticks: []string{"1", "10"}, Rows: [][]Panel{{{"both", lines}, {"nothing", lines[:1]}}}}
	require.NoError(t, g.Write(path))
	require.Contains(t, texts(t, path), "some")
}

func TestAFileThatCannotBeWrittenIsAnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none", "bars.svg")
	require.Error(t, Bars{Parts: []string{"a"}, Bars: []Bar{{"x", []float64{1}}}}.Write(path))
}

func TestATimelineIsWellFormedAndNamesWhatHasRoom(t *testing.T) {
	path := filepath.Join(t.TempDir(), "timeline.svg")
	tl := Timeline{
		Title: "a <pass>", Begin: 100, End: 200, Kinds: []string{"read", "write"},
		Rows: []Row{{"main", []Span{{Kind: "read", Name: "long", Begin: 90, End: 150},
			{Kind: "write", Name: "short", Begin: 150, End: 151, Inside: true}}}},
	}
	require.NoError(t, tl.Write(path))
	found := texts(t, path)
	for _, text := range []string{"a <pass>", "main", "read", "write", "long", "short, 1.0 µs", "0 µs"} {
		require.Contains(t, found, text)
	}
	require.NotContains(t, found, "short")
}
