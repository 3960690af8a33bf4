// Package pubsub knows who listens to which channel. It knows neither sockets nor
// replies: a subscriber is any value that can be compared, and what is done with a
// message is up to the caller.
//
//	SUBSCRIBE a    Channel  ─┐
//	PSUBSCRIBE a*  Pattern  ─┼─> Topic{Name, Subscribers}  <─ PUBLISH a: To(Channel, a) and Matching(a)
//	SSUBSCRIBE a   Shard    ─┘                             <─ SPUBLISH a: To(Shard, a)
//
// Every order a client can see is the one in which things were subscribed to:
// subscribers of a topic as in Redis, and topics too, which Redis visits in the
// order of a hash table (pubsub.c: pubsubPublishMessageInternal).
//
// A Registry belongs to one goroutine. Nothing may subscribe or unsubscribe
// between a call that returns subscribers and the end of their use.
package pubsub

import (
	"cmp"
	"iter"
	"maps"
	"slices"
)

// Kind is one of the three sets of names, which have nothing to do with each other.
type Kind uint8

// Channel is SUBSCRIBE's, Pattern PSUBSCRIBE's, Shard SSUBSCRIBE's.
const (
	Channel Kind = iota
	Pattern
	Shard
	kinds
)

// Topic is a name somebody listens to.
type Topic[S comparable] struct {
	Name        string
	Subscribers []S // in the order in which they came; never empty

	since int64 // orders the topics
	index int   // of a pattern, its place in Registry.patterns
}

// subscriber is what one subscriber listens to, and since when.
type subscriber[S comparable] [kinds]map[*Topic[S]]int64

// Registry is all topics and subscribers.
type Registry[S comparable] struct {
	match       func(pattern string, name []byte) bool
	topics      [kinds]map[string]*Topic[S]
	patterns    []*Topic[S] // those of kind Pattern, in their order; nil where one has gone
	gone        int         // patterns that are nil
	subscribers map[S]*subscriber[S]
	serial      int64
	bytes       int // of the topics
}

// topicMem is the bytes of a topic with one subscriber, without its name.
const topicMem = 128

// New makes an empty registry; match tells whether a pattern fits a channel.
func New[S comparable](match func(pattern string, name []byte) bool) *Registry[S] {
	r := &Registry[S]{match: match, subscribers: map[S]*subscriber[S]{}}
	for kind := range r.topics {
		r.topics[kind] = map[string]*Topic[S]{}
	}
	return r
}

// Subscribe adds s to the listeners of name, which is copied, and tells whether it
// was none before.
func (r *Registry[S]) Subscribe(kind Kind, s S, name []byte) bool {
	of := r.subscribers[s]
	if of == nil {
		of = &subscriber[S]{}
		r.subscribers[s] = of
	}
	if of[kind] == nil {
		of[kind] = map[*Topic[S]]int64{}
	}
	r.serial++
	t := r.topics[kind][string(name)]
	if t == nil {
		t = &Topic[S]{Name: string(name), since: r.serial}
		r.topics[kind][t.Name] = t
		r.bytes += topicMem + len(t.Name)
		if kind == Pattern {
			t.index = len(r.patterns)
			r.patterns = append(r.patterns, t)
		}
	}
	if _, already := of[kind][t]; already {
		return false
	}
	of[kind][t] = r.serial
	r.bytes -= 8 * cap(t.Subscribers)
	t.Subscribers = append(t.Subscribers, s)
	r.bytes += 8 * cap(t.Subscribers)
	return true
}

// Unsubscribe takes s off the listeners of name and tells whether it was one.
func (r *Registry[S]) Unsubscribe(kind Kind, s S, name []byte) bool {
	t, of := r.topics[kind][string(name)], r.subscribers[s]
	if t == nil || of == nil {
		return false
	}
	if _, listens := of[kind][t]; !listens {
		return false
	}
	delete(of[kind], t)
	if of.count() == 0 {
		delete(r.subscribers, s)
	}
	r.leave(kind, t, s)
	return true
}

// Forget takes s off everything.
func (r *Registry[S]) Forget(s S) {
	of := r.subscribers[s]
	if of == nil {
		return
	}
	delete(r.subscribers, s)
	for kind, topics := range of {
		for t := range topics {
			r.leave(Kind(kind), t, s)
		}
	}
}

func (r *Registry[S]) leave(kind Kind, t *Topic[S], s S) {
	i := slices.Index(t.Subscribers, s)
	t.Subscribers = slices.Delete(t.Subscribers, i, i+1)
	if len(t.Subscribers) > 0 {
		return
	}
	delete(r.topics[kind], t.Name)
	r.bytes -= topicMem + len(t.Name) + 8*cap(t.Subscribers)
	if kind == Pattern {
		r.patterns[t.index] = nil
		if r.gone++; 2*r.gone > len(r.patterns) {
			r.closeGaps()
		}
	}
}

// closeGaps takes those that have gone out of patterns: seldom, so that a subscriber with many
// patterns can go at once.
func (r *Registry[S]) closeGaps() {
	r.patterns = slices.DeleteFunc(r.patterns, func(t *Topic[S]) bool { return t == nil })
	for i, t := range r.patterns {
		t.index = i
	}
	r.gone = 0
}

func (of *subscriber[S]) count() int {
	n := 0
	for _, topics := range of {
		n += len(topics)
	}
	return n
}

// Count is how many names of a kind s listens to.
func (r *Registry[S]) Count(kind Kind, s S) int {
	if of := r.subscribers[s]; of != nil {
		return len(of[kind])
	}
	return 0
}

// Listens tells whether s listens to anything.
func (r *Registry[S]) Listens(s S) bool { return r.subscribers[s] != nil }

// Total is how many names of all kinds s listens to.
func (r *Registry[S]) Total(s S) int {
	if of := r.subscribers[s]; of != nil {
		return of.count()
	}
	return 0
}

// Mem is about the bytes that the topics take.
func (r *Registry[S]) Mem() int { return r.bytes }

// Names are the names of a kind that s listens to, in its order.
func (r *Registry[S]) Names(kind Kind, s S) []string {
	of := r.subscribers[s]
	if of == nil {
		return nil
	}
	topics := slices.SortedFunc(maps.Keys(of[kind]), func(a, b *Topic[S]) int { return cmp.Compare(of[kind][a], of[kind][b]) })
	names := make([]string, len(topics))
	for i, t := range topics {
		names[i] = t.Name
	}
	return names
}

// To are the listeners of one name, in their order. It is the registry's own list.
func (r *Registry[S]) To(kind Kind, name []byte) []S {
	if t := r.topics[kind][string(name)]; t != nil {
		return t.Subscribers
	}
	return nil
}

// Matching are the patterns that fit a channel, in their order.
func (r *Registry[S]) Matching(channel []byte) iter.Seq[*Topic[S]] {
	return func(yield func(*Topic[S]) bool) {
		for _, t := range r.patterns {
			if t != nil && r.match(t.Name, channel) && !yield(t) {
				return
			}
		}
	}
}

// Len is how many names of a kind have listeners.
func (r *Registry[S]) Len(kind Kind) int { return len(r.topics[kind]) }

// Topics are the names of a kind that have listeners, in their order.
func (r *Registry[S]) Topics(kind Kind) []*Topic[S] {
	return slices.SortedFunc(maps.Values(r.topics[kind]), func(a, b *Topic[S]) int { return cmp.Compare(a.since, b.since) })
}
