package explore

// deed is what a fault does.
type deed uint8

const (
	byRule       deed = iota // an action of a rule
	pause                    // hold the client until its lease is over and the others have gone on
	lateLease                // end the lease, then execute the request
	restart                  // restart the server, with its keys
	forget                   // restart the server, without its keys
	evict                    // evict the keys of the request
	jump                     // move the clock of the master past every lease
	gone                     // stop the master for the rest of the trial
	powerCut                 // restart the server with what its disk has
	badFsync                 // let one fsync fail
	failover                 // let the replica take over, without what it lacks
	diskFull                 // let the disk be full for the rest of the trial
	promotion                // make a replica the master
	lateSentinel             // likewise, and one Sentinel does not hear of it
	slotMoves                // move the slot
	slotHalf                 // move the keys of the slot
	oldMap                   // move the slot, and let a node keep its old map
)

// fault is a row of the table: a Fault, and how a trial plays it.
type fault struct {
	Fault
	deed   deed
	action []string // the words after ACTION
	cause  string   // in a sentence after If; %s is the request or the message

	tier    int    // faults of tier 0 are tried first
	merges  string // the name of the fault that is the same for a request that changes nothing
	errs    bool   // the reply is an error
	writes  bool   // servers refuse only writes in this way
	bySHA   bool   // only a request that names a script by its SHA1 can have it
	message bool   // it strikes messages
	alone   bool   // no client of a lone server can stand it: tried with several masters, or if strict
	several bool   // it needs several masters
	stuck   bool   // a client without a timeout hangs, and its lock is then no wonder
	disk    bool   // it needs a disk
	replica bool   // it needs replicas
	ends    bool   // with appendfsync always it ends the server
	fsyncs  bool   // it needs a server that calls fsync

	moves    bool // it needs a cluster or Sentinels
	sentinel bool // it needs Sentinels
	slots    bool // it needs a cluster
}

// inside reports whether a fault needs a server that can be changed from inside. A proxy before another one lacks it.
func (f *fault) inside() bool {
	return f.deed == evict || f.message || f.disk || f.replica || f.slots || f.sentinel || f.moves
}

// faults is the table of all faults. A matrix has a column for each.
func faults() []fault {
	hold := []string{"HOLD"}
	all := []fault{
		{Fault: Fault{"request-lost", "request lost", "The request is lost, and the connection ends."},
			action: []string{"DROP-BEFORE"}, cause: "%s is lost"},
		{Fault: Fault{"reply-lost", "reply lost", "The server executes the request, and the reply is lost."},
			action: []string{"DROP-REPLY"}, cause: "the reply to %s is lost", merges: "request-lost"},
		{Fault: Fault{"paused", "paused", "The request waits until the lease of its client is over " +
			"and all others have gone on: a long pause of the client, or a slow network."},
			deed: pause, action: hold, cause: "%s waits until the lease of its client is over"},
		{Fault: Fault{"lease-over", "lease over", "The lease of the client ends just before the request is executed."},
			deed: lateLease, action: hold, cause: "the lease ends just before %s"},
		{Fault: Fault{"silent", "silent", "The server executes the request, and the connection stays open without a reply."},
			action: []string{"SILENT"}, cause: "%s never gets a reply", stuck: true},
		{Fault: Fault{"restart", "restart", "The server restarts before it executes the request, and keeps its keys."},
			deed: restart, action: hold, cause: "the server restarts before %s"},
		{Fault: Fault{"keys-lost", "keys lost", "The server restarts before it executes the request, and loses its keys."},
			deed: forget, action: hold, cause: "the server restarts before %s and loses its keys", alone: true},
		{Fault: Fault{"evicted", "evicted", "The server evicts the lock just before the request, " +
			"as if its memory were short."},
			deed: evict, action: hold, cause: "the server evicts the lock just before %s", alone: true},
		{Fault: Fault{"clock-jump", "clock jumps", "The clock of the server jumps past every lease before the request."},
			deed: jump, action: hold, cause: "the clock of the server jumps before %s", alone: true},
		{Fault: Fault{"master-gone", "master gone", "The master is down from this request on."},
			deed: gone, action: hold, cause: "the master goes down before %s", several: true},
		{Fault: Fault{"power-cut", "power cut", "The server crashes before it executes the request, " +
			"and starts again with what was fsynced."},
			deed: powerCut, action: hold, cause: "the power of the server is cut before %s", disk: true},
		{Fault: Fault{"fsync-fails", "fsync fails", "The next fsync from this request on fails, " +
			"and the server refuses writes until its file is whole again."},
			deed: badFsync, action: hold, cause: "the fsync after %s fails", disk: true, ends: true, fsyncs: true},
		{Fault: Fault{"disk-full", "disk full", "The disk is full from this request on: " +
			"the server refuses writes after it."},
			deed: diskFull, action: hold, cause: "the disk is full from %s on", disk: true, ends: true},
		{Fault: Fault{"failover", "failover", "Before the request a replica takes over, and hands its data back. " +
			"What the master has done in the last half second is lost."},
			deed: failover, action: hold, cause: "a failover before %s loses the last half second", replica: true},
		{Fault: Fault{"message-lost", "message lost", "The message never reaches its receiver."},
			action: []string{"SKIP-PUSH"}, cause: "%s is lost", message: true},
		{Fault: Fault{"message-late", "message late", "The message comes half a second late."},
			action: []string{"DELAY-PUSH", "500"}, cause: "%s comes late", message: true},
		{Fault: Fault{"reset-before", "reset before", "The connection is reset before the server executes the request."},
			action: []string{"RESET-BEFORE"}, cause: "the connection is reset before %s", tier: 1},
		{Fault: Fault{"reset-after", "reset after", "The server executes the request, then the connection is reset."},
			action: []string{"RESET-AFTER"}, cause: "the connection is reset after %s", tier: 1, merges: "reset-before"},
	}
	all = append(all, topologyFaults()...)
	for _, r := range refusals() {
		all = append(all, fault{
			Fault:  Fault{"error-" + r.name, r.word, "The server does not execute the request, and replies " + r.word + "."},
			action: []string{"ERROR", r.text}, cause: "the reply to %s is the error " + r.word, tier: 1,
			errs: true, writes: r.writes, bySHA: r.bySHA})
	}
	for _, r := range refusals() {
		if r.bySHA {
			continue // nobody executes a script that he does not know
		}
		all = append(all, fault{
			Fault: Fault{"executed-" + r.name, r.word + " after",
				"The server executes the request, and a proxy replies " + r.word + "."},
			action: []string{"ERROR-AFTER", r.text}, cause: "%s is executed and its reply is the error " + r.word, tier: 2,
			errs: true, writes: r.writes, merges: "error-" + r.name})
	}
	return all
}

