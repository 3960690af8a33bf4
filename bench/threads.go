package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// usage is the CPU time that a server has used so far.
type usage struct {
	threads map[int]time.Duration // by thread id
	busy    time.Duration         // on executing, of a server without a thread for it
}

// executor describes where a server executes commands: on the thread with this id, or on any thread
// if the id is 0. Without such a thread, either the server itself counts the time (busy), or all
// its threads count together, because one goroutine does everything.
type executor struct {
	thread int
	busy   bool
}

func (e executor) String() string {
	switch {
	case e.thread > 0:
		return "one thread"
	case e.busy:
		return "any thread: sampled by the server"
	}
	return "any thread: all together count"
}

// findExecutor asks the server for its executing thread. Servers in C execute on their first
// thread.
func (s *server) findExecutor() (executor, error) {
	info, err := s.info()
	if err != nil {
		return executor{}, err
	}
	if _, ok := info["executor_busy_ns"]; ok {
		return executor{busy: true}, nil
	}
	if id, ok := info["executor_thread_id"]; ok {
		thread, err := strconv.Atoi(id)
		return executor{thread: thread}, err
	}
	if info["go"] != "" {
		return executor{}, nil
	}
	return executor{thread: s.cmd.Process.Pid}, nil
}

// info returns the fields of INFO by name.
func (s *server) info() (map[string]string, error) {
	c, err := dial(s.addr)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	v, err := c.Do("INFO", "everything")
	if err != nil {
		return nil, err
	}
	return fields(v.Str), nil
}

func fields(info string) map[string]string {
	found := map[string]string{}
	for line := range strings.Lines(info) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			found[name] = value
		}
	}
	return found
}

func (s *server) usage(e executor) (usage, error) {
	u := usage{threads: map[int]time.Duration{}}
	if e.busy {
		info, err := s.info()
		if err != nil {
			return u, err
		}
		ns, err := strconv.ParseInt(info["executor_busy_ns"], 10, 64)
		if err != nil {
			return u, fmt.Errorf("executor_busy_ns of %s: %w", s.name, err)
		}
		u.busy = time.Duration(ns)
	}
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", s.cmd.Process.Pid))
	for _, t := range tasks {
		id, _ := strconv.Atoi(filepath.Base(t))
		u.threads[id] = threadCPU(t)
	}
	return u, err
}

// threadCPU returns the time that a thread has run: nanoseconds if the kernel counts them,
// otherwise ticks. It returns 0 for a thread that has ended.
func threadCPU(dir string) time.Duration {
	text, _ := os.ReadFile(dir + "/schedstat")
	if ran, _, ok := strings.Cut(string(text), " "); ok {
		ns, _ := strconv.ParseInt(ran, 10, 64)
		return time.Duration(ns)
	}
	text, _ = os.ReadFile(dir + "/stat")
	return ticks(string(text))
}

// ticks reads a stat file of /proc: user and system time, in ticks of 10 ms.
func ticks(stat string) time.Duration {
	f := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:]) // behind the name, which may hold anything
	if len(f) < 13 {
		return 0
	}
	user, _ := strconv.ParseInt(f[11], 10, 64)
	system, _ := strconv.ParseInt(f[12], 10, 64)
	return time.Duration(user+system) * 10 * time.Millisecond
}

// since returns the CPU time used between before and u: in total, and on the executing thread.
func (u usage) since(before usage, e executor) (total, executing time.Duration) {
	each := maps.Clone(u.threads)
	for id, used := range before.threads {
		each[id] -= used
	}
	for _, used := range each {
		total += max(used, 0) // a thread that has ended
	}
	switch {
	case e.busy:
		return total, u.busy - before.busy
	case e.thread > 0:
		return total, each[e.thread]
	}
	return total, total
}
