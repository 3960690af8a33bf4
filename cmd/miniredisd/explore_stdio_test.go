package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/respclient"
	"github.com/miniredisd/miniredisd/internal/test/amount"
)

// fixture is the other side of explore --stdio.
type fixture struct {
	t     *testing.T
	lines *bufio.Scanner
	in    io.WriteCloser
	code  chan int
	errs  bytes.Buffer
}

// explored starts explore --stdio in a goroutine. It plays one kind of failure, or all with CI=true.
func explored(t *testing.T, args ...string) *fixture {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	if !amount.Whole() {
		args = append([]string{"--fault", "reply-lost"}, args...)
	}
	in, answers := io.Pipe()
	tasks, out := io.Pipe()
	f := &fixture{t: t, lines: bufio.NewScanner(tasks), in: answers, code: make(chan int, 1)}
	f.lines.Buffer(nil, 64<<20)
	go func() {
		f.code <- exploreTest(args, in, out, &f.errs)
		_ = out.Close() // a pipe has no error
	}()
	t.Cleanup(func() { _ = answers.Close() })
	return f
}

// line reads the next line.
func (f *fixture) line() (kind string, text []byte) {
	f.t.Helper()
	require.True(f.t, f.lines.Scan(), "there is no line")
	var fields map[string]json.RawMessage
	require.NoError(f.t, json.Unmarshal(f.lines.Bytes(), &fields))
	for _, kind := range []string{"trial", "overdue", "exit"} {
		if fields[kind] != nil {
			return kind, f.lines.Bytes()
		}
	}
	require.Fail(f.t, "unknown", f.lines.Text())
	return "", nil
}

func (f *fixture) answer(line string) {
	f.t.Helper()
	_, err := io.WriteString(f.in, line+"\n")
	require.NoError(f.t, err)
}

// run answers all trials, and returns the result.
func (f *fixture) run(test func(taskLine) (failed string, assertion bool)) (r resultLine) {
	f.t.Helper()
	for {
		kind, text := f.line()
		if kind == "overdue" {
			continue // the answer was under way
		}
		if kind == "exit" {
			require.NoError(f.t, json.Unmarshal(text, &r))
			require.False(f.t, f.lines.Scan(), "the result is the last line")
			return r
		}
		var task taskLine
		require.NoError(f.t, json.Unmarshal(text, &task))
		a := answerLine{Trial: task.Trial, Output: "what it printed"}
		if failed, assertion := test(task); failed != "" {
			a.Failed, a.Assertion = &failed, assertion
		}
		said, err := json.Marshal(a)
		require.NoError(f.t, err)
		f.answer(string(said))
	}
}

// sends returns a test that sends requests, and whose error is a failure.
func sends(requests ...string) func(taskLine) (string, bool) {
	return func(task taskLine) (string, bool) {
		c, err := respclient.Dial(fmt.Sprintf("127.0.0.1:%d", task.Ports[0]))
		if err != nil {
			return err.Error(), false
		}
		defer c.Close()
		if err := c.Net.SetDeadline(time.Now().Add(200 * time.Millisecond)); err != nil {
			return err.Error(), false
		}
		for _, request := range append([]string{"CLIENT SETNAME worker"}, requests...) {
			if _, err := c.Do(strings.Fields(request)...); err != nil {
				return err.Error(), false
			}
		}
		return "", false
	}
}

func TestExploreOfATestSaysWhatBreaksTheLock(t *testing.T) {
	f := explored(t, "--patience", "100ms", "the test of a lock")
	r := f.run(sends("SETNX lock:order token", "PEXPIRE lock:order 30000", "DEL lock:order"))
	require.Equal(t, exploreSafe, <-f.code)
	require.Equal(t, exploreBroken, r.Exit)
	sentence, _, _ := strings.Cut(r.Text, "\n")
	require.Equal(t, "If the reply to worker's first SETNX is lost, nobody can ever take lock:order again.", sentence)
	require.Contains(t, r.Text, "LAB FAULT ADD explore-1 KEY lock:order CLIENT worker ORDER 1 NTH 1 ACTION DROP-REPLY")
	require.Contains(t, r.Text, *r.HTML)
	require.FileExists(t, *r.HTML)
	require.Contains(t, r.Summary, "break")
	require.True(t, json.Valid(r.Report))
}

