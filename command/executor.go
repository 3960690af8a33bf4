package command

import (
	"math"
	"strings"

	"github.com/miniredisd/miniredisd/internal/acl"
	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/internal/trace"
	"github.com/miniredisd/miniredisd/luaeval"
	"github.com/miniredisd/miniredisd/pubsub"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/store"
)

// Executor runs commands, one at a time, on the goroutine that owns it. It is
// Redis's main thread between reading and writing (server.c: processCommand, call).
type Executor struct {
	KS    *store.Keyspace
	Table *Table
	Clock *Clock
	Cfg   *config.Config
	Users *acl.Users // who may do what

	Subs   *pubsub.Registry[*Session] // who listens to which channel
	ACLLog acl.Log                    // what users were refused
	Stats  Stats
	Errors map[string]int64 // replies that were errors, by their first word

	Host          Host
	OutputTrigger int           // bytes of output from which on Host.CloseIfOverLimit is asked
	Monitored     bool          // a client is in MONITOR: Host.FeedMonitors gets the commands
	Observed      bool          // there is a lab: the Host's Observer gets the replies
	Trace         *trace.Thread // gets the time of each command, nil when there is no trace

	Pause Pause // CLIENT PAUSE holds clients back; only the server sets it

	// What DEBUG lifts: the list of commands that are not for scripts, and the look at a payload's checksum.
	AllInScripts bool
	AnyChecksum  bool

	// Depth counts the commands that execute others now, EXEC and scripts. Inside them no
	// command may hold its client, and the time stands still (server.h: execution_nesting).
	Depth int

	// The command under way.
	call       Call        // of the one that runs; one at a time, so one is enough
	mono       int64       // monotonic ns, when the last one ended, which is when the next starts
	running    *Session    // whose turn it is
	executing  bool        // its command has been let in: messages to it come behind the reply
	afterReply []byte      // these messages
	oom        bool        // memory was used up when it was admitted
	retrying   *Wait       // if it was blocked and runs again
	late       resp.Writer // the reply of one that was blocked

	interrupted *interrupted // the script under way while the server serves other clients, else nil

	// Whom a change of a key may concern. observers counts them all, so that a change costs
	// a look at it while there is nobody: watched keys, clients that track, keys they have read.
	observers int
	watchers  watchers
	trackers  trackers
	waiters   waiters // not in observers: the keyspace reports for them, see configureReports

	notify     Class                   // keyspace events that are wanted: kinds of channels and classes, both or none
	reportNew  func(*store.DB, []byte) // keyAdded, keyMissed and streamGone as the keyspace
	reportMiss func(*store.DB, []byte) // takes them: made once
	reportGone func(*store.DB, []byte)

	engine    *luaeval.Engine // of EVAL, nil before the first script
	script    scripting
	functions *luaeval.Libraries

	Latency Latency
	slowlog Slowlog
	slow    int64 // ns from which on a command is noted in one of them

	// Room that is used again: to encode a message in, for the name of an event's channel, for
	// the IDs of an XREAD, for what a request asks of permissions, and for its keys.
	message   []byte
	channel   []byte
	streamIDs []store.StreamID
	request   acl.Request
	keys      []FoundKey
}

// Stats are the executor's counters for INFO.
type Stats struct {
	Commands     int64
	ErrorReplies int64
	Denied       [acl.Denials]int64

	exceeded, exceededSince int64 // ns, and the monotonic time of the beginning: see EvictionExceeded
}

