package claims

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"syscall"
	"time"

	"github.com/miniredisd/miniredisd/course/stage"
	"github.com/miniredisd/miniredisd/resp"
)

// story is one act, played on servers of its own. Its methods do nothing after the first mistake, so an act
// reads as a list of steps. Only the goroutine of the act uses it.
type story struct {
	servers *stage.Stage
	clients []*client
	record  Record
	err     error // the first mistake

	recording bool // together has begun it
	bare      bool // it has no snapshots
	watched   int  // the master whose recording counts
}

// newStory starts the servers. more are further words of the command line.
func newStory(more []string) (*story, error) {
	servers, err := stage.New(1, more...)
	if err != nil {
		return nil, err
	}
	return &story{servers: servers, watched: 1, record: Record{Clients: map[string]int64{}}}, nil
}

// close ends the servers.
func (s *story) close() error {
	for _, c := range s.clients {
		_ = c.conn.Close() // it may have ended
	}
	return errors.Join(s.err, s.servers.Close())
}

// check keeps the first mistake of the story.
func (s *story) check(err error) {
	if s.err == nil {
		s.err = err
	}
}

// wants ends the story if a step went another way than the story says.
func (s *story) wants(ok bool, format string, args ...any) {
	if !ok {
		s.check(fmt.Errorf(format, args...))
	}
}

// within asks the servers for something, and waits no longer than patience.
func (s *story) within(ask func(ctx context.Context) error) {
	if s.err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	s.check(ask(ctx))
}

// cpuOf returns the CPU of this process, the clients included, for each of n calls, in us.
func (s *story) cpuOf(n int, do func()) float64 {
	used := func() int64 {
		var u syscall.Rusage
		s.check(syscall.Getrusage(syscall.RUSAGE_SELF, &u))
		return u.Utime.Nano() + u.Stime.Nano()
	}
	begin := used()
	for range n {
		do()
	}
	return float64(used()-begin) / 1000 / float64(n)
}

// lab executes a verb of LAB on the first master, over no connection.
func (s *story) lab(words ...string) resp.Value { return s.labOf(1, words...) }

// labOf executes a verb of LAB on a master.
func (s *story) labOf(master int, words ...string) (v resp.Value) {
	s.within(func(ctx context.Context) (err error) {
		v, err = s.servers.Lab(ctx, master, words...)
		return err
	})
	return v
}

// freeze lets the clocks of all masters stand still at a fixed time.
func (s *story) freeze() { s.within(s.servers.Freeze) }

// advance moves the clocks of all masters on by ms.
func (s *story) advance(ms int) {
	s.within(func(ctx context.Context) error {
		return s.servers.Advance(ctx, time.Duration(ms)*time.Millisecond)
	})
}

// hold makes the server hold the next requests that match, such as "CMD", "DEL", "CLIENT", "A".
func (s *story) hold(name string, match ...string) {
	words := append([]string{"FAULT", "ADD", name}, match...)
	s.lab(append(words, "ACTION", "HOLD")...)
}

// held waits until the rule holds a client.
func (s *story) held(name string) {
	v := s.lab("HOLD", "WAIT", name, strconv.FormatInt(patience.Milliseconds(), 10))
	s.wants(!v.Null, "the rule %s holds no client", name)
}

// release lets the client that the rule holds go on. Its request has been executed on return.
func (s *story) release(name string) { s.lab("HOLD", "RELEASE", name) }

// findings returns the patterns that the doctors found, with the key of each: "two-holders lock:a".
func (s *story) findings() (all []string) {
	s.within(func(ctx context.Context) error {
		found, err := s.servers.Findings(ctx)
		for _, f := range found {
			all = append(all, f.Pattern+" "+f.Key)
		}
		return err
	})
	return all
}
