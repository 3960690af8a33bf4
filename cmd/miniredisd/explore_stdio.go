package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/miniredisd/miniredisd/lab/explore"
	"github.com/miniredisd/miniredisd/lab/explore/report"
	"github.com/miniredisd/miniredisd/lab/explore/trials"
)

// miniredisd explore --stdio explores a test that another process runs: the fixtures of clients/fixtures. Both sides
// write lines of JSON, this one to its standard output and the other one to its standard input. So there is no port
// to find and no token to check, and nothing stays behind: this process ends when its input does.
//
//	-> {"trial":7,"kind":"single","title":"reply lost at a's first SET",
//	    "url":"redis://127.0.0.1:40001","ports":[40001],"limit_ms":5300}
//	   with --cluster and --sentinels also "replicas":[40002] and "sentinels":[40003,40004,40005]
//	<- {"trial":7,"failed":"AssertionError: nobody held the lock","assertion":true,"output":"..."}
//
// Each trial has one answer. failed is null if the test did not fail. assertion tells a promise of the test that is
// broken from an error of its client. When the limit is over, this side says so, and the other one gives the trial up:
//
//	-> {"overdue":7}
//	<- {"trial":7,"failed":"the test did not end in time"}
//
// The last line is {"exit":1,"summary":"...","text":"...","html":"/tmp/.../report.html","report":{...}}, with the exit
// code of explore. html is null if no page was written: nothing was found, and --html is not given.

// taskLine asks for a trial.
type taskLine struct {
	Trial   int    `json:"trial"`
	Kind    string `json:"kind"` // "baseline", "single" ...
	Title   string `json:"title"`
	URL     string `json:"url"` // of the first master
	Ports   []int  `json:"ports"`
	LimitMS int64  `json:"limit_ms"`

	Replicas  []int `json:"replicas,omitempty"`  // ports: with --cluster or --sentinels
	Sentinels []int `json:"sentinels,omitempty"` // ports
}

// answerLine is the answer to a trial.
type answerLine struct {
	Trial     int     `json:"trial"`
	Failed    *string `json:"failed"`
	Assertion bool    `json:"assertion"`
	Output    string  `json:"output"`
}

// resultLine is the last line.
type resultLine struct {
	Exit    int             `json:"exit"`
	Summary string          `json:"summary"`
	Text    string          `json:"text"`
	HTML    *string         `json:"html"`
	Report  json.RawMessage `json:"report"` // as --json has it, null if there is none
}

// conversation is with the process that has the test.
type conversation struct {
	out     *json.Encoder
	answers chan answerLine // closed at the end of the input; err is set then
	err     error
}

// exploreTest is the subcommand explore --stdio.
func exploreTest(args []string, in io.Reader, out, errs io.Writer) int {
	var f exploreFlags
	flags := f.flags()
	if !parseFlags(flags, args, errs) {
		return exploreWrong
	}
	f.Program, f.InTest = flags.Args(), true
	err := f.check()
	switch {
	case len(f.Program) != 1:
		err = errors.New("--stdio expects the name of one test")
	case err == nil && (f.Jobs > 1 || f.Port > 0 || f.Invariant != "" || f.json || f.xml != ""):
		err = errors.New("--jobs, --port, --invariant, --json and --junit do not go with --stdio")
	}
	if err != nil {
		fmt.Fprintln(errs, "explore:", err)
		return exploreWrong
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	c := listen(in, out)
	f.Play = c.play
	r, err := trials.Run(ctx, f.Options)
	if c.ended() || ctx.Err() != nil {
		return exploreWrong // nobody listens
	}
	if err := c.conclude(&f, r, err); err != nil {
		fmt.Fprintln(errs, "explore:", err)
		return exploreWrong
	}
	return exploreSafe // the result has the code
}

// longestAnswer bounds a line of the input.
const longestAnswer = 1 << 20

// listen reads answers until the input ends.
func listen(in io.Reader, out io.Writer) *conversation {
	c := &conversation{out: json.NewEncoder(out), answers: make(chan answerLine)}
	c.out.SetEscapeHTML(false)
	go func() {
		defer close(c.answers)
		lines := bufio.NewScanner(in)
		lines.Buffer(nil, longestAnswer)
		for lines.Scan() {
			var a answerLine
			if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
				c.err = fmt.Errorf("not an answer: %w", err)
				return
			}
			c.answers <- a
		}
		c.err = lines.Err()
	}()
	return c
}

