package grade

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/course/stage"
	"github.com/miniredisd/miniredisd/internal/freeport"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/resp"
)

// story is one test as it is played: servers, and processes of the student's program. A story is a list of
// steps, so a step that goes wrong ends it: see fail. Only the goroutine of the test uses a story.
type story struct {
	ctx      context.Context
	run      *run
	number   int          // of the test
	lock     string       // its key, in a lab about clients
	rand     *rand.Rand   // from the seed and the number of the test
	servers  *stage.Stage // nil in a lab about servers
	programs []*program
	peers    []*peer
	served   *service // the newest one
	recorded []byte   // in the lab about explore: the recording of what broke the lock
}

// newStory starts the servers that the lab needs. Their clocks stand, they log every key, and the first one is
// recorded.
func newStory(ctx context.Context, r *run, number int, t *test) (*story, error) {
	s := &story{ctx: ctx, run: r, number: number, rand: rand.New(rand.NewPCG(r.Seed, uint64(number)))}
	s.lock = lockOf(r.Seed)
	if r.Lab.masters == 0 {
		return s, nil
	}
	var err error
	if s.servers, err = stage.NewForGuests(serverSeed(r.Seed), "--masters", strconv.Itoa(r.Lab.masters)); err != nil {
		return nil, err
	}
	_, err = s.perform(func(s *story) {
		s.check(s.servers.Enter())
		s.within(s.servers.Freeze)
		for n := range s.servers.Addrs {
			s.labOf(n+1, "LOG", "WATCH", "*")
			s.labOf(n+1, "LOG", "RESET")
		}
		s.servers.Record(1, t.bare)
	})
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// close ends the programs and the servers.
func (s *story) close() (err error) {
	err = s.endPrograms()
	for _, c := range s.peers {
		_ = c.conn.Close() // the program may have closed it
	}
	if s.servers != nil {
		err = errors.Join(err, s.servers.Close())
	}
	return err
}

// endPrograms ends the programs and what they have started. It tells if they have left their groups.
func (s *story) endPrograms() error {
	strays, groups := 0, make([]int, len(s.programs))
	for i, p := range s.programs {
		strays += p.end()
		groups[i] = p.cmd.Process.Pid
	}
	var alive []int
	if s.run.orphans != nil {
		more, left, err := s.run.orphans.End(groups, orphanLimit)
		if err != nil {
			return err
		}
		strays, alive = strays+more, left
	}
	if len(alive) > 0 {
		note := say{"   The grader cannot end these processes of your program: %v. End them yourself.",
			"   评分程序无法结束程序留下的这些进程：%v。请自行结束它们。"}
		fmt.Fprintln(s.run.Out, note.in(s.run.Lang, alive))
	}
	if strays > len(alive) {
		note := say{"   Your program has left processes behind, outside of its process group. The grader has ended them.",
			"   程序在进程组之外留下了进程，评分程序已将它们结束。"}
		fmt.Fprintln(s.run.Out, note.in(s.run.Lang))
	}
	return nil
}

// orphanLimit is how long the grader tries to end what a program leaves behind.
const orphanLimit = 5 * time.Second

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
	mute    // it has not answered one request so far, and waits for more
	meddled // it has tried to change what judges it: this counts before every other reason
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
// here, so stories need no errors, as in encoding/json. Any other panic is a mistake of the grader, and costs this
// test only: the others have to be judged.
func (s *story) perform(play func(*story)) (f *failure, err error) {
	defer func() {
		switch x := recover().(type) {
		case nil:
		case *failure:
			f = x
		case broken:
			err = x.error
		default:
			err = fmt.Errorf("panic: %v\n%s", x, debug.Stack())
		}
	}()
	play(s)
	return nil, nil
}

// performOn is perform with guests on these servers. What they have sent that they may not counts before every other
// reason.
func (s *story) performOn(servers *stage.Stage, play func(*story)) (f *failure, err error) {
	f, err = s.perform(play)
	touched, more := s.perform(func(s *story) { s.untouched(servers) })
	if touched != nil && (f == nil || touched.kind == meddled) {
		f = touched
	}
	return f, errors.Join(err, more)
}

// fail ends the test without points. The words say what the program did, and what a right one does.
func (s *story) fail(why say, args ...any) { panic(&failure{why: why, args: args}) }

// want ends the test unless ok.
func (s *story) want(ok bool, why say, args ...any) {
	if !ok {
		s.fail(why, args...)
	}
}

// check is for mistakes that are not the program's.
func (s *story) check(err error) {
	if err != nil {
		panic(broken{err})
	}
}

// within asks the servers for something, and waits no longer than a program may take for an answer.
func (s *story) within(ask func(ctx context.Context) error) {
	ctx, cancel := context.WithTimeout(s.ctx, s.run.AnswerLimit)
	defer cancel()
	err := ask(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		panic(&failure{kind: hang, why: say{"The server does not get any further: your program keeps it busy.",
			"服务器无法继续：你的程序一直占着它。"}})
	}
	s.check(err)
}

// do executes a command on a master, over no connection.
func (s *story) do(master int, words ...string) (v resp.Value) {
	s.within(func(ctx context.Context) (err error) {
		v, err = s.servers.Do(ctx, master, words...)
		return err
	})
	return v
}

// labOf executes a verb of LAB on a master. The lab refuses only mistakes of the story.
func (s *story) labOf(master int, words ...string) resp.Value {
	return s.do(master, append([]string{"LAB"}, words...)...)
}

// lab executes a verb of LAB, such as s.lab("FAULT ADD lost CMD SET NTH 1 ACTION DROP-REPLY").
func (s *story) lab(words string) resp.Value { return s.labOf(1, strings.Fields(words)...) }

// advance moves the clocks of all masters on.
func (s *story) advance(d time.Duration) {
	s.within(func(ctx context.Context) error { return s.servers.Advance(ctx, d) })
}

// holds reports whether a rule with the action HOLD holds a client of the first master.
func (s *story) holds(rule string) bool { return !s.lab("HOLD WAIT " + rule + " 1").Null }

// keys returns the names of the keys of the first master.
func (s *story) keys() (names []string) {
	for _, v := range s.do(1, "KEYS", "*").Elems {
		names = append(names, v.Str)
	}
	return names
}

// histories returns the logs of all masters. Its entries have the commands on all keys.
func (s *story) histories() (all []lab.History) {
	for n := range s.servers.Addrs {
		var h lab.History
		s.check(json.Unmarshal([]byte(s.labOf(n+1, "LOG", "EXPORT").Str), &h))
		all = append(all, h)
	}
	return all
}

// commands returns the commands in the log of the first master that a client with this name sent. "" means
// every client. Commands inside scripts have By set.
func (s *story) commands(name string) (found []lab.Entry) {
	for _, e := range s.histories()[0].Entries {
		if len(e.Cmd) > 0 && e.Client > 0 && (name == "" || e.Name == name) {
			found = append(found, e)
		}
	}
	return found
}

// talked wants the program to have sent a request about keys. Right answers alone may be written into it. The log
// has the commands on keys, and those that walk all keys are counted.
func (s *story) talked() {
	if s.servers == nil {
		return
	}
	for n, h := range s.histories() {
		ofClient := func(e lab.Entry) bool { return len(e.Cmd) > 0 && e.Client > 0 }
		counts := s.do(n+1, "INFO", "commandstats").Str
		walked := strings.Contains(counts, "cmdstat_scan:") || strings.Contains(counts, "cmdstat_keys:")
		if walked || slices.ContainsFunc(h.Entries, ofClient) {
			return
		}
	}
	s.fail(silentAnswers())
}

// untouched wants guests not to have sent what would change the servers that judge them.
func (s *story) untouched(servers *stage.Stage) {
	var names []string
	s.within(func(ctx context.Context) (err error) {
		names, err = servers.Refused(ctx)
		return err
	})
	if len(names) == 0 {
		return
	}
	panic(&failure{kind: meddled, args: []any{strings.Join(names, ", ")}, why: say{
		"Your program sent %s to the server of the grader, and was refused. A program that is judged may not change " +
			"the server, its lab or its users. So this test gives no points.",
		"程序向评分程序的服务器发了 %s，被拒绝了。被评分的程序不能改变服务器、实验室和用户，所以这个测试不得分。"}})
}

func silentAnswers() say {
	return say{"The answers are right, and your program has sent no request about any key: it has not asked the server.",
		"回答都对，但程序没有发出任何涉及键的请求：它没有问过服务器。"}
}

// doctor returns the findings of all masters.
func (s *story) doctor() (all []stage.Finding) {
	s.within(func(ctx context.Context) (err error) {
		all, err = s.servers.Findings(ctx)
		return err
	})
	return all
}

// word returns a name or a value that no program can know before.
func (s *story) word() string {
	b := make([]byte, 4+s.rand.IntN(8))
	for i := range b {
		b[i] = byte('a' + s.rand.IntN(26))
	}
	return string(b)
}

// serve starts the program as a server on a free port, and waits until it listens. more are further
// variables of its environment.
func (s *story) serve(more ...string) *service {
	port, err := freeport.Choose()
	s.check(err)
	addr := net.JoinHostPort("127.0.0.1", port)
	v := &service{program: s.start(append(more, "PORT="+port)...), addr: addr, port: port}
	for end := time.Now().Add(s.run.StartLimit); time.Now().Before(end) && s.ctx.Err() == nil; time.Sleep(moment) {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			s.check(conn.Close())
			s.served = v
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
