package command

import (
	"slices"

	"github.com/miniredisd/miniredisd/pubsub"
	"github.com/miniredisd/miniredisd/store"
)

// Cluster is how an executor reaches the other nodes of a cluster. Executor.Cluster is nil on a server without one, so
// a request there pays one comparison.
//
//	request ──> admitNow ──> Cluster.admit ── the keys ──> Route ──> nil, or a Redirect for the client
type Cluster struct {
	// Route says who executes a request: this server if err is nil. slot is that of the keys, -1 if there are none.
	Route func(r *Routed) (slot int, err error)

	// Publish gives a message to the other nodes: of a channel to all, of a shard channel to those of the shard.
	Publish func(kind pubsub.Kind, channel, message []byte)

	request Routed     // room for the next one
	found   []FoundKey // likewise
	queued  [][]byte   // room for the arguments of a queued command
}

// Routed is what decides who executes a request.
type Routed struct {
	Sess      *Session
	Keys      [][]byte // or shard channels, of all commands of an EXEC
	Writes    bool
	Asking    bool
	ReadsHere bool
	IsShard   bool
	IsMigrate bool
	Blocked   bool // the request waits already
}

// Redirect is an error that ends a transaction with its own text, not with EXECABORT: the client has to go on elsewhere
// (cluster.c: clusterRedirectClient).
type Redirect string

func (r Redirect) Error() string { return string(r) }

const (
	errSelectCluster  store.Error = "ERR SELECT is not allowed in cluster mode"
	errMoveCluster    store.Error = "ERR MOVE is not allowed in cluster mode"
	errSwapCluster    store.Error = "ERR SWAPDB is not allowed in cluster mode"
	errSortByCluster  store.Error = "ERR BY option of SORT denied in Cluster mode."
	errSortGetCluster store.Error = "ERR GET option of SORT denied in Cluster mode."
	errShebangNode    store.Error = "ERR Can not run script on cluster, 'no-cluster' flag is set."

	// What a script hears instead of a redirection (script.c: scriptVerifyClusterState).
	errScriptSlots   store.Error = "ERR Script attempted to access keys that do not hash to the same slot"
	errScriptAway    store.Error = "ERR Script attempted to access a non local key in a cluster node"
	errScriptDown    store.Error = "ERR Script attempted to execute a command while the cluster is down"
	errScriptNoWrite store.Error = "ERR Script attempted to execute a write command while the cluster is down " +
		"and readonly"
)

// ErrClusterDown and ErrClusterReads are the redirections of a cluster that does not serve.
const (
	ErrClusterDown  Redirect = "CLUSTERDOWN The cluster is down"
	ErrClusterReads Redirect = "CLUSTERDOWN The cluster is down and only accepts read commands"
)

// admit decides whether this node executes a request (server.c: processCommand). What the master sends runs.
func (cl *Cluster) admit(ex *Executor, s *Session, cmd *Command, args [][]byte) (err error) {
	s.slot = -1
	runsQueue := cmd.Flags&RunsQueue != 0
	if s.Master || len(cmd.Keys) == 0 && !runsQueue || runsQueue && !s.InMulti() {
		return nil
	}
	cl.begin(s, cmd, ex.flagsOf(s, cmd, args))
	if runsQueue {
		for queued, of := range s.Tx.queue.all(cl.queued) {
			cl.addKeys(queued, of)
		}
	} else {
		cl.addKeys(cmd, args)
	}
	s.slot, err = cl.Route(&cl.request)
	return err
}

// begin describes a request without its keys.
func (cl *Cluster) begin(s *Session, cmd *Command, flags Flag) {
	keys := cl.request.Keys[:0]
	cl.request = Routed{
		Sess: s, Keys: keys, Writes: flags&Write != 0, Asking: s.asks() || flags&Asking != 0, ReadsHere: s.ReadsHere,
		IsShard: cmd.hasShardChannels(), IsMigrate: cmd.Name == "migrate",
	}
}

// Ask lets the next request of the client use a slot that this node imports. A transaction that it begins, or that the
// client is in, counts as one request (networking.c: resetClient). In a script Ask does nothing. The number of the
// request is noted, so nothing is to be cleared after it, and a server without a cluster asks nothing.
func (c *Call) Ask() {
	switch s := c.Sess; {
	case c.Ex.Scripts.run.on:
	case s.InMulti():
		s.asked = s.Tx.began
	default:
		s.asked = s.Commands + 1
	}
}