// refusal is an error that a server may reply to any client.
type refusal struct {
	name, word, text string
	writes, bySHA    bool
}

func refusals() []refusal {
	return []refusal{
		{"loading", "LOADING", "LOADING Redis is loading the dataset in memory", false, false},
		{"readonly", "READONLY", "READONLY You can't write against a read only replica.", true, false},
		{"misconf", "MISCONF", "MISCONF Errors writing to the AOF file: No space left on device", true, false},
		{"oom", "OOM", "OOM command not allowed when used memory > 'maxmemory'.", true, false},
		{"noscript", "NOSCRIPT", "NOSCRIPT No matching script. Please use EVAL.", false, true},
		{"busy", "BUSY", "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
			false, false},
	}
}

// excuse returns why a fault is not tried at a point, or "".
func (e *Explorer) excuse(f *fault, p *point) string {
	switch {
	case f.message != p.Message && p.Message:
		return "a message is not a request"
	case f.message != p.Message:
		return "a request is not a message"
	case p.repeats && !p.Writes && !p.Message && !e.opt.Strict:
		return "it repeats the two requests before it, and nobody has changed the key between them"
	case f.slots && p.glob == "":
		return "the request names no key"
	case f.several && e.opt.Cluster:
		return "the masters of a cluster do not vote"
	case f.several && !e.opt.vote():
		return "it needs several masters"
	case f.alone && !e.opt.vote() && !e.opt.Strict:
		return "no client of a single server can stand it; --strict tries it"
	case f.ends && e.opt.Disk == "always":
		return "with appendfsync always the server ends when its file fails"
	case f.fsyncs && e.opt.Disk == "no":
		return "with appendfsync no the server leaves the fsync to the system"
	case f.bySHA && p.Command != "EVALSHA" && p.Command != "EVALSHA_RO":
		return "only EVALSHA gets this error"
	case f.writes && p.reads:
		return "servers refuse only writes with this error"
	case !e.asked(f, p):
		return "nobody asked for it"
	}
	return ""
}

// asked reports whether the options let a cell be tried.
func (e *Explorer) asked(f *fault, p *point) bool {
	return e.opt.Cells == nil || e.opt.Cells(p.Point, f.Fault)
}
