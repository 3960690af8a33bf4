package command

import (
	"math"

	"github.com/miniredisd/miniredisd/internal/acl"
	"github.com/miniredisd/miniredisd/internal/clock"
	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/internal/trace"
	"github.com/miniredisd/miniredisd/luaeval"
	"github.com/miniredisd/miniredisd/pubsub"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/store"
)

// Executor runs commands, one at a time, on the goroutine that owns it. It is Redis's main thread
// between reading and writing (server.c: processCommand, call).
type Executor struct {
	KS       *store.Keyspace
	Table    *Table
	Clock    *clock.Clock
	Cfg      *config.Config
	Users    *acl.Users
	Subs     *pubsub.Registry[*Session]
	Host     Host
	Observer Observer // nil without a lab
	Cluster  *Cluster // nil without a cluster
	ACLLog   acl.Log
	Now      clock.Moment // when the last command ended, which is when the next one starts; see Tick
	Stats    Stats

	OutputTrigger int           // bytes of output from which on Host.CloseIfOverLimit is asked
	Monitored     bool          // a client is in MONITOR: Host.FeedMonitors gets the commands
	Given         []byte        // the argument that the current command may keep; nil for none, or once it is kept
	Replaced      []byte        // the memory of the string that Given has replaced, or nil
	Trace         *trace.Thread // gets the time of each command, nil when there is no trace
	Show          Show          // for a Trace that gets events
	AllInScripts  bool          // DEBUG SET-DISABLE-DENY-SCRIPTS
	AnyChecksum   bool          // DEBUG SET-SKIP-CHECKSUM-VALIDATION

	// The parts of the executor. Each has a file of its own.
	Waiters     Waiters  // clients that wait for keys
	Tracking    Tracking // clients that cache keys
	Scripts     Scripts
	Eviction    Eviction
	Refusals    Refusals
	Latency     Latency
	logs        logs
	watchers    watchers
	permissions permissions
	events      events
	messages    messages
	Propagation Propagation

	// Depth counts the running commands that run other commands: EXEC and scripts. Inside them no
	// command may block, and the time stands still (server.h: execution_nesting).
	Depth int
	half  bool // see HasHalf

	// Cut says that a unit was cut. This executor runs no command any more: see unit.go.
	Cut bool

	// calls[Depth] is the Call of the running command. EVAL inside EXEC makes the greatest depth:
	// EXEC has calls[0], EVAL calls[1] and the script's commands calls[2].
	calls [3]Call

	running   *Session    // the client whose command runs, or nil
	executing bool        // the command was admitted: messages to its client follow the reply
	retrying  *Wait       // set while a blocked command runs again
	unblocked resp.Writer // for replies to blocked commands
	obeyed    resp.Writer // for replies that no master gets
	slow      int64       // ns from which on a command is noted as slow

	interrupted *interrupted // the slow script, while the server serves other clients, else nil

	// Buffers that are used again: for the IDs of XREAD, for the keys of a request, for the places
	// that GEOSEARCH finds, and for the reply of DUMP.
	streamIDs []store.StreamID
	keys      []FoundKey
	places    []found
	dumped    []byte
}

// New makes an executor of commands over an empty keyspace.
func New(cfg *config.Config, ks *store.Keyspace, clock *clock.Clock, host Host, commands *Commands) *Executor {
	ex := &Executor{
		KS: ks, Table: newTable(commands), Clock: clock, Cfg: cfg, Host: host, Stats: Stats{Errors: map[string]int64{}},
		OutputTrigger: math.MaxInt,
		Subs:          pubsub.New[*Session](store.MatchPattern),
		Latency:       Latency{cfg: cfg, ks: ks},
		watchers:      newWatchers(len(ks.DBs)),
	}
	ex.Users = acl.New(ex.Table.acl)
	ex.Users.SetDefaultPassword(cfg.RequirePass)
	ex.Waiters = Waiters{ex: ex, dbs: make([]map[string]*queue, len(ks.DBs))}
	ex.Tracking = newTracking(ex)
	ex.Scripts = Scripts{ex: ex, functions: luaeval.NewLibraries()}
	ex.Eviction.ex, ex.Refusals.ex, ex.permissions.ex, ex.messages.ex, ex.Propagation.ex = ex, ex, ex, ex, ex
	ex.Show.ex, ex.logs.ex = ex, ex
	ex.events.start(ex)
	ks.FieldsInPacks = commands.Dialect.Has(packedFields)
	for i := range ex.calls {
		ex.calls[i] = Call{KS: ks, Ex: ex, Cfg: cfg}
	}
	ex.Configure()
	ex.Tick()
	return ex
}

// Tick reads the clocks and moves Now (server.c: updateCachedTime). The server calls it when a pass begins,
// and when it has read its input. Between two calls, Now moves from the end of one command to the end of the
// next, so a command costs one reading of the clock. Tick returns the monotonic time.
func (ex *Executor) Tick() int64 {
	ex.setNow(ex.Clock.At(ex.Clock.Sync()))
	return ex.Now.Mono
}

// setNow moves the time and tells the store.
func (ex *Executor) setNow(m clock.Moment) {
	ex.Now = m
	ex.KS.Now = m.Wall / 1e6
}

