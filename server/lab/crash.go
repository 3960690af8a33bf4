package lab

import (
	"slices"
	"time"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/internal/clock"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/server"
	"github.com/miniredisd/miniredisd/server/persist"
	"github.com/miniredisd/miniredisd/server/repl"
	"github.com/miniredisd/miniredisd/store"
)

// crash is a LAB CRASH. It happens once the commands of its pass are executed.
type crash struct {
	by   []*server.Client // get a reply
	down time.Duration
	lose loss
}

// loss is what LAB CRASH loses, the least first.
type loss int

const (
	loseNothing  loss = iota // the keyspace and the functions stay
	loseUnsynced             // with lab-disk: what was not fsynced
	loseAll
)

func crashRows() []command.Row {
	return []command.Row{
		Row("crash", "[DOWN milliseconds] [LOSE (UNSYNCED | ALL | NOTHING)]",
			-2, 0,
			"O(N) where N is the number of keys and connections",
			"Restarts the server as if its process had been killed.", (*State).crashCommand),
	}
}

// crashCommand replies. The connection that it came over closes after that.
func (l *State) crashCommand(c *command.Call) error {
	end := crash{lose: loseAll}
	if l.disk != nil {
		end.lose = loseUnsynced
	}
	seen := map[string]bool{}
	for args := c.Args[2:]; len(args) > 0; args = args[2:] {
		word := labVerb(args[0])
		switch {
		case word != "DOWN" && word != "LOSE":
			return labError("crash", "expects DOWN or LOSE, not '%s'", args[0])
		case seen[word]:
			return labError("crash", "%s is given twice", word)
		case len(args) == 1:
			return labError("crash", "%s expects an argument", word)
		}
		seen[word] = true
		if err := end.option(word, args[1], clock.LabEnd-c.Now, l.disk != nil); err != nil {
			return err
		}
	}
	if end.down > 0 && l.Clock.Frozen && l.locksOut() {
		return labError("crash",
			"refused: DOWN would never end: the clock is frozen, and no client could connect to move it")
	}
	if (l.blackhole || l.deaf) && l.locksOut() {
		return labError("crash",
			"refused: no connection could reach the lab afterwards (LISTEN is OFF or BLACKHOLE is ON)")
	}
	if first := l.crashing; first != nil { // the second crash of this pass
		end.by, end.lose = first.by, max(end.lose, first.lose)
	}
	if by := l.caller(); by != nil {
		end.by = append(end.by, by)
	}
	if l.crashing == nil {
		l.Deferred = append(l.Deferred, l.crash)
	}
	l.crashing = &end
	l.closeCaller()
	c.OK()
	return nil
}

// locksOut reports whether, without its connections, nothing could reach the lab as far as it knows:
// no other master stays up, and LAB CRASH came over a connection.
func (l *State) locksOut() bool {
	switch {
	case l.Cfg.LabHTTP != "" || l.Cfg.Watch != "":
		return false
	case len(l.All) == 1:
		return l.caller() != nil
	}
	return NoteOf(l.Running.Internal).toAll
}

func (end *crash) option(word string, arg []byte, longest int64, onDisk bool) error {
	if word == "DOWN" {
		ms, ok := ascii.ParseInt(arg)
		if !ok || ms < 0 || ms > longest {
			return labError("crash", "DOWN expects a number of milliseconds from 0 to %d, not '%s'", longest, arg)
		}
		end.down = time.Duration(ms) * time.Millisecond
		return nil
	}
	switch lose := labVerb(arg); {
	case lose == "ALL":
		end.lose = loseAll
	case lose == "NOTHING":
		end.lose = loseNothing
	case lose == "UNSYNCED" && onDisk:
		end.lose = loseUnsynced
	case onDisk:
		return labError("crash", "LOSE expects UNSYNCED, ALL or NOTHING, not '%s'", arg)
	default:
		return labError("crash", "LOSE expects ALL or NOTHING, not '%s'", arg)
	}
	return nil
}

// crash makes the server what it is after its process was killed and started again. Only the lab
// stays as it is. Every client loses the replies of this pass, except the callers of LAB CRASH: they
// get theirs once the server has started again, or once it is down. LOSE NOTHING keeps what Redis has on
// disk. That is neither scripts nor what CONFIG SET and ACL SETUSER have changed.
//
// Without DOWN the server never stops listening. A client that connects again after its reset always succeeds.
func (l *State) crash() {
	switch {
	case l.crashing == nil: // a script was cut, so it has come before its turn
		return
	case len(l.Deferred) > 0 && !l.Ex.Cut: // it comes last
		l.Deferred = append(l.Deferred, l.crash)
		return
	}
	l.Ex.Tracking.Broadcast()
	if !l.Persist.Flush() { // a caller gets the replies of this pass
		return
	}
	end := l.crashing
	l.crashing = nil
	l.Handshakes.Drop()
	for _, c := range l.Clients.Order {
		if slices.Contains(end.by, c) {
			l.Ex.Leave(&c.Sess)
		} else if !c.Closed {
			l.resetConn(c)
		}
	}
	for _, c := range end.by { // a script may have kept it waiting
		c.Protected = false
		l.WantWrite(c)
	}
	l.Pausing.EndAll()
	clear(l.Resumed)
	l.Resumed = l.Resumed[:0]
	l.startAgain(end.lose)
	if end.down > 0 || l.Cfg.TLSPort != 0 && !l.Handshakes.Configure(false) {
		l.Listeners.Refuse()
	}
	l.Listeners.ResetWaiting()
	if l.down != nil { // a new DOWN replaces the old one
		l.Timers.Cancel(l.down)
		l.down = nil
	}
	l.logEvent(lab.EventCrash, [...]string{lab.KeysKept, lab.KeysOnDisk, ""}[end.lose])
	if end.down > 0 {
		l.down = l.After(end.down, l.comeUp)
		l.Tell.Down()
	} else {
		l.comeUp()
	}
	if l.Fatal != nil {
		return
	}
	l.Log('*', "LAB CRASH: all connections are reset, and the server has started again")
	l.WriteClients()
	for _, c := range end.by {
		if !c.Closed && Of(c).relay == nil { // the reply of a relay comes later
			l.CloseClient(c)
		}
	}
	l.FreeClosed()
}

