package server

import (
	"slices"
	"strconv"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/ioworkers"
	"github.com/miniredisd/miniredisd/pubsub"
	"github.com/miniredisd/miniredisd/reactor"
)

// ByAge returns the clients that are not closed yet, oldest first.
func (cs *clients) ByAge() []*Client {
	all := make([]*Client, 0, len(cs.Order))
	for _, c := range cs.Order {
		if !c.Closed {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b *Client) int { return int(a.Sess.ID - b.Sess.ID) })
	return all
}

// Describe returns one client as CLIENT LIST shows it.
func (cs *clients) Describe(c *Client) string { return string(cs.Append(nil, c)) }

// Append appends the line of CLIENT LIST without its newline (networking.c: catClientInfoString).
func (cs *clients) Append(b []byte, c *Client) []byte {
	num := func(field string, n int64) {
		b = append(b, field...)
		b = strconv.AppendInt(b, n, 10)
	}
	str := func(field, v string) {
		b = append(b, field...)
		b = append(b, v...)
	}
	sess := &c.Sess
	used, free, argv := c.Query()
	out := c.output()
	num("id=", sess.ID)
	str(" addr=", sess.Addr)
	str(" laddr=", c.LAddr)
	num(" fd=", int64(c.FD))
	str(" name=", sess.Name)
	num(" age=", (cs.s.Now-c.Created)/1e9)
	num(" idle=", (cs.s.Now-c.Active)/1e9)
	str(" flags=", Flags(c))
	manners := &cs.s.Ex.Table.Manners
	if manners.ClientCapa {
		str(" capa=", Capabilities(c))
	}
	num(" db=", int64(sess.DB))
	num(" sub=", int64(cs.s.Ex.Subs.Count(pubsub.Channel, sess)))
	num(" psub=", int64(cs.s.Ex.Subs.Count(pubsub.Pattern, sess)))
	num(" ssub=", int64(cs.s.Ex.Subs.Count(pubsub.Shard, sess)))
	num(" multi=", multi(sess))
	if manners.ClientWatch {
		watching := 0
		if sess.Tx != nil {
			watching = sess.Tx.Watching()
		}
		num(" watch=", int64(watching))
	}
	num(" qbuf=", int64(used))
	num(" qbuf-free=", int64(free))
	num(" argv-mem=", int64(argv+cs.s.Ex.RequestMem(sess)))
	num(" multi-mem=", int64(sess.Tx.QueueMem()))
	num(" rbs=", int64(out.room))
	num(" rbp=", int64(out.room))
	num(" obl=", int64(out.len))
	num(" oll=", int64(out.blocks+c.Delayed.Messages))
	num(" omem=", int64(out.mem+c.Delayed.Bytes))
	num(" tot-mem=", int64(cs.memory(c)))
	str(" events=", c.events(cs.s.Loop))
	cmd := "NULL"
	if sess.Last != nil {
		cmd = sess.Last.Name
	}
	str(" cmd=", cmd)
	user := "(superuser)" // of the master
	if sess.User != nil {
		user = sess.User.Name
	}
	str(" user=", user)
	num(" redir=", sess.RedirectsTo())
	num(" resp=", int64(sess.Proto))
	str(" lib-name=", sess.LibName)
	str(" lib-ver=", sess.LibVer)
	if manners.ClientThread {
		num(" io-thread=", 0) // a client has no thread of its own here
	}
	if manners.ClientTotals {
		num(" tot-net-in=", c.netIn+c.NetIn)
		num(" tot-net-out=", c.CountedNetOut+c.NetOut)
		num(" tot-cmds=", sess.Executed)
	}
	return b
}

// output is what CLIENT LIST shows of a client's output, in Redis's terms: a buffer of at most
// ReplyRoom bytes, and blocks of that size for the rest. Here both are one slice.
type output struct {
	room, len   int // of the buffer
	blocks, mem int // of the rest
}

// output returns what CLIENT LIST shows. Bytes behind a barrier count as the rest.
func (c *Client) output() (o output) {
	sendable, room := c.Sendable(), c.OutputRoom()
	o.room, o.len = min(room, ioworkers.ReplyRoom), min(sendable, ioworkers.ReplyRoom)
	if sendable > ioworkers.ReplyRoom {
		o.blocks = (sendable - 1) / ioworkers.ReplyRoom
		o.mem = room - ioworkers.ReplyRoom
	} else {
		o.mem = c.Unsent() - sendable
	}
	return o
}

// Capabilities are the letters of what c has said that it can do (CLIENT CAPA), as CLIENT LIST has them.
func Capabilities(c *Client) string { return map[bool]string{true: "r"}[c.Sess.CanRedirect] }

// Flags are the letters of what c is, as CLIENT LIST has them (networking.c: catClientInfoString).
func Flags(c *Client) string {
	var b []byte
	for _, f := range [...]struct {
		on   bool
		flag byte
	}{
		{c.Sess.Replica, 'S'}, {c.Sess.Monitor, 'O'}, {c.Sess.Master, 'M'},
		{c.Sess.Subscriber, 'P'}, {c.Sess.InMulti(), 'x'}, {c.Sess.Hold != command.NotHeld, 'b'},
		{c.Sess.Tracks(), 't'}, {c.Sess.Tracks() && c.Sess.Tracker.Broken, 'R'},
		{c.Sess.Tracks() && c.Sess.Tracker.Bcast, 'B'},
		{c.Sess.Tx != nil && c.Sess.Tx.Dirty, 'd'}, {c.Sess.CloseAfterReply, 'c'}, {c.Closed, 'A'},
		{c.Unix, 'U'}, {c.Sess.ReadsHere, 'r'}, {c.Sess.NoEvict, 'e'}, {c.Sess.NoTouch, 'T'},
	} {
		if f.on {
			b = append(b, f.flag)
		}
	}
	if len(b) == 0 {
		return "N"
	}
	return string(b)
}

func (c *Client) events(loop *reactor.Loop) string {
	if c.FD < 0 { // a request of the program around the server has no connection
		return ""
	}
	watched, events := loop.Watched(c.FD), ""
	if watched&(reactor.Readable|reactor.HangUp) != 0 { // Redis continues to read a client that waits
		events = "r"
	}
	if watched&reactor.Writable != 0 {
		events += "w"
	}
	return events
}

// multi returns how many commands a client has queued, -1 outside of MULTI.
func multi(s *command.Session) int64 {
	if !s.InMulti() {
		return -1
	}
	return int64(s.Tx.Len())
}

// ParseClass reads the TYPE of CLIENT KILL and CLIENT LIST.
func ParseClass(name []byte) (class int, err error) {
	switch {
	case is(name, "normal"):
		return config.ClassNormal, nil
	case is(name, "slave") || is(name, "replica"):
		return config.ClassReplica, nil
	case is(name, "pubsub"):
		return config.ClassPubSub, nil
	case is(name, "master"):
		return ClassMaster, nil
	}
	return 0, errorf("ERR Unknown client type '%s'", name)
}

// ClassMaster is the class of a replica's connection to its master.
const ClassMaster = -1
