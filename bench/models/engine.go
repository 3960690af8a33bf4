//go:build linux

package main

import (
	"fmt"
	"runtime"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/clock"
	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/internal/version"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/store"
)

// engine is the keyspace and its executor. Only one goroutine at a time may call it, and the model
// says which.
type engine struct {
	ks *store.Keyspace
	ex *command.Executor
	w  resp.Writer

	lastID int64

	// What INFO tells bench: the thread that executes, or, if there is no such thread, the CPU time
	// of execution.
	thread int
	busy   func() int64
}

func newEngine() *engine {
	cfg := config.Default()
	ks := store.NewKeyspace(store.Options{Databases: cfg.Databases, Seed: 1})
	e := &engine{ks: ks}
	e.ex = command.New(cfg, ks, clock.New(), host{}, command.NewCommands([]command.Row{{
		Name: "info", Syntax: "[section ...]", Arity: -1, Flags: command.Loading | command.Stale,
		Group: "server", Since: "1.0.0", Complexity: "O(1)", Summary: "Says what the bench has to know.", Do: e.info,
	}}))
	return e
}

func (e *engine) info(c *command.Call) error {
	var r []byte
	add := func(name string, v any) { r = fmt.Appendf(r, "%s:%v\r\n", name, v) }
	add("redis_version", config.RedisVersion)
	add("miniredisd_version", version.Version)
	add("go", runtime.Version())
	if e.busy != nil {
		add("executor_busy_ns", e.busy())
	} else {
		add("executor_thread_id", e.thread)
	}
	c.Verbatim("txt", string(r))
	return nil
}

func (e *engine) session() *command.Session {
	e.lastID++
	s := &command.Session{ID: e.lastID, Proto: 2, Local: true}
	e.ex.Anonymous(s)
	return s
}

// execute runs one request and appends its reply to out. The caller then asks gone.
func (e *engine) execute(s *command.Session, args [][]byte, out []byte) []byte {
	e.w.Buf, e.w.Proto = out, s.Proto
	e.ex.Do(s, args, &e.w)
	out, e.w.Buf = e.w.Buf, nil
	return out
}

// executeAll runs all that a client has sent. It reports whether somebody has to write the replies.
func (e *engine) executeAll(c *client) bool {
	if c.session == nil {
		c.session = e.session()
	}
	if c.closed {
		e.ex.Leave(c.session)
		return false
	}
	for args := c.Next(); args != nil && !c.done; args = c.Next() {
		c.Out.Buf = e.execute(c.session, args, c.Out.Buf)
		c.done = gone(c.session)
	}
	return true
}

// gone reports whether a client must be closed: it asked for that, or it waits for something that
// only a whole server can do.
func gone(s *command.Session) bool {
	return s.CloseAfterReply || s.Hold != command.NotHeld || s.Subscriber
}
