package stage

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/trace"
	"github.com/miniredisd/miniredisd/lab/glass"
)

func TestARecordingKeepsThePassesThatMoveTheStory(t *testing.T) {
	line := func(pass int64, point trace.Point, client int64, text string) glass.Message {
		e := trace.Event{Pass: pass, Point: point, Client: client, Text: text}
		return glass.Message{Kind: glass.KindEvent, Events: []trace.Event{e}}
	}
	kept := Decisive([]glass.Message{
		line(1, trace.Executes, 1, "SET k v"),
		line(2, trace.Executes, -1, "GET k"),
		line(3, trace.Executes, -2, "LAB CLOCK ADVANCE 5"),
		line(4, trace.Woke, 0, "posted 7r"),
		line(5, trace.Expired, 0, "k"),
	})
	var passes []int64
	for _, m := range kept {
		passes = append(passes, eventOf(m).Pass)
	}
	require.Equal(t, []int64{1, 3, 5}, passes)
}
