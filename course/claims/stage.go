package claims

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/server"
)

// stage is a private server, or several masters, on which one story is played. Its methods do nothing
// after the first mistake, so a story reads as a list of steps. Only the goroutine of the story uses it.
type stage struct {
	masters server.Masters
	ended   chan error
	clients []*client
	record  Record
	err     error // the first mistake

	recording bool // together has begun it
	bare      bool // it has no snapshots
	watched   int  // the master whose recording counts, from 0
}

// newStage starts the servers. They listen on free ports of this machine, have a lab and a seed, and are
// watched. more are further words of the command line.
func newStage(more []string) (*stage, error) {
	args := []string{
		"--port", "0", "--bind", "127.0.0.1", "--lab", "yes", "--seed", "1", "--save", "", "--watch", "127.0.0.1:0",
	}
	cfg, err := config.Parse(append(args, more...), strings.NewReader(""))
	if err != nil {
		return nil, err
	}
	s := &stage{ended: make(chan error, 1), record: Record{Clients: map[string]int64{}}}
	s.masters, err = server.NewMasters(cfg, func(int) server.Log { return func(byte, string, ...any) {} })
	if err != nil {
		return nil, err
	}
	go func() { s.ended <- s.masters.Run() }()
	return s, nil
}

// close ends the servers.
func (s *stage) close() error {
	for _, c := range s.clients {
		_ = c.conn.Close() // it may have ended
	}
	s.masters.Stop()
	return errors.Join(s.err, <-s.ended)
}

// check keeps the first mistake of the story.
func (s *stage) check(err error) {
	if s.err == nil {
		s.err = err
	}
}

// wants ends the story if a step went another way than the story says.
func (s *stage) wants(ok bool, format string, args ...any) {
	if !ok {
		s.check(fmt.Errorf(format, args...))
	}
}

// lab executes a verb of LAB on the first master, over no connection.
func (s *stage) lab(words ...string) resp.Value { return s.labOf(0, words...) }

// labOf executes a verb of LAB on a master, counted from 0.
func (s *stage) labOf(master int, words ...string) resp.Value {
	if s.err != nil {
		return resp.Value{}
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	v, err := s.masters[master].Do(ctx, append([]string{"LAB"}, words...)...)
	if err != nil {
		s.check(fmt.Errorf("LAB %s: %w", strings.Join(words, " "), err))
	}
	return v
}

// freeze lets the clocks of all masters stand still at a fixed time.
func (s *stage) freeze() {
	for i := range s.masters {
		s.labOf(i, "CLOCK", "FREEZE")
		s.labOf(i, "CLOCK", "SET", strconv.Itoa(dawn))
	}
}

// dawn is where the clock of a story stands at first, in unix ms.
const dawn = 1_700_000_000_000

// advance moves the clocks of all masters on by ms.
func (s *stage) advance(ms int) {
	if len(s.masters) == 1 {
		s.lab("CLOCK", "ADVANCE", strconv.Itoa(ms))
		return
	}
	s.lab("ALL", "CLOCK", "ADVANCE", strconv.Itoa(ms))
}

// hold makes the server hold the next requests that match, such as "CMD", "DEL", "CLIENT", "A".
func (s *stage) hold(name string, match ...string) {
	words := append([]string{"FAULT", "ADD", name}, match...)
	s.lab(append(words, "ACTION", "HOLD")...)
}

// held waits until the rule holds a client.
func (s *stage) held(name string) {
	v := s.lab("HOLD", "WAIT", name, strconv.FormatInt(patience.Milliseconds(), 10))
	s.wants(!v.Null, "the rule %s holds no client", name)
}

// release lets the client that the rule holds go on. Its request has been executed on return.
func (s *stage) release(name string) { s.lab("HOLD", "RELEASE", name) }

// findings returns the patterns that the doctors found, with the key of each: "two-holders lock:a".
func (s *stage) findings() (all []string) {
	for i := range s.masters {
		for _, f := range s.labOf(i, "DOCTOR").Elems {
			all = append(all, field(f, "pattern").Str+" "+field(f, "key").Str)
		}
	}
	return all
}

// field returns the value of a key of a map.
func field(v resp.Value, name string) resp.Value {
	for i := 0; i+1 < len(v.Elems); i += 2 {
		if v.Elems[i].Str == name {
			return v.Elems[i+1]
		}
	}
	return resp.Value{}
}
