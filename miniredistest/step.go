package miniredistest

import (
	"context"

	"github.com/miniredisd/miniredisd/lab/glass"
	serverglass "github.com/miniredisd/miniredisd/server/glass"
)

// Stepping lets a test stop the server's loop: see Server.Step.
func Stepping() Option { return Config("--watch", "127.0.0.1:0") }

// Step stops the loop of a server at its points: after a read(2), before a command, after a write(2).
// docs/lab/step.md has the points. The server must be started with Stepping.
//
//	srv.Step().Break("second", "CMD", "SET", "NTH", "2")
//	go lock.Acquire("order:42", 30*time.Second)
//	stop := srv.Step().Stopped()             // before the second SET
//	... stop.Snapshot.Clients ...
//	srv.Step().Continue()
//
// The server's clock stands while the server is stopped. The end of the test lets the server go on.
type Step struct{ s *Server }

// Step returns the loop of s.
func (s *Server) Step() Step { return Step{s} }

// Pause stops the loop at its next point. A server that sleeps stops when something arrives.
func (st Step) Pause() { st.do("PAUSE") }

// Next continues until the next of a unit: none for an event, or HANDLER, CLIENT, COMMAND, PHASE, PASS, and
// then maybe a number.
func (st Step) Next(words ...string) { st.do(append([]string{"NEXT"}, words...)...) }

// Continue lets the loop run. Breakpoints stay.
func (st Step) Continue() { st.do("CONTINUE") }

// Break adds a breakpoint. conditions are words such as "CMD", "SET", "KEY", "lock:*".
func (st Step) Break(name string, conditions ...string) {
	st.do(append([]string{"BREAK", "ADD", name}, conditions...)...)
}

func (st Step) do(words ...string) {
	st.s.t.Helper()
	st.s.lab(append([]string{"STEP"}, words...)...)
}

// view returns what the loop shows, or nil without Stepping.
func (s *Server) view() *glass.View {
	if s.s == nil {
		return nil
	}
	return serverglass.ViewOf(s.s)
}

// Stopped waits until the loop stops. It returns where the loop stands, and all clients there.
func (st Step) Stopped() *glass.Stop {
	t := st.s.t
	t.Helper()
	w := st.s.view()
	if w == nil {
		t.Fatalf("%sStep().Stopped(): start the server with miniredistest.Stepping()", st.s.name)
	}
	sub := w.Subscribe(0)
	defer sub.Close()
	for {
		m, err := sub.Next(context.Background())
		if err != nil {
			t.Fatalf("%sStep().Stopped(): the server has ended", st.s.name)
		}
		if m.Kind == glass.KindStop && m.Stop.Why != glass.WhySlow {
			return m.Stop
		}
	}
}
