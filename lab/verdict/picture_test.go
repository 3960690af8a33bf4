package verdict

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the pictures of testdata again: look at them")

func svgOf(t *testing.T, v *Verdict) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, v.SVG(&b))
	return b.String()
}

func TestHistoriesAreDrawnAsBefore(t *testing.T) {
	for _, name := range []string{"clock-jump", "crash", "overlapping-unlock", "reply-lost"} {
		v, _ := judgeFile(t, name+".json")
		svg := svgOf(t, v)
		path := filepath.Join("testdata", "pictures", name+".svg")
		if *update {
			require.NoError(t, os.WriteFile(path, []byte(svg), 0o644))
		}
		want, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, string(want), svg, name)
	}
}

func TestAPictureShowsWhoBelievesTooLong(t *testing.T) {
	v, _ := judged(t, 1, `
		1 1000 a SET lock:x token-a NX PX 500 = OK
		1 1100 m DEL lock:x = 1
		1 1150 c SET lock:x token-c NX PX 1 = OK lost
		1 1200 expired lock:x
		1 1200 b SET lock:x token-b NX PX 500 = OK
		1 1300 clock 2000
		1 1700 expired lock:x`)
	svg := svgOf(t, v)
	for _, part := range []string{
		"TWO HOLDERS of lock:x", "The client believes in it until", "Another client held the lock at the same time",
		"taken away by another client", "SET reply lost", "clock +0.7 s", ">expired</text>", ">m</text>",
	} {
		require.Contains(t, svg, part)
	}
}

func TestEachMasterIsAGroupAndTheMajorityComesFirst(t *testing.T) {
	v, _ := judged(t, 5, `
		123 1000 a SET lock:x token-a NX PX 500 = OK
		45 1000 b SET lock:x token-b NX PX 500 = OK
		3 1100 crash
		3 1200 b SET lock:x token-b NX PX 500 = OK`)
	svg := svgOf(t, v)
	at := -1
	for _, group := range []string{"majority", "master 1", "master 2", "master 3", "master 4", "master 5"} {
		next := strings.Index(svg, ">"+group+"</text>")
		require.Greater(t, next, at, group)
		at = next
	}
	require.Contains(t, svg, ">crash</text>")
	require.Contains(t, svg, ">3 of 5 masters</text>")
}

func TestALockOfOneOfSeveralMastersIsDrawnThere(t *testing.T) {
	v, _ := judged(t, 3, `
		2 1000 a SET lock:x token-a NX PX 500 = OK
		2 1100 a DEL lock:x = 1`)
	svg := svgOf(t, v)
	require.Contains(t, svg, ">master 2</text>")
	require.NotContains(t, svg, ">majority</text>")
	require.NotContains(t, svg, ">master 1</text>")
}

func TestBrokenLocksAreDrawnFirstAndNotAllOfMany(t *testing.T) {
	var story strings.Builder
	for i := range 9 {
		fmt.Fprintf(&story, "1 1000 a SET lock:%d token-%d NX PX 500 = OK\n", i, i)
	}
	story.WriteString("1 1000 b DEL lock:8 = 1\n1 1000 c SET lock:8 token-c NX PX 500 = OK\n")
	v, _ := judged(t, 1, story.String())
	svg := svgOf(t, v)
	require.Less(t, strings.Index(svg, ">TWO HOLDERS of lock:8<"), strings.Index(svg, ">One holder at a time: lock:0<"))
	require.Contains(t, svg, "3 locks more are not drawn.")
	require.NotContains(t, svg, ">One holder at a time: lock:6<")
}

func TestALongHistoryIsDrawnAroundItsSecondHolder(t *testing.T) {
	var story strings.Builder
	for range 1000 {
		story.WriteString("1 1000 c GET lock:x = nil\n")
	}
	story.WriteString("1 1000 a SET lock:x token-a NX PX 500 = OK\n1 1000 b DEL lock:x = 1\n" +
		"1 1000 c SET lock:x token-c NX PX 500 = OK\n")
	v, _ := judged(t, 1, story.String())
	svg := svgOf(t, v)
	require.Contains(t, svg, "Only the events 604 to 1003 of 1003 are drawn.")
	require.Contains(t, svg, "Another client held the lock at the same time.")
}
