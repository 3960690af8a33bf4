package command

import (
	"github.com/miniredisd/miniredisd/pubsub"
	"github.com/miniredisd/miniredisd/resp"
)

// publish sends payload to those who listen to channel, by its name or by a
// pattern, and returns how many copies that took.
func (ex *Executor) publish(channel, payload []byte) int {
	n := ex.publishTo(pubsub.Channel, "message", channel, payload)
	if ex.Subs.Len(pubsub.Pattern) == 0 {
		return n
	}
	for t := range ex.Subs.Matching(channel) {
		w := resp.Writer{Buf: ex.message[:0]}
		w.Push(4)
		w.BulkString("pmessage")
		w.BulkString(t.Name)
		w.Bulk(channel)
		w.Bulk(payload)
		ex.send(t.Subscribers, w.Buf)
		n += len(t.Subscribers)
	}
	return n
}

func (ex *Executor) publishTo(kind pubsub.Kind, event string, channel, payload []byte) int {
	to := ex.Subs.To(kind, channel)
	if len(to) == 0 {
		return 0
	}
	w := resp.Writer{Buf: ex.message[:0]}
	w.Push(3)
	w.BulkString(event)
	w.Bulk(channel)
	w.Bulk(payload)
	ex.send(to, w.Buf)
	return len(to)
}

// keepMessage is the size up to which the buffer for messages is used again.
const keepMessage = 64 << 10

// send delivers one encoded message. The protocols differ in its first byte alone.
//
// What the client that is being executed gets, comes after the reply to the command
// that sent it (networking.c of 7.2: pending_push_messages).
func (ex *Executor) send(to []*Session, message []byte) {
	for _, s := range to {
		message[0] = '*'
		if s.Proto > 2 {
			message[0] = '>'
		}
		ex.post(s, message)
	}
	ex.keep(message)
}

func (ex *Executor) post(to *Session, message []byte) {
	switch {
	case ex.Observed && !ex.Host.Outgoing(to, message):
	case to == ex.running && ex.executing:
		ex.afterReply = append(ex.afterReply, message...)
	case ex.SendLater(to, message):
	default:
		ex.Host.Deliver(to, message)
	}
}

// forgetSent empties afterReply, and keeps its memory when it is ordinary.
func (ex *Executor) forgetSent() {
	ex.afterReply = ex.afterReply[:0]
	if cap(ex.afterReply) > keepMessage {
		ex.afterReply = nil
	}
}

// keep takes the memory of a message back, to encode the next one in.
func (ex *Executor) keep(message []byte) {
	ex.message = message[:0]
	if cap(message) > keepMessage {
		ex.message = nil
	}
}
