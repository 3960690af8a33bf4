package grade

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/glass"
	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/verdict"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/server"
)

// stage is where one test is played: servers, and processes of the student's program. A story is a list
// of steps, so a step that goes wrong ends it: see fail. Only the goroutine of the test uses a stage.
type stage struct {
	ctx      context.Context
	run      *run
	number   int // of the test
	bare     bool
	rand     *rand.Rand // from the seed and the number of the test
	masters  server.Masters
	addrs    []string // of the masters; one that is down has no address of its own
	ended    chan error
	programs []*program
	peers    []*peer
}

// newStage starts the servers that the lab needs. They stand at dawn, log every key, and are recorded.
func newStage(ctx context.Context, r *run, number int, t *test) (*stage, error) {
	s := &stage{ctx: ctx, run: r, number: number, bare: t.bare, rand: rand.New(rand.NewPCG(r.Seed, uint64(number)))}
	if r.Lab.masters == 0 {
		return s, nil
	}
	cfg, err := config.Parse([]string{
		"--port", "0", "--bind", "127.0.0.1", "--save", "", "--lab", "yes", "--watch", "127.0.0.1:0",
		"--seed", strconv.FormatUint(r.Seed, 10), "--masters", strconv.Itoa(r.Lab.masters),
	}, strings.NewReader(""))
	if err != nil {
		return nil, err
	}
	s.masters, err = server.NewMasters(cfg, func(int) server.Log { return func(byte, string, ...any) {} })
	if err != nil {
		return nil, err
	}
	s.addrs = s.masters.Addrs()
	s.ended = make(chan error, 1)
	go func() { s.ended <- s.masters.Run() }()
	_, err = s.perform(func(s *stage) {
		for n := range s.masters {
			s.labOf(n+1, "CLOCK", "FREEZE")
			s.labOf(n+1, "CLOCK", "SET", strconv.Itoa(dawn))
			s.labOf(n+1, "LOG", "WATCH", "*")
			s.labOf(n+1, "LOG", "RESET")
		}
		s.beginRecording()
	})
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// dawn is where the clocks stand at first, in unix ms.
const dawn = 1_700_000_000_000

// close ends the programs and the servers.
func (s *stage) close() (err error) {
	strays := 0
	for _, p := range s.programs {
		strays += p.end()
	}
	if strays > 0 {
		note := say{"   Your program has left processes behind, outside of its process group. The grader has ended them.",
			"   程序在进程组之外留下了进程，评分程序已将它们结束。"}
		fmt.Fprintln(s.run.Out, note.in(s.run.Lang))
	}
	for _, c := range s.peers {
		_ = c.conn.Close() // the program may have closed it
	}
	if s.masters != nil {
		s.masters.Stop()
		err = <-s.ended
	}
	return err
}

// failure is why a test has no points.
type failure struct {
	kind kind
	why  say
	args []any
	tail string // what the program wrote last
}

// kind says what the failure means for the tests that follow.
type kind int

const (
	wrong   kind = iota // the program does another thing than the lab asks for
	noStart             // there is no program to judge
	hang
)

func (f *failure) text(lang string) string {
	text := f.why.in(lang, f.args...)
	if f.tail != "" {
		text += "\n" + f.tail
	}
	return text
}

// broken is a mistake of the grader itself.
type broken struct{ error }

// perform calls play. A step of a story that goes wrong panics with a *failure, or with broken. Both end
// here, so stories need no errors, as in encoding/json.
func (s *stage) perform(play func(*stage)) (f *failure, err error) {
	defer func() {
		switch x := recover().(type) {
		case nil:
		case *failure:
			f = x
		case broken:
			err = x.error
		default:
			panic(x)
		}
	}()
	play(s)
	return nil, nil
}

// fail ends the test without points. The words say what the program did, and what a right one does.
func (s *stage) fail(why say, args ...any) { panic(&failure{why: why, args: args}) }

// want ends the test unless ok.
func (s *stage) want(ok bool, why say, args ...any) {
	if !ok {
		s.fail(why, args...)
	}
}

// check is for mistakes that are not the program's.
func (s *stage) check(err error) {
	if err != nil {
		panic(broken{err})
	}
}

// do executes a command on a master, counted from 1, over no connection.
func (s *stage) do(master int, words ...string) resp.Value {
	ctx, cancel := context.WithTimeout(s.ctx, s.run.AnswerLimit)
	defer cancel()
	v, err := s.masters.Do(ctx, master, words...)
	if errors.Is(err, context.DeadlineExceeded) {
		panic(&failure{kind: hang, why: say{"The server does not get any further: your program keeps it busy.",
			"服务器无法继续：你的程序一直占着它。"}})
	}
	if err != nil {
		s.check(fmt.Errorf("%s: %w", strings.Join(words, " "), err))
	}
	return v
}

// labOf executes a verb of LAB on a master, counted from 1. The lab refuses only mistakes of the story.
func (s *stage) labOf(master int, words ...string) resp.Value {
	v := s.do(master, append([]string{"LAB"}, words...)...)
	if v.Kind == '-' {
		s.check(errors.New(v.Str))
	}
	return v
}

// lab executes a verb of LAB, such as s.lab("FAULT ADD lost CMD SET NTH 1 ACTION DROP-REPLY").
func (s *stage) lab(words string) resp.Value { return s.labOf(1, strings.Fields(words)...) }

// advance moves the clocks of all masters on.
func (s *stage) advance(d time.Duration) {
	words := "CLOCK ADVANCE " + strconv.FormatInt(d.Milliseconds(), 10)
	if len(s.masters) > 1 {
		words = "ALL " + words
	}
	s.lab(words)
}

// holds reports whether a rule with the action HOLD holds a client of the first master.
func (s *stage) holds(rule string) bool { return !s.lab("HOLD WAIT " + rule + " 1").Null }

// keys returns the names of the keys of the first master.
func (s *stage) keys() (names []string) {
	for _, v := range s.do(1, "KEYS", "*").Elems {
		names = append(names, v.Str)
	}
	return names
}

// histories returns the logs of all masters. Its entries have the commands on all keys.
func (s *stage) histories() (all []lab.History) {
	for n := range s.masters {
		var h lab.History
		s.check(json.Unmarshal([]byte(s.labOf(n+1, "LOG", "EXPORT").Str), &h))
		all = append(all, h)
	}
	return all
}

// commands returns the commands in the log of the first master that a client with this name sent. "" means
// every client. Commands inside scripts have By set.
func (s *stage) commands(name string) (found []lab.Entry) {
	for _, e := range s.histories()[0].Entries {
		if len(e.Cmd) > 0 && e.Client > 0 && (name == "" || e.Name == name) {
			found = append(found, e)
		}
	}
	return found
}

// verdict judges the logs of all masters.
func (s *stage) verdict() *verdict.Verdict {
	v, err := verdict.Judge(s.histories())
	s.check(err)
	return v
}

// finding is a mistake that the doctor has found.
type finding struct{ pattern, key, why, fix string }

// doctor returns the findings of all masters.
func (s *stage) doctor() (all []finding) {
	for n := range s.masters {
		for _, f := range s.labOf(n+1, "DOCTOR").Elems {
			all = append(all, finding{field(f, "pattern").Str, field(f, "key").Str, field(f, "why").Str, field(f, "fix").Str})
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

// beginRecording records every event of the first master, with a snapshot each.
func (s *stage) beginRecording() {
	w := s.masters[0].Glass()
	w.RecordStart(0)
	if !s.bare {
		w.Slow(time.Nanosecond)
	}
}

// endRecording returns what was recorded, or nil without a server.
func (s *stage) endRecording() *glass.Recording {
	if s.masters == nil {
		return nil
	}
	w := s.masters[0].Glass()
	w.Slow(0)
	w.RecordStop()
	return w.Recording()
}

// serve starts the program as a server on a free port, and waits until it listens. more are further
// variables of its environment.
func (s *stage) serve(more ...string) *service {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	s.check(err)
	addr := free.Addr().String()
	s.check(free.Close())
	_, port, err := net.SplitHostPort(addr)
	s.check(err)
	v := &service{program: s.start(append(more, "PORT="+port)...), addr: addr}
	for end := time.Now().Add(s.run.StartLimit); time.Now().Before(end) && s.ctx.Err() == nil; time.Sleep(moment) {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			s.check(conn.Close())
			return v
		}
		select {
		case <-v.over:
			v.ended("")
		default:
		}
	}
	panic(&failure{kind: noStart, args: []any{"$PORT", s.run.StartLimit}, tail: v.errors.lines(),
		why: say{"Your program does not listen on 127.0.0.1, port %s, after %v.", "程序没有在 127.0.0.1 的端口 %s 上监听（等了 %v）。"}})
}
