package node_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/internal/trace"
	"github.com/miniredisd/miniredisd/lab/glass"
	"github.com/miniredisd/miniredisd/server"
	serverglass "github.com/miniredisd/miniredisd/server/glass"
)

// events plays something and returns the events of some points: "m 2 36 message".
func events(t *testing.T, s *server.Server, points string, play func()) (met []string) {
	t.Helper()
	asks := func(words ...string) {
		_, err := s.Do(context.Background(), words...)
		require.NoError(t, err)
	}
	serverglass.ViewOf(s).RecordStart(0)
	play()
	asks("LAB", "DOCTOR") // all passes before are over
	serverglass.ViewOf(s).RecordStop()
	for _, m := range serverglass.ViewOf(s).Recording().Lines {
		if e := m.Events[0]; m.Kind == glass.KindEvent && strings.ContainsRune(points, rune(e.Point)) {
			met = append(met, fmt.Sprintf("%c %d %d %s", e.Point, e.Client, e.B, e.Text))
		}
	}
	return met
}

func TestAMessageIsAnEventOfItsReceiver(t *testing.T) {
	addr, s := watched(t)
	a, b := redistest.Dial(t, addr), redistest.Dial(t, addr)
	a.Do("PING")
	b.Do("SUBSCRIBE", "ch")
	met := events(t, s, "xymo", func() {
		a.Do("PUBLISH", "ch", "hello")
		b.Read()
	})
	require.Equal(t, []string{
		"x 1 0 PUBLISH ch hello", `m 2 0 *3\r\n$7\r\nmessage\r\n$2\r\nch\r\n$5\r\nhello\r\n`, `y 1 0 :1\r\n`,
	}, met[:3])
	require.Len(t, met, 5, "and a write to each")
}

func TestAQueuedAndARefusedCommandDoNotRun(t *testing.T) {
	addr, s := watched(t)
	a := redistest.Dial(t, addr)
	a.Do("PING")
	met := events(t, s, "xs", func() {
		require.NoError(t, a.Send([]byte("MULTI\r\nSETT k\r\nSET k v\r\nDISCARD\r\nINCR n\r\n")))
		for range 5 {
			a.Read()
		}
	})
	require.Equal(t, []string{
		"x 1 0 MULTI", fmt.Sprintf("x 1 %d SETT k", trace.Refused), fmt.Sprintf("x 1 %d SET k v", trace.ToQueue),
		"x 1 0 DISCARD", "x 1 0 INCR n",
	}, met[:5])
	require.Regexp(t, "^s 0 5 .* inside=0 waited=0 ", met[5])
}

func TestARuleIsNamedWhereItStrikes(t *testing.T) {
	addr, s := watched(t)
	a, admin := redistest.Dial(t, addr), redistest.Dial(t, addr)
	a.Do("PING")
	ok(t, admin, line("LAB FAULT ADD lost CMD set ACTION DROP-REPLY")...)
	met := events(t, s, "xyfc", func() {
		require.NoError(t, a.Send([]byte("SET lock a\r\n")))
		_, err := a.TryRead()
		require.Error(t, err)
	})
	require.Equal(t, []string{
		"x 1 0 SET lock a", `y 1 0 +OK\r\n`, `f 1 0 lost DROP-REPLY +OK\r\n`, "c 1 0 a rule of the lab ends the connection",
	}, met)
}

func TestASlowScriptLooksForOthers(t *testing.T) {
	addr, s := watched(t, "--busy-reply-threshold", "20")
	a, b := redistest.Dial(t, addr), redistest.Dial(t, addr)
	a.Do("PING")
	b.Do("PING")
	met := events(t, s, "lb", func() {
		require.NoError(t, a.Send([]byte("EVAL \"while true do end\" 0\r\n")))
		a.WaitForArrival()
		require.True(t, strings.HasPrefix(b.Do("GET", "k").Str, "BUSY"))
		b.Do("SCRIPT", "KILL")
		a.Read()
	})
	require.GreaterOrEqual(t, len(met), 2)
	require.Regexp(t, fmt.Sprintf(`^l 1 %d  \d+r$`, trace.BySlowScript), met[len(met)-2])
	require.Equal(t, "b 1 0 ", met[len(met)-1])
}

// A page that looks at locks asks the lab every second.
func TestNobodySeesThatThePageAsksTheLab(t *testing.T) {
	_, s := watched(t)
	require.Empty(t, events(t, s, "whxys", func() {
		_, err := s.Do(context.Background(), "LAB", "LOG")
		require.NoError(t, err)
	}))
	require.NotEmpty(t, events(t, s, "whxys", func() {
		_, err := s.Do(context.Background(), "LAB", "CLOCK", "FREEZE")
		require.NoError(t, err)
	}))
}