// asks reports whether the running request of s comes after ASKING.
func (s *Session) asks() bool {
	if s.InMulti() {
		return s.asked == s.Tx.began
	}
	return s.asked == s.Commands
}

// hasShardChannels reports whether the key specifications are about channels: SSUBSCRIBE, SUNSUBSCRIBE, SPUBLISH.
func (c *Command) hasShardChannels() bool { return len(c.Keys) > 0 && c.Keys[0].Flags&NotKey != 0 }

// addKeys adds the keys of a command, or its shard channels (db.c: getKeysFromCommand).
func (cl *Cluster) addKeys(cmd *Command, args [][]byte) {
	if cmd.ahead == oneKey && cmd.Keys[0].Index < len(args) {
		cl.request.Keys = append(cl.request.Keys, args[cmd.Keys[0].Index])
		return
	}
	if cmd.hasShardChannels() {
		first, last, step := cmd.Keys[0].span(args, cmd.Keys[0].Index)
		for i := first; i <= last && i < len(args); i += step {
			cl.request.Keys = append(cl.request.Keys, args[i])
		}
		return
	}
	cl.found = cmd.AppendKeys(cl.found[:0], args)
	for _, key := range cl.found {
		cl.request.Keys = append(cl.request.Keys, args[key.Index])
	}
}

// admitCall decides whether the running script may call cmd here (script.c: scriptVerifyClusterState). Its keys must be
// in the slot of those before, unless the script says allow-cross-slot-keys.
func (cl *Cluster) admitCall(ex *Executor, cmd *Command, args [][]byte) error {
	run := &ex.Scripts.run
	if run.by.Master || len(cmd.Keys) == 0 {
		return nil
	}
	cl.begin(run.by, cmd, cmd.Flags)
	cl.addKeys(cmd, args)
	slot, err := cl.Route(&cl.request)
	switch {
	case err == ErrClusterReads:
		return errScriptNoWrite
	case err == ErrClusterDown:
		return errScriptDown
	case err != nil:
		return errScriptAway
	case slot < 0 || run.crossSlot:
	case run.by.slot < 0:
		run.by.slot = slot
	case run.by.slot != slot:
		return errScriptSlots
	}
	return nil
}

// PublishHere gives a message that another node has sent to the subscribers of this one.
func (ex *Executor) PublishHere(kind pubsub.Kind, channel, message []byte) {
	if kind == pubsub.Shard {
		ex.messages.publishTo(kind, "smessage", channel, message)
		return
	}
	ex.messages.publish(channel, message)
}

// Reroute ends the wait of a blocked client whose key this node does not serve any more (cluster.c:
// clusterRedirectBlockedClientIfNeeded). All keys of its request are in one slot.
func (ex *Executor) Reroute(s *Session) {
	if s.Hold != Blocked || len(s.Wait.places) == 0 || s.Master {
		return
	}
	cl, w := ex.Cluster, s.Wait
	cl.begin(s, w.cmd, w.cmd.Flags)
	cl.request.Blocked = true
	cl.addKeys(w.cmd, w.args)
	if _, err := cl.Route(&cl.request); err != nil {
		ex.Unblock(s, err)
	}
}

// DropShardChannels ends the subscriptions to shard channels that are no longer of this node, and tells the
// subscribers (pubsub.c: removeChannelsInSlot).
func (ex *Executor) DropShardChannels(gone func(channel []byte) bool) {
	for _, t := range ex.Subs.Topics(pubsub.Shard) {
		name := []byte(t.Name)
		if !gone(name) {
			continue
		}
		for _, s := range slices.Clone(t.Subscribers) {
			ex.Subs.Unsubscribe(pubsub.Shard, s, name)
			s.Subscriber = ex.Subs.Listens(s)
			ex.messages.endOfShard(s, name)
		}
	}
}

// DropKeys deletes the keys that are no longer of this node (cluster.c: delKeysInSlot).
func (ex *Executor) DropKeys(gone func(key string) bool) {
	db := ex.KS.DBs[0]
	var names []string
	db.Each(func(key string, _ store.Type) {
		if gone(key) {
			names = append(names, key)
		}
	})
	for _, key := range names {
		db.Delete([]byte(key))
		ex.KS.Stats.Dirty++
		ex.events.dropped(db, key)
	}
}

// Mode is how HELLO and INFO call this server.
func (ex *Executor) Mode() string {
	if ex.Cluster != nil {
		return "cluster"
	}
	return ex.Table.Mode
}