func TestExploreOfATestWithoutAFindingWritesNoFile(t *testing.T) {
	f := explored(t, "--patience", "100ms", "the test of a lock")
	release := "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) else return 0 end"
	r := f.run(func(task taskLine) (string, bool) {
		c, err := respclient.Dial(fmt.Sprintf("127.0.0.1:%d", task.Ports[0]))
		if err != nil {
			return err.Error(), false
		}
		defer c.Close()
		if err := c.Net.SetDeadline(time.Now().Add(200 * time.Millisecond)); err != nil {
			return err.Error(), false
		}
		if _, err := c.Do("SET", "lock:order", "token", "NX", "PX", "30000"); err != nil {
			return err.Error(), false
		}
		if _, err := c.Do("EVAL", release, "1", "lock:order", "token"); err != nil {
			return err.Error(), false
		}
		return "", false
	})
	require.Equal(t, exploreSafe, <-f.code)
	require.Equal(t, exploreSafe, r.Exit, r.Text)
	require.Nil(t, r.HTML)
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestAFailedAssertionBreaksAndAnErrorDoesNot(t *testing.T) {
	test := sends("SET lock:order token NX PX 30000", "DEL lock:order")
	for assertion, exit := range map[bool]int{true: exploreBroken, false: exploreSafe} {
		f := explored(t, "--patience", "100ms", "the test of a lock")
		r := f.run(func(task taskLine) (string, bool) {
			failed, _ := test(task)
			return failed, assertion
		})
		<-f.code
		require.Equal(t, exit, r.Exit, r.Text)
	}
}

func TestATaskHasServersAndAnAnswerNamesItsTrial(t *testing.T) {
	f := explored(t, "--patience", "1ms", "--budget", "1ms", "the test of a lock")
	_, text := f.line()
	var first taskLine
	require.NoError(t, json.Unmarshal(text, &first))
	require.Equal(t, "baseline", first.Kind)
	require.Equal(t, fmt.Sprintf("redis://127.0.0.1:%d", first.Ports[0]), first.URL)
	require.Positive(t, first.LimitMS)

	f.answer(`{"trial":99,"failed":null}`)
	kind, text := f.line()
	require.Equal(t, "exit", kind)
	require.Contains(t, string(text), "an answer to trial 99 while trial 1 runs")
}

func TestATestThatHangsIsGivenUpAndTheNextTrialComes(t *testing.T) {
	f := explored(t, "--patience", "1ms", "the test of a lock")
	test := sends("SET lock:order token NX PX 30000", "DEL lock:order")
	given := 0
	r := f.run(func(task taskLine) (string, bool) {
		if task.Kind != "single" || given > 0 {
			return test(task)
		}
		kind, text := f.line() // this test does not end
		require.Equal(t, "overdue", kind)
		require.JSONEq(t, fmt.Sprintf(`{"overdue":%d}`, task.Trial), string(text))
		given++
		return "the test did not end in time", false
	})
	<-f.code
	require.Equal(t, 1, given)
	require.NotEqual(t, exploreWrong, r.Exit)
}

func TestExploreOfATestEndsWithItsInput(t *testing.T) {
	f := explored(t, "the test of a lock")
	f.line()
	require.NoError(t, f.in.Close())
	require.Equal(t, exploreWrong, <-f.code)
	require.False(t, f.lines.Scan(), "nobody listens")
}

func TestExploreOfATestRefusesWrongWordsAndLines(t *testing.T) {
	for _, args := range [][]string{{}, {"a", "b"}, {"--jobs", "2", "a"}, {"--json", "a"}, {"--port", "7000", "a"}} {
		var out, errs bytes.Buffer
		require.Equal(t, exploreWrong, exploreTest(args, strings.NewReader(""), &out, &errs))
		require.Contains(t, errs.String(), "--stdio")
		require.Empty(t, out.String())
	}
	f := explored(t, "the test of a lock")
	f.line()
	f.answer("not JSON")
	kind, text := f.line()
	require.Equal(t, "exit", kind)
	require.Contains(t, string(text), "not an answer")
}