// New makes an executor over an empty keyspace. The server adds the rows of the
// commands that need to see connections.
func New(cfg *config.Config, ks *store.Keyspace, clock *Clock, host Host, extra ...[]Row) *Executor {
	ex := &Executor{
		KS: ks, Table: NewTable(extra...), Clock: clock, Cfg: cfg, Host: host, Errors: map[string]int64{},
		OutputTrigger: math.MaxInt,
		functions:     luaeval.NewLibraries(),
		Subs:          pubsub.New[*Session](store.MatchPattern),
	}
	ex.trackers.readers = store.NewTable[[]int64](ks.Seed)
	ks.OnExpired, ks.OnEvicted = ex.keyExpired, ex.keyEvicted
	ex.Users = acl.New(ex.Table.acl)
	ex.Users.SetDefaultPassword(cfg.RequirePass)
	ex.reportNew, ex.reportMiss, ex.reportGone = ex.keyAdded, ex.keyMissed, ex.streamGone
	ex.call = Call{KS: ks, Ex: ex, Cfg: cfg}
	ex.Configure()
	ex.BeginPass()
	return ex
}

// BeginPass reads the clocks for a new pass of the loop. Inside the pass each
// command starts when the one before it ended: one reading of the clock a command.
// The time is returned, in monotonic nanoseconds.
func (ex *Executor) BeginPass() int64 {
	ex.mono = ex.Clock.Sync()
	ex.KS.Now = ex.Clock.Wall(ex.mono)
	return ex.mono
}

// BeginExecution is called when a pass has read its input: the first command does
// not take the time that reading took.
func (ex *Executor) BeginExecution() int64 {
	ex.mono = ex.Clock.Mono()
	return ex.mono
}

// LastEnd is the monotonic time in nanoseconds at which the last command ended.
func (ex *Executor) LastEnd() int64 { return ex.mono }

// WallMicros is the unix time in microseconds at which the last command ended.
func (ex *Executor) WallMicros() int64 { return ex.Clock.WallMicros(ex.mono) }

// Do executes one request of s and appends its reply to w. A command that blocks, or that
// CLIENT PAUSE holds back, has none yet: s.Hold tells.
func (ex *Executor) Do(s *Session, args [][]byte, w *resp.Writer) {
	s.Commands++
	ex.running = s
	ex.KS.Now = ex.Clock.Wall(ex.mono)
	cmd, err := ex.admit(s, args)
	if len(ex.trackers.clients) > 0 {
		ex.LimitTracked()
	}
	mark := len(w.Buf) // behind messages of keys that had to make room
	ex.executing = true
	ran := false
	switch {
	case err == errPostponed:
		s.Commands--
		s.Hold = Postponed
		ex.running, ex.executing = nil, false
		return
	case err != nil:
		if cmd != nil {
			cmd.Calls.Rejected++
		}
		ex.fail(w, mark, ex.refuse(s, cmd, args, err))
		ex.traceShort("refused", s)
	case s.WouldQueue(cmd):
		s.Tx.add(cmd, args, ex.flagsOf(s, cmd, args))
		w.Status("QUEUED")
		ex.traceShort("queued", s)
	default:
		ex.mono = ex.run(cmd, s, args, w, mark, ex.mono)
		ran = true
	}
	if s.Hold == NotHeld {
		if ex.Observed {
			ex.Host.Answered(s, cmd, args, w, mark, ran)
		}
		s.answered(cmd, w, mark)
	}
	ex.running, ex.executing = nil, false
	if s.Tracker != nil {
		ex.tellPending(s)
	}
	if len(ex.afterReply) > 0 {
		w.Buf = append(w.Buf, ex.afterReply...)
		ex.forgetSent()
	}
	if len(ex.waiters.ready) > 0 {
		ex.ServeReady()
	}
}

// answered is called when s has the reply to cmd in w behind mark, at once or late.
func (s *Session) answered(cmd *Command, w *resp.Writer, mark int) {
	if s.Replies != ReplyOn {
		suppress(s, w, mark, cmd)
	}
	if s.Tracker != nil {
		s.endAnnounced(cmd)
	}
}

