package command

import (
	"github.com/miniredisd/miniredisd/internal/trace"
	"github.com/miniredisd/miniredisd/pubsub"
	"github.com/miniredisd/miniredisd/resp"
)

// messages sends everything that is not a reply: messages of channels, keyspace events, and the
// invalidations of CLIENT TRACKING.
//
//	PUBLISH ─> publish ─> publishTo ─> send ─┐
//	event of a key ─> publish                ├─> post ─┬─> Host.Deliver      to another client
//	Tracking.tell ───────────────────────────┘         └─> after the reply  to the running client
type messages struct {
	ex      *Executor
	room    []byte // to encode the next message in
	behind  []byte // messages to the running client, which follow its reply
	channel []byte // room for the name of an event's channel
}

// keepMessage is the size up to which the memory of a message is used again.
const keepMessage = 64 << 10

// publish sends payload to all subscribers of channel and of patterns that match it. It returns the
// number of copies (pubsub.c: pubsubPublishMessageInternal).
func (m *messages) publish(channel, payload []byte) (copies int) {
	copies = m.publishTo(pubsub.Channel, "message", channel, payload)
	if m.ex.Subs.Len(pubsub.Pattern) == 0 {
		return copies
	}
	for t := range m.ex.Subs.Matching(channel) {
		w := resp.Writer{Buf: m.room[:0]}
		w.Push(4)
		w.BulkString("pmessage")
		w.BulkString(t.Name)
		w.Bulk(channel)
		w.Bulk(payload)
		m.send(t.Subscribers, w.Buf)
		copies += len(t.Subscribers)
	}
	return copies
}

// publishTo is publish for subscribers by name alone, of one kind of channels.
func (m *messages) publishTo(kind pubsub.Kind, event string, channel, payload []byte) (copies int) {
	to := m.ex.Subs.To(kind, channel)
	if len(to) == 0 {
		return 0
	}
	w := resp.Writer{Buf: m.room[:0]}
	w.Push(3)
	w.BulkString(event)
	w.Bulk(channel)
	w.Bulk(payload)
	m.send(to, w.Buf)
	return len(to)
}

// endOfShard tells a client that its subscription to a shard channel is over (pubsub.c: addReplyPubsubUnsubscribed).
func (m *messages) endOfShard(to *Session, channel []byte) {
	w := resp.Writer{Buf: m.room[:0]}
	w.Push(3)
	w.BulkString("sunsubscribe")
	w.Bulk(channel)
	w.Int(int64(m.ex.Subs.Count(pubsub.Shard, to)))
	m.send([]*Session{to}, w.Buf)
}

// send posts one encoded message to many clients. Only its first byte depends on the protocol.
func (m *messages) send(to []*Session, message []byte) {
	for _, s := range to {
		message[0] = '*'
		if s.Proto > 2 {
			message[0] = '>'
		}
		m.post(s, message)
	}
	m.keep(message)
}

// post sends a message to one client. A message to the running client follows the reply to its
// command (networking.c of 7.2: pending_push_messages).
func (m *messages) post(to *Session, message []byte) {
	switch {
	case m.ex.Observer != nil && !m.ex.Observer.Outgoing(to, message):
	case to == m.ex.running && m.ex.executing:
		m.ex.Show.message(trace.MessageBehind, to, message)
		m.behind = append(m.behind, message...)
	case m.ex.SendLater(to, message):
		m.ex.Show.message(trace.MessageBehind, to, message)
	default:
		m.ex.Host.Deliver(to, message)
		m.ex.Show.message(trace.MessageNow, to, message)
	}
}

// sent empties behind, whose bytes the running client has now.
func (m *messages) sent() {
	m.behind = m.behind[:0]
	if cap(m.behind) > keepMessage {
		m.behind = nil
	}
}

// keep takes back the memory of a message, to encode the next one in.
func (m *messages) keep(message []byte) {
	m.room = message[:0]
	if cap(message) > keepMessage {
		m.room = nil
	}
}