// Do runs one request of s and appends its reply to w (server.c: processCommand). A command that blocks, or
// that CLIENT PAUSE holds back, has no reply yet: s.Hold tells which. The session says in which protocol to
// reply.
func (ex *Executor) Do(s *Session, args [][]byte, w *resp.Writer) {
	s.Commands++
	w.Proto = s.Proto
	ex.running = s
	cmd, err := ex.admit(s, args)
	if len(ex.Tracking.clients) > 0 {
		ex.Tracking.Limit()
	}
	if err == errPostponed {
		s.Commands--
		s.Hold, ex.running = Postponed, nil
		ex.Show.postponed(s, args)
		return
	}
	mark, ran := len(w.Buf), false // messages about evicted keys come before
	ex.executing = true
	switch {
	case err != nil:
		ex.Show.request(trace.Refused, s, cmd, args)
		ex.fail(w, mark, ex.refuse(s, cmd, args, err))
		ex.traceShort("refused", s)
	case s.WouldQueue(cmd):
		ex.Show.request(trace.ToQueue, s, cmd, args)
		s.Tx.add(cmd, args, ex.flagsOf(s, cmd, args))
		w.Status("QUEUED")
		ex.traceShort("queued", s)
	default:
		ex.setNow(ex.Clock.At(ex.run(cmd, s, args, w, mark, ex.Now.Mono)))
		ran = true
	}
	if !ex.isPlain(s) {
		r := &reply{to: s, cmd: cmd, args: args, w: w, mark: mark, ran: ran}
		ex.finish(r)
		ex.sendPending(r)
	}
	ex.running, ex.executing = nil, false
	if len(ex.Waiters.toServe) > 0 {
		ex.Waiters.ServeReady()
	}
}

// run executes cmd and accounts for it (server.c: call). start and end are monotonic times. Inside
// EXEC and scripts ex.Now.Mono stands still meanwhile.
func (ex *Executor) run(cmd *Command, s *Session, args [][]byte, w *resp.Writer, mark int, start int64) (end int64) {
	c := &ex.calls[ex.Depth]
	c.Writer, c.Args, c.DB, c.Sess, c.Cmd, c.Now = w, args, ex.KS.DBs[s.DB], s, cmd, ex.KS.Now
	ex.KS.NoTouch = s.NoTouch
	run := &ex.Scripts.run
	within := ex.Depth > 0 && (run.on || !run.busy) // an interrupted script does not run cmd
	shown := ex.Trace.Detailed()
	if shown {
		ex.Show.call(c, within)
	}
	if cmd.ahead == severalKeys && len(args) > 1+fewKeys {
		c.prefetchMany()
	}
	propagates, dirty := c.Propagates(), ex.KS.Stats.Dirty
	if propagates {
		ex.Propagation.begin(c)
	}
	if err := cmd.Do(c); err != nil {
		ex.Table.Calls(cmd).Failed++
		ex.fail(w, mark, err)
	}
	if propagates {
		ex.Propagation.ran(c, dirty)
	}
	if len(ex.Tracking.clients) > 0 && cmd.Flags&ReadOnly != 0 {
		ex.Tracking.remember(cmd, args)
	}
	ex.KS.Settle()
	end = ex.Clock.Mono()
	if shown && within {
		ex.Show.result(c, w.Buf[mark:])
	}
	ex.Trace.Execute(cmd.Name, max(start, ex.Now.Mono), end, s.ID, s.Commands) // start of a retry is earlier
	if ex.Trace.Traces() {
		ex.traceKey(cmd, args)
	}
	if s.Hold == Blocked {
		s.Wait.took += end - start
	} else {
		ex.account(cmd, s, args, end-start, w, mark)
	}
	if ex.Monitored && cmd.Flags&(SkipMonitor|Admin) == 0 && ex.retrying == nil {
		ex.Host.FeedMonitors(s, redact(cmd, args))
	}
	return end
}

// traceKey adds the first key of a command to its span.
func (ex *Executor) traceKey(cmd *Command, args [][]byte) {
	var room [fewKeys]FoundKey
	if keys := cmd.AppendKeys(room[:0], args); len(keys) > 0 {
		ex.Trace.Key(args[keys[0].Index])
	}
}

// traceShort records a request that did not run. Its time is measured only for a trace.
func (ex *Executor) traceShort(what string, s *Session) {
	if ex.Trace.Traces() {
		begin := ex.Now.Mono
		ex.Trace.Execute(what, begin, ex.Tick(), s.ID, s.Commands)
	}
}

// Leave forgets the subscriptions, watched keys, queue and waits of s, as RESET does.
func (ex *Executor) Leave(s *Session) {
	if s.Subscriber {
		s.Subscriber = false
		ex.Subs.Forget(s)
	}
	ex.EndTransaction(s)
	ex.Tracking.stop(s)
	ex.Waiters.Remove(s)
}

// Gone forgets s, whose client has disconnected.
func (ex *Executor) Gone(s *Session) {
	ex.Leave(s)
	if ex.Observer != nil {
		ex.Observer.Left(s)
	}
}

// Abandon cleans up after a command that has panicked. It returns the command's client.
func (ex *Executor) Abandon() *Session {
	s := ex.running
	if ex.retrying != nil { // the server does not know that the wait is over
		s.Hold, ex.retrying = Blocked, nil
	}
	ex.running, ex.executing, ex.messages.behind, ex.Tracking.pending = nil, false, nil, nil
	if run := &ex.Scripts.run; run.on || !run.busy { // otherwise a slow script continues
		ex.Depth, *run, ex.interrupted = 0, scriptRun{}, nil
		ex.Propagation.abandon()
	}
	return s
}