// run executes cmd, which starts at the monotonic time start, and accounts for it
// (server.c: call). It returns when the command has ended. Inside EXEC the
// executor's own times stand still meanwhile.
func (ex *Executor) run(cmd *Command, s *Session, args [][]byte, w *resp.Writer, mark int, start int64) (end int64) {
	c := &ex.call
	c.Writer, c.Args, c.DB, c.Sess, c.Cmd, c.Now = w, args, ex.KS.DBs[s.DB], s, cmd, ex.KS.Now
	ex.KS.NoTouch = s.NoTouch
	if err := cmd.Do(c); err != nil {
		cmd.Calls.Failed++
		ex.fail(w, mark, err)
	}
	if ex.observers > 0 && cmd.Flags&ReadOnly != 0 {
		ex.remember(cmd, args)
	}
	ex.KS.Settle()
	end = ex.Clock.Mono()
	ex.Trace.Execute(cmd.Name, max(start, ex.mono), end, s.ID, s.Commands) // a retry counts its first try into start
	if s.Hold == Blocked {                                                 // it has not ended
		s.Wait.took += end - start
	} else {
		ex.account(cmd, s, args, end-start)
	}
	if ex.Monitored && cmd.Flags&(SkipMonitor|Admin) == 0 && ex.retrying == nil {
		ex.Host.FeedMonitors(s, redact(cmd, args))
	}
	return end
}

// traceShort records a request that was not run. The clock is not asked for those otherwise.
func (ex *Executor) traceShort(what string, s *Session) {
	if ex.Trace != nil {
		begin := ex.mono
		ex.Trace.Execute(what, begin, ex.BeginExecution(), s.ID, s.Commands)
	}
}

// account counts a command that has ended.
func (ex *Executor) account(cmd *Command, s *Session, args [][]byte, took int64) {
	ex.Stats.Commands++
	cmd.Calls.Count++
	cmd.Calls.Nanos += took
	if ex.Cfg.LatencyTracking {
		cmd.Calls.observe(took)
	}
	if took >= ex.slow {
		ex.noteSlow(cmd, s, args, took)
	}
}

// fail takes back what the command has appended and writes the error instead.
func (ex *Executor) fail(w *resp.Writer, mark int, err error) {
	w.Buf = w.Buf[:mark]
	text := err.Error()
	w.Error(text)
	ex.countError(text)
}

// maxErrors bounds the kinds of errors that are told apart: with scripts, clients
// choose the words.
const maxErrors = 128

// countError counts an error reply under its first word, the error code
// (networking.c: afterErrorReply).
func (ex *Executor) countError(text string) {
	ex.Stats.ErrorReplies++
	code := "ERR"
	if i := strings.IndexByte(text[:min(len(text), 32)], ' '); i > 0 {
		code = text[:i]
	}
	if _, known := ex.Errors[code]; known || len(ex.Errors) < maxErrors {
		ex.Errors[code]++
	}
}

// suppress takes back the reply of a client that wants none (CLIENT REPLY).
func suppress(s *Session, w *resp.Writer, mark int, cmd *Command) {
	if cmd == nil || cmd.Flags&AnswersByPush == 0 {
		w.Buf = w.Buf[:mark]
	}
	switch s.Replies {
	case ReplySkipNext:
		s.Replies = ReplySkip
	case ReplySkip:
		s.Replies = ReplyOn
	}
}

// Leave forgets what s has subscribed to, watches, has queued and waits for: it has gone, or starts anew.
func (ex *Executor) Leave(s *Session) {
	if s.Subscriber {
		s.Subscriber = false
		ex.Subs.Forget(s)
	}
	ex.endTransaction(s)
	ex.untrack(s)
	ex.StopWaiting(s)
}

// Abandon cleans up after a command that has panicked, and returns whose it was.
func (ex *Executor) Abandon() *Session {
	s := ex.running
	if ex.retrying != nil { // not resumed: the server has to know that it still waits
		s.Hold, ex.retrying = Blocked, nil
	}
	ex.running, ex.executing, ex.afterReply, ex.trackers.pending = nil, false, nil, nil
	if ex.script.on || !ex.script.busy { // else it is a script that goes on, in whose time others are served
		ex.Depth, ex.script, ex.interrupted = 0, scripting{}, nil
	}
	return s
}
