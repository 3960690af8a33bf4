package proxy

import (
	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/resp"
)

// naming finds the replies to a client that name nodes, before anything else in the proxy sees them. It counts requests
// and replies for that. All other replies go on in the bytes in which they have come.
//
//	asks    the 7th request is CLUSTER SLOTS        due: 7, slots
//	pass    the 6th reply                           goes on as it is
//	        the 7th reply                           is kept until it is whole, and renamed
//	        an error                                is kept until its line is whole: it may be MOVED
//
// A connection that has subscribed gets messages between its replies, and some confirmations for one request. Their
// first word shows what they are.
type naming struct {
	at              func(host string, port int) (string, int)
	secure          bool // nodes have TLS
	cutter          resp.Cutter
	asked, answered int64
	due             []naming1 // oldest first

	multi  bool
	queued []rewrite // by MULTI

	subscribed bool // it has sent SUBSCRIBE or its like
	off        bool // CLIENT REPLY OFF
	skip       int  // requests that get no reply, because of CLIENT REPLY SKIP
	endless    bool // MONITOR: nothing shows which reply is whose
	raw        bool // what comes are no replies

	keeps bool   // the reply that arrives is kept
	large bool   // it is a message that was too large to keep
	kept  []byte // of it
}

// naming1 is a request that needs care.
type naming1 struct {
	number int64
	do     rewrite

	subscribes string // the name of SUBSCRIBE or its like, "" for other commands
	left       int    // confirmations, -1 if nobody knows how many
	confirmed  bool
}

// most bounds a reply that is kept to be renamed. CLUSTER NODES of 1000 nodes has 100 KB.
const mostNaming = 16 << 20

// asks is for a request that goes to the upstream. args is nil for one that is too large to be read.
func (n *naming) asks(args [][]byte) {
	if n == nil || n.endless {
		return
	}
	var low [longestName]byte
	name := low[:0]
	if args != nil && len(args[0]) <= longestName {
		name = ascii.AppendLower(name, args[0])
	}
	if n.isUnanswered(name, args) {
		return
	}
	n.asked++
	switch string(name) {
	case "monitor", "sync", "psync":
		n.endless = true
	case "subscribe", "psubscribe", "ssubscribe", "unsubscribe", "punsubscribe", "sunsubscribe":
		n.subscribed = true
		left := len(args) - 1
		if left == 0 {
			left = -1
		}
		n.due = append(n.due, naming1{number: n.asked, subscribes: string(name), left: left})
	case "multi":
		n.multi, n.queued = true, nil
	case "exec":
		n.due = append(n.due, naming1{number: n.asked, do: execOf(n.queued)})
		n.multi, n.queued = false, nil
	case "discard", "reset":
		n.multi, n.queued = false, nil
	case "watch", "quit":
	default:
		do := rewriteOf(name, args)
		if n.multi {
			n.queued = append(n.queued, do)
		}
		if do != nil { // also behind MULTI, which the upstream may have refused
			n.due = append(n.due, naming1{number: n.asked, do: do})
		}
	}
}

// isUnanswered reports whether a request gets no reply, because of CLIENT REPLY.
func (n *naming) isUnanswered(name []byte, args [][]byte) bool {
	if string(name) == "client" && len(args) > 2 && ascii.EqualFold(args[1], "reply") && n.silences(args[2]) {
		return true
	}
	if n.skip > 0 {
		n.skip--
		return true
	}
	return n.off
}

// silences is for CLIENT REPLY. It reports whether that has no reply itself.
func (n *naming) silences(how []byte) bool {
	switch {
	case ascii.EqualFold(how, "on"):
		n.off = false
	case ascii.EqualFold(how, "off"):
		n.off = true
		return true
	case ascii.EqualFold(how, "skip"):
		if !n.off {
			n.skip = 1
		}
		return true
	}
	return false
}

// pass takes bytes of the upstream, and returns what goes on instead. These are the same bytes, unless a reply in them
// is renamed or kept.
func (n *naming) pass(buf []byte) []byte {
	if n == nil || n.raw {
		return buf
	}
	var out []byte
	copied, from := false, 0
	for i := 0; i < len(buf); {
		if n.cutter.Inside() == 0 {
			n.keeps = n.wants(buf[i])
		}
		took, kind, err := n.cutter.Cut(buf[i:])
		if err != nil { // who gets it will say so
			n.raw = true
			out = append(append(out, n.kept...), buf[from:]...)
			n.kept = nil
			return out
		}
		if n.keeps {
			out = append(out, buf[from:i]...)
			n.kept = append(n.kept, buf[i:i+took]...)
			copied, from = true, i+took
			out = append(out, n.renamed(kind)...)
		} else if kind != 0 && kind != '>' {
			if !n.large {
				n.answers(kind)
			}
			n.large = false
		}
		i += took
	}
	if !copied {
		return buf
	}
	return append(out, buf[from:]...)
}

// wants reports whether a reply is kept that begins with a mark.
func (n *naming) wants(mark byte) bool {
	switch mark {
	case '-':
		return true
	case '>', '*':
		if n.subscribed {
			return true
		}
	}
	return mark != '>' && n.first() != nil
}

// renamed returns what goes on of the kept bytes. kind is 0 while the reply is not whole.
func (n *naming) renamed(kind byte) []byte {
	kept := n.kept
	if kind == 0 {
		return n.released()
	}
	n.kept = nil
	s, ok := spanOf(kept, 0)
	switch topic := topicOf(kept, s); {
	case !ok && kind == '>':
	case n.subscribed && topic == publishes:
		return rename(kept, (*renamer).message, n.secure, n.at)
	case n.subscribed && topic == confirms:
		n.confirm(string(kept[s.at(0).text:s.at(0).end]))
	case kind != '>':
		return rename(kept, n.answers(kind), n.secure, n.at)
	}
	return kept
}

// released returns what is kept, if that is too long for something with addresses.
func (n *naming) released() []byte {
	kept := n.kept
	if len(kept) <= longestFront {
		return nil
	}
	s, _ := spanOf(kept, 0)
	n.large = n.subscribed && topicOf(kept, s) == publishes
	if !n.large && n.first() != nil && len(kept) <= mostNaming {
		return nil
	}
	n.keeps, n.kept = false, nil
	return kept
}

// first returns the request whose reply comes next, nil if it needs no care.
func (n *naming) first() *naming1 {
	if len(n.due) > 0 && n.due[0].number == n.answered+1 {
		return &n.due[0]
	}
	return nil
}

func (n *naming) pop() {
	n.answered++
	n.due = n.due[1:]
}

// confirm is for a confirmation of SUBSCRIBE or its like.
func (n *naming) confirm(name string) {
	d := n.first()
	for ; d != nil && d.confirmed && d.subscribes != name; d = n.first() {
		n.pop()
	}
	if d == nil || d.subscribes == "" {
		return
	}
	d.confirmed = true
	if d.left--; d.left == 0 {
		n.pop()
	}
}

// answers is for an ordinary reply. It returns what it needs. Instead of a confirmation an error or QUEUED may come.
func (n *naming) answers(kind byte) rewrite {
	for d := n.first(); d != nil && d.subscribes != "" && (d.confirmed || kind != '-' && kind != '+'); d = n.first() {
		n.pop()
	}
	do := rewrite(func(*renamer, span) {})
	if d := n.first(); d != nil {
		if d.do != nil {
			do = d.do
		}
		n.pop()
		return do
	}
	n.answered++
	return do
}