// keepsKeys reports whether the keys in memory outlive a crash. An append only file has what has arrived in it, so they
// are loaded from there.
func (l *State) keepsKeys(lose loss) bool {
	return lose == loseNothing && !(l.disk != nil && l.Cfg.AppendOnly)
}

// startAgain makes the state that New makes, except for listeners and clients.
func (l *State) startAgain(lose loss) {
	l.Follow.Stop()
	l.Role.Failover = repl.Failover{S: l.Role}
	if l.Persist.Stopping.On {
		l.Persist.Stopping.Cancel()
	}
	if l.Persist.Loads() {
		l.Persist.EndLoading()
		l.NotifyLoaded()
	}
	l.Persist.AbortBackground()
	l.Replicas.StartAgain()
	l.Persist.Background = persist.Background{Took: -1}
	var code command.Code
	l.doctor.Restreams()
	switch {
	case l.disk != nil && !l.keepsKeys(lose):
		if l.stored == nil {
			l.stored = l.KS
		}
		l.KS = server.NewKeyspace(l.Cfg)
		l.doctor.Restarted()
	case l.keepsKeys(lose):
		code.Libraries = l.Ex.Scripts.Code().Libraries
		l.KS.Stats = store.Stats{}
	default:
		l.touchAll()
		l.KS = server.NewKeyspace(l.Cfg)
		l.doctorLost()
	}
	if l.disk != nil {
		l.loseFiles(lose)
	}
	l.admin.Migrate.CloseFirst(len(l.admin.Migrate))
	l.restoreConfig()
	l.Handshakes.Config = nil // listen reads the files again
	if err := l.NewExecutor(l.Ex.Clock); err != nil {
		l.Log('#', "Starting again after LAB CRASH: %v", err)
	}
	l.Ex.Scripts.LoadCode(code)
	l.Recorder.Into(l.Trace)
	l.Stats, l.Figures.Rates, l.Figures.RunID = server.Stats{}, server.Rates{}, server.NewRunID()
	l.Debugging, l.Attack, l.Persist.AOF.Slow = server.Debugging{}, 0, 0
	l.Figures.Start, l.Figures.Started, l.Figures.PeakMem = l.Now, l.KS.Now, l.Figures.UsedMemory()
	l.Clients.SetOutputTrigger()
	l.Clients.SetMemoryLimits()
	l.Replicas.Configured()
}

// comeUp starts the server again. It listens where it listened before.
func (l *State) comeUp() {
	if l.down != nil {
		l.down, l.upSince = nil, l.Ex.Now.Wall
	}
	if l.loadFiles(); l.Fatal != nil {
		return
	}
	if err := l.openOrClose(); err != nil {
		l.Log('#', "Listening again after LAB CRASH: %v It tries again until it can.", err)
		if l.retry != nil {
			l.Loop.Cancel(l.retry)
		}
		l.retry = l.Loop.After(retryEvery, l.listenAgain)
	}
	if err := l.Follow.Start(); err != nil {
		l.Log('#', "Starting again after LAB CRASH: %v", err)
	}
	l.turnIfReached()
}

// retryEvery is how often a server tries to listen whose address somebody else has.
const retryEvery = 100 * time.Millisecond

// listenAgain tries to listen. The log has the reason why that has failed before, and gets it once.
func (l *State) listenAgain() (next time.Duration) {
	if len(l.Listeners.All) > 0 || l.refuses() { // somebody has sent LAB LISTEN, CONFIG SET or LAB CRASH
		return 0
	}
	log := l.Log
	l.Log = func(byte, string, ...any) {}
	err := l.openOrClose()
	if l.Log = log; err != nil {
		return retryEvery
	}
	l.Log('*', "Listening again after LAB CRASH")
	return 0
}

// restoreConfig undoes what CONFIG SET has changed.
func (l *State) restoreConfig() {
	all := func(string, string) bool { return true }
	first := l.config.Get([]string{"*"}, all)
	var changed []string
	for i, value := range l.Cfg.Get([]string{"*"}, all) {
		if value != first[i] {
			changed = append(changed, first[i-1])
		}
	}
	if len(changed) == 0 {
		return
	}
	*l.Cfg = *l.config.Clone()
	for _, name := range changed {
		if name == "port" || name == "tls-port" || name == "bind" {
			l.Listeners.Refuse() // comeUp listens at the old addresses
		}
		if l.Reconfigured != nil {
			l.Reconfigured(l.Cfg, name)
		}
	}
}

// resetConn closes c by a reset. What was still to be written is lost.
func (l *State) resetConn(c *server.Client) {
	c.Ending = server.ResetEnd
	l.Unqueue(c)
	l.Leave(c)
}
