package node_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/internal/trace"
	"github.com/miniredisd/miniredisd/lab/glass"
	"github.com/miniredisd/miniredisd/server"
	serverglass "github.com/miniredisd/miniredisd/server/glass"
)

// watched runs a server with a watch until the test ends.
func watched(t *testing.T, args ...string) (addr string, s *server.Server) {
	t.Helper()
	line := append([]string{"--lab", "yes", "--watch", "127.0.0.1:0", "--seed", "1"}, args...)
	s = plainServer(t, func(byte, string, ...any) {}, line...)
	return run(t, s), s
}

// stepper steps through a server and reads its stream.
type stepper struct {
	*testing.T
	w   *glass.View
	sub *glass.Subscription
}

func stepping(t *testing.T, s *server.Server) *stepper {
	t.Helper()
	st := &stepper{t, serverglass.ViewOf(s), serverglass.ViewOf(s).Subscribe(0)}
	t.Cleanup(st.sub.Close)
	return st
}

// stop waits for the next stop.
func (st *stepper) stop() *glass.Stop {
	st.Helper()
	for {
		m, err := st.sub.Next(context.Background())
		require.NoError(st, err)
		if m.Kind == glass.KindStop {
			return m.Stop
		}
	}
}

// pause returns when the server sleeps and will stop at the begin of its next pass.
func (st *stepper) pause() {
	st.Helper()
	st.w.Next(glass.OnePass, 1)
	for {
		m, err := st.sub.Next(context.Background())
		require.NoError(st, err)
		if m.Kind == glass.KindState && m.State.State == "asleep" {
			return
		}
	}
}

// until steps by events until a point, and returns what it met on the way, that point included.
func (st *stepper) until(last trace.Point) (met []string) {
	st.Helper()
	for {
		e := st.stop().Event
		met = append(met, fmt.Sprintf("%c %d %s", e.Point, e.Client, e.Text))
		if e.Point == last {
			return met
		}
		st.w.Next(glass.OneEvent, 1)
	}
}

func TestSteppingMeetsEveryPointOfAPass(t *testing.T) {
	addr, s := watched(t)
	a, b := redistest.Dial(t, addr), redistest.Dial(t, addr)
	a.Do("PING")
	b.Do("PING")
	st := stepping(t, s)
	st.pause()
	require.NoError(t, a.Send([]byte("SET lock a NX\r\n")))
	woke := st.stop()
	require.Equal(t, "step", woke.Why)
	require.NoError(t, b.Send([]byte("SET lock b NX\r\n")))
	st.w.Next(glass.OnePass, 1)
	require.True(t, strings.HasPrefix(st.stop().Event.Text, "event "))
	st.w.Continue()
	require.Equal(t, "+OK", a.Read().String())
	require.Equal(t, "(nil)", b.Read().String())

	st.pause()
	require.NoError(t, a.Send([]byte("GET lock\r\nSET x 1\r\n")))
	met := st.until(trace.Asleep)
	require.Equal(t, []string{
		"h 1 read", `r 1 GET lock\r\nSET x 1\r\n`, "p 1 ",
		"x 1 GET lock", `y 1 $1\r\na\r\n`, "x 1 SET x 1", `y 1 +OK\r\n`, "o 1 ",
	}, met[1:len(met)-1])
	require.True(t, strings.HasPrefix(met[len(met)-1], "s 0 reads=1 writes=1 "), met)
	st.w.Continue()
	require.Equal(t, "a", a.Read().Str)
	require.Equal(t, "+OK", a.Read().String())
}

func TestAServerWithoutAWatchRefusesToStep(t *testing.T) {
	_, admin := startLab(t)
	require.Equal(t, "ERR LAB STEP and LAB RECORD need a watch: start the server with --watch 127.0.0.1:0",
		admin.Do("LAB", "STEP").Str)
}

func TestAStoppedServerEndsAtOnce(t *testing.T) {
	for name, stop := range map[string]func(w *glass.View){
		"at a pass":      func(w *glass.View) { w.Next(glass.OnePass, 1) },
		"in a thread":    func(w *glass.View) { _, _ = w.Step([]string{"BREAK", "ADD", "b", "AT", "read"}) },
		"at a command":   func(w *glass.View) { w.Next(glass.OneCommand, 1) },
		"in slow motion": func(w *glass.View) { w.Slow(time.Hour) },
	} {
		s := plainServer(t, func(byte, string, ...any) {}, "--lab", "yes", "--watch", "127.0.0.1:0",
			"--io-threads", "2", "--io-threads-do-reads", "yes")
		addr, done := s.Addrs()[0], make(chan error)
		go func() { done <- s.Run() }()
		c := redistest.Dial(t, addr)
		c.Do("PING")
		st := stepping(t, s)
		stop(st.w)
		require.NoError(t, c.Send([]byte("PING\r\n")))
		st.stop()
		s.Terminate(false)
		require.NoError(t, <-done, name)
		for {
			if _, err := st.sub.Next(context.Background()); err != nil {
				require.Equal(t, io.EOF, err)
				break
			}
		}
	}
}