// ended reports whether the input is over, and all of it was right. It is called when no trial runs.
func (c *conversation) ended() bool {
	select {
	case _, more := <-c.answers:
		return !more && c.err == nil
	default:
		return false
	}
}

// giveUpLimit is how long the other side may take to give a trial up.
const giveUpLimit = 10 * time.Second

// play asks for a trial, and waits for the answer. It is the Play of package trials.
func (c *conversation) play(ctx context.Context, t trials.Task) (trials.Answer, error) {
	line := taskLine{Trial: t.ID, Kind: kindWord(t.Kind), Title: t.Title, URL: "redis://" + t.Addrs[0],
		LimitMS: t.Limit.Milliseconds()}
	var bad [3]error
	line.Ports, bad[0] = trialPorts(t.Addrs)
	line.Replicas, bad[1] = trialPorts(t.Replicas)
	line.Sentinels, bad[2] = trialPorts(t.Sentinels)
	if err := errors.Join(bad[:]...); err != nil {
		return trials.Answer{}, err
	}
	if err := c.out.Encode(line); err != nil {
		return trials.Answer{}, err
	}
	select {
	case a, more := <-c.answers:
		return c.answer(t, a, more)
	case <-ctx.Done():
	}
	if err := c.out.Encode(map[string]int{"overdue": t.ID}); err != nil {
		return trials.Answer{}, err
	}
	select {
	case a, more := <-c.answers:
		return c.answer(t, a, more)
	case <-time.After(giveUpLimit):
		return trials.Answer{}, fmt.Errorf("the test was not given up within %v", giveUpLimit)
	}
}

func trialPorts(addrs []string) (all []int, err error) {
	for _, addr := range addrs {
		port, err := strconv.Atoi(addr[strings.LastIndexByte(addr, ':')+1:])
		if err != nil {
			return nil, err
		}
		all = append(all, port)
	}
	return all, nil
}

// answer takes the answer to a trial.
func (c *conversation) answer(t trials.Task, a answerLine, more bool) (trials.Answer, error) {
	switch {
	case !more && c.err != nil:
		return trials.Answer{}, c.err
	case !more:
		return trials.Answer{}, io.ErrUnexpectedEOF
	case a.Trial != t.ID:
		return trials.Answer{}, fmt.Errorf("an answer to trial %d while trial %d runs", a.Trial, t.ID)
	case a.Failed == nil:
		return trials.Answer{Output: a.Output}, nil
	case a.Assertion:
		return trials.Answer{Unsafe: *a.Failed, Output: a.Output}, nil
	}
	return trials.Answer{Failed: *a.Failed, Output: a.Output}, nil
}

func kindWord(k explore.Kind) string {
	return map[explore.Kind]string{explore.Baseline: "baseline", explore.Single: "single", explore.Double: "double",
		explore.With: "with", explore.Without: "without", explore.Half: "half"}[k]
}

// conclude writes the last line.
func (c *conversation) conclude(f *exploreFlags, r *explore.Report, failed error) (err error) {
	if failed != nil {
		text := failed.Error()
		return c.out.Encode(resultLine{Exit: exploreWrong, Summary: text, Text: text})
	}
	line := resultLine{Exit: exploreCode(r)}
	if line.Summary, err = report.Summary(r, f.lang); err != nil {
		return err
	}
	var files []string
	if path := f.html; path != "" || line.Exit != exploreSafe {
		if path == "" {
			folder, err := os.MkdirTemp("", "miniredisd-explore-")
			if err != nil {
				return err
			}
			path = filepath.Join(folder, "report.html")
		}
		if err := report.WriteHTML(path, r, f.lang); err != nil {
			return err
		}
		line.HTML, files = &path, append(files, path)
	}
	var text, asJSON bytes.Buffer
	if err := report.Brief(&text, r, f.lang, files...); err != nil {
		return err
	}
	if err := report.JSON(&asJSON, r); err != nil {
		return err
	}
	line.Text, line.Report = text.String(), asJSON.Bytes()
	return c.out.Encode(line)
}
