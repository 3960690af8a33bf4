package grade

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/course/labs"
	"github.com/miniredisd/miniredisd/internal/orphans"
)

// Options say how a program is graded.
type Options struct {
	Lab     *Lab
	Command []string // the student's program and its arguments
	Env     []string // more variables for it
	Seed    uint64
	Student string // of whom the seed is, or ""
	Hidden  bool   // the seed is not shown
	Lang    string // en or zh

	Recordings string // the folder for recordings of tests that failed
	Opener     string // the program that opens a recording, as one types it

	Out io.Writer // for the points, as they come

	// Alone says that this process does nothing but grade one program. Then every new child of it is the
	// program's, and Run can end those that change their group, session and environment. Linux only.
	Alone bool

	// The limits are real time. 0 means the default.
	StartLimit, AnswerLimit, WholeLimit time.Duration
}

// The default limits. A program may be compiled when it starts.
const (
	startLimit  = 60 * time.Second
	answerLimit = 10 * time.Second
	wholeLimit  = 10 * time.Minute
)

// maxHangs is the number of tests in which a program may hang before the rest is not tried.
const maxHangs = 3

// Run plays every test of a lab with a program. The error is about the grader, never about the program. With an
// error there are results all the same, unless no test could begin: a test that could not be judged has no points,
// and says why.
func Run(ctx context.Context, o Options) (*Results, error) {
	if o.Lab == nil || len(o.Command) == 0 {
		return nil, errors.New("a lab and a command are needed")
	}
	o.defaults()
	text, err := labs.Read(o.Lab.folder(), o.Lang)
	if err != nil {
		return nil, err
	}
	whole, cancel := context.WithTimeout(ctx, o.WholeLimit)
	defer cancel()
	r := &run{Options: o, results: &Results{}}
	r.headline(text.Title)
	if o.Alone {
		defer r.adopt()()
		if err := orphans.Seclude(); err != nil {
			return nil, err
		}
	}
	for i := range o.Lab.tests {
		t := &o.Lab.tests[i]
		if ctx.Err() != nil {
			r.note(i+1, t, &failure{why: say{"Not tried: the grader was stopped.", "未测：评分程序被中止。"}}, "")
			continue
		}
		if one := r.test(whole, i+1, t); one != nil {
			err = errors.Join(err, fmt.Errorf("%s, test %d: %w", o.Lab.ID, i+1, one))
		}
	}
	r.summary()
	return r.results, cmp.Or(ctx.Err(), err)
}

func (o *Options) defaults() {
	set := func(d *time.Duration, to time.Duration) {
		if *d == 0 {
			*d = to
		}
	}
	set(&o.StartLimit, startLimit)
	set(&o.AnswerLimit, answerLimit)
	set(&o.WholeLimit, wholeLimit)
	if o.Lang == "" {
		o.Lang = "en"
	}
	if o.Opener == "" {
		o.Opener = "miniredisd watch"
	}
	if o.Out == nil {
		o.Out = io.Discard
	}
}

// run is one call of Run.
type run struct {
	Options
	results *Results
	useless say // why the remaining tests are not tried
	hangs   int
	spoke   bool             // a server of the program has sent a byte
	threads say              // in lab 12: why the tests that need threads are not judged
	orphans *orphans.Orphans // nil if they cannot be ended
}

// adopt prepares for programs that leave processes behind, until the caller calls stop. It tells if the
// system has no way for that.
func (r *run) adopt() (stop func()) {
	all, stop, err := orphans.Adopt()
	if err != nil {
		note := say{"Note: a process that leaves the process group of your program may stay behind on this system (%v).\n\n",
			"注意：在这个系统上，离开程序进程组的进程可能会留下（%v）。\n\n"}
		fmt.Fprint(r.Out, note.in(r.Lang, err))
		return func() {}
	}
	r.orphans = all
	return stop
}

// test plays one test and notes its result.
func (r *run) test(ctx context.Context, number int, t *test) error {
	switch {
	case r.useless.en != "":
		r.note(number, t, &failure{why: r.useless}, "")
		return nil
	case ctx.Err() != nil:
		r.note(number, t, &failure{why: say{"Not tried: the time for all tests is over.", "未测：总时间已用完。"}}, "")
		return nil
	}
	failed, path, err := r.play(ctx, number, t)
	if err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n")
		failed = &failure{args: []any{first}, why: say{"The grader could not judge this test: %s.", "评分程序无法评判这个测试：%s。"}}
	}
	r.note(number, t, failed, path)
	r.judgeKind(failed)
	return err
}

// play plays one test. path is that of the recording, if there is one.
func (r *run) play(ctx context.Context, number int, t *test) (failed *failure, path string, err error) {
	s, err := newStory(ctx, r, number, t)
	if err != nil {
		return nil, "", err
	}
	perform := s.perform
	if s.servers != nil {
		perform = func(play func(*story)) (*failure, error) { return s.performOn(s.servers, play) }
	}
	failed, err = perform(func(s *story) {
		t.play(s)
		s.talked()
		s.isOwn()
	})
	if failed != nil && err == nil {
		path = s.saveRecording()
	}
	return failed, path, errors.Join(err, s.close())
}

// judgeKind decides whether further tests make sense.
func (r *run) judgeKind(f *failure) {
	if f == nil {
		return
	}
	switch f.kind {
	case noStart:
		r.useless = say{"Not tried: the program does not start. See the first test that failed.",
			"未测：程序无法启动，原因见第一个失败的测试。"}
	case mute:
		r.useless = say{"Not tried: the program answers nothing. See the first test that failed.",
			"未测：程序什么也不回答，原因见第一个失败的测试。"}
	case hang:
		if r.hangs++; r.hangs == maxHangs {
			r.useless = say{"Not tried: the program has hung too often.", "未测：程序多次无响应。"}
		}
	}
}
