// Package stage is where the course plays its stories: private servers whose clock stands still when the story
// says so, and whose loop is recorded.
//
//	story ──┬── New ─────────────> node.Nodes, with a seed, a lab and --watch
//	        ├── Do, Lab ─────────> the servers, over no connection: no rule of the lab meets these requests
//	        ├── Freeze, Advance ─> the clocks
//	        ├── Record ──────────> the events of one server
//	        └── Refused ─────────> what clients sent that may not touch the stage: see NewForGuests
//
// Package claims plays experiments on it, package grade the tests of labs. They differ in what a failed step
// does to a story, so every method here returns its error.
//
// Masters are counted from 1, as LAB counts them. One goroutine runs the servers. Another one, that of the story,
// calls the methods.
package stage

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/internal/respclient"
	"github.com/miniredisd/miniredisd/lab/glass"
	"github.com/miniredisd/miniredisd/node"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/server"
	serverglass "github.com/miniredisd/miniredisd/server/glass"
)

// Stage is one server, or several masters.
type Stage struct {
	Addrs []string // of the masters; they keep them while they are down

	masters node.Nodes
	ended   chan error
	secret  string           // of the stage's own connection, if clients are guests
	own     *respclient.Conn // to the first master, or nil: see Enter
}

// New starts the servers. They listen on free ports of this machine, and save nothing. more are further words of
// the command line, such as "--masters", "5".
func New(seed uint64, more ...string) (*Stage, error) {
	args := []string{
		"--port", "0", "--bind", "127.0.0.1", "--save", "", "--lab", "yes", "--watch", "127.0.0.1:0",
		"--seed", strconv.FormatUint(seed, 10),
	}
	cfg, err := config.Parse(append(args, more...), strings.NewReader(""))
	if err != nil {
		return nil, err
	}
	masters, err := node.NewNodes(cfg, func(int) server.Log { return func(byte, string, ...any) {} })
	if err != nil {
		return nil, err
	}
	s := &Stage{Addrs: masters.Addrs(), masters: masters, ended: make(chan error, 1)}
	go func() { s.ended <- masters.Run() }()
	return s, nil
}

// Close ends the servers. The error is that of a loop.
func (s *Stage) Close() error {
	if s.own != nil {
		_ = s.own.Close() // the server may have closed it
	}
	s.masters.Stop()
	return <-s.ended
}

// Do executes a command on a master, over no connection. An error reply is an error.
func (s *Stage) Do(ctx context.Context, master int, words ...string) (resp.Value, error) {
	v, err := s.masters.Do(ctx, master, words...)
	if err != nil {
		err = fmt.Errorf("%s: %w", strings.Join(words, " "), err)
	}
	return v, err
}

// Ask executes a command that needs a connection, over the one that Enter has made. limit is for the reply.
func (s *Stage) Ask(limit time.Duration, words ...string) (resp.Value, error) {
	s.own.Limit = limit
	return s.own.Do(words...)
}

// Lab executes a verb of LAB on a master.
func (s *Stage) Lab(ctx context.Context, master int, words ...string) (resp.Value, error) {
	return s.Do(ctx, master, append([]string{"LAB"}, words...)...)
}

// dawn is where the clocks stand at first, in unix ms.
const dawn = 1_700_000_000_000

// Freeze lets the clocks of all masters stand still, at the same time in every story.
func (s *Stage) Freeze(ctx context.Context) error {
	for n := range s.Addrs {
		if _, err := s.Lab(ctx, n+1, "CLOCK", "FREEZE"); err != nil {
			return err
		}
		if _, err := s.Lab(ctx, n+1, "CLOCK", "SET", strconv.Itoa(dawn)); err != nil {
			return err
		}
	}
	return nil
}

// Advance moves the clocks of all masters on.
func (s *Stage) Advance(ctx context.Context, d time.Duration) error {
	words := []string{"CLOCK", "ADVANCE", strconv.FormatInt(d.Milliseconds(), 10)}
	if len(s.Addrs) > 1 {
		words = append([]string{"ALL"}, words...)
	}
	_, err := s.Lab(ctx, 1, words...)
	return err
}

// Finding is a mistake of a lock client that the doctor has found.
type Finding struct{ Pattern, Key string }

// Findings returns what the doctors of all masters have found.
func (s *Stage) Findings(ctx context.Context) (all []Finding, err error) {
	for n := range s.Addrs {
		v, err := s.Lab(ctx, n+1, "DOCTOR")
		if err != nil {
			return nil, err
		}
		for _, f := range v.Elems {
			all = append(all, Finding{Field(f, "pattern").Str, Field(f, "key").Str})
		}
	}
	return all, nil
}

// Field returns the value of a key of a map, or the zero Value.
func Field(v resp.Value, name string) resp.Value {
	for i := 0; i+1 < len(v.Elems); i += 2 {
		if v.Elems[i].Str == name {
			return v.Elems[i+1]
		}
	}
	return resp.Value{}
}

// Glass returns the gate and the events of a master.
func (s *Stage) Glass(master int) *glass.View { return serverglass.ViewOf(s.masters[master-1]) }

// Record begins to record every event of a master, with a snapshot each unless it is bare.
func (s *Stage) Record(master int, bare bool) {
	w := s.Glass(master)
	w.RecordStart(0)
	if !bare {
		w.Slow(time.Nanosecond)
	}
}

// EndRecording returns what was recorded since Record.
func (s *Stage) EndRecording(master int) *glass.Recording {
	w := s.Glass(master)
	w.Slow(0)
	w.RecordStop()
	return w.Recording()
}
