// Package pubsub knows which subscriber listens to which channel. It knows neither sockets nor replies:
// a subscriber is any comparable value, and the caller delivers the messages.
//
//	SUBSCRIBE a    Channel  ─┐
//	PSUBSCRIBE a*  Pattern  ─┼─> Topic{Name, Subscribers}  <─ PUBLISH a: To(Channel, a) and Matching(a)
//	SSUBSCRIBE a   Shard    ─┘                             <─ SPUBLISH a: To(Shard, a)
//
// Subscribers of a topic are in the order of their subscriptions, as in Redis. Topics are in the order
// of their first subscription. Redis visits them in the order of a hash table (pubsub.c:
// pubsubPublishMessageInternal), so this order is one of the orders that Redis may have.
//
// A Registry belongs to one goroutine and has no lock. A returned list of subscribers is valid until the
// next Subscribe, Unsubscribe or Forget.
package pubsub

import (
	"cmp"
	"iter"
	"maps"
	"slices"
)

// Kind is one of three independent sets of names.
type Kind uint8

// Channel is for SUBSCRIBE, Pattern for PSUBSCRIBE, Shard for SSUBSCRIBE.
const (
	Channel Kind = iota
	Pattern
	Shard
	kinds
)

// Topic is a name with at least one subscriber.
type Topic[S comparable] struct {
	Name        string
	Subscribers []S // in the order of their subscriptions; never empty

	since int64 // the serial number of the first subscription
	index int   // the place of a pattern in Registry.patterns
}

// subscriber holds the topics of one subscriber, each with the serial number of the subscription.
type subscriber[S comparable] [kinds]map[*Topic[S]]int64

// Registry holds all topics and subscribers.
type Registry[S comparable] struct {
	match       func(pattern string, name []byte) bool
	topics      [kinds]map[string]*Topic[S]
	patterns    []*Topic[S] // the topics of kind Pattern, in order; nil in place of a removed one
	gone        int         // the number of nil patterns
	subscribers map[S]*subscriber[S]
	serial      int64 // the number of the last subscription
	bytes       int   // the memory of the topics
}

// topicMem is the memory of a topic with one subscriber, without its name, in bytes.
const topicMem = 128

// New makes an empty registry. match reports whether a pattern matches a channel.
func New[S comparable](match func(pattern string, name []byte) bool) *Registry[S] {
	r := &Registry[S]{match: match, subscribers: map[S]*subscriber[S]{}}
	for kind := range r.topics {
		r.topics[kind] = map[string]*Topic[S]{}
	}
	return r
}

// Subscribe subscribes s to name. It copies name. It reports whether the subscription is new.
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

// Unsubscribe ends the subscription of s to name. It reports whether there was one.
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

// Forget ends all subscriptions of s.
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

// leave removes s from a topic, and the topic if it was the last subscriber.
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

// closeGaps removes the nil patterns. leave calls it once half of the patterns are nil, so that a
// subscriber with many patterns leaves in linear time.
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

// Count returns the number of subscriptions of s of one kind.
func (r *Registry[S]) Count(kind Kind, s S) int {
	if of := r.subscribers[s]; of != nil {
		return len(of[kind])
	}
	return 0
}

// Listens reports whether s has any subscription.
func (r *Registry[S]) Listens(s S) bool { return r.subscribers[s] != nil }

// Total returns the number of subscriptions of s of all kinds.
func (r *Registry[S]) Total(s S) int {
	if of := r.subscribers[s]; of != nil {
		return of.count()
	}
	return 0
}

// Mem returns the approximate memory of the topics, in bytes.
func (r *Registry[S]) Mem() int { return r.bytes }

// Names returns the names of one kind that s is subscribed to, oldest first.
func (r *Registry[S]) Names(kind Kind, s S) []string {
	of := r.subscribers[s]
	if of == nil {
		return nil
	}
	topics := slices.SortedFunc(maps.Keys(of[kind]),
		func(a, b *Topic[S]) int { return cmp.Compare(of[kind][a], of[kind][b]) })
	names := make([]string, len(topics))
	for i, t := range topics {
		names[i] = t.Name
	}
	return names
}

// To returns the subscribers of a name, oldest first. The caller must not change the list.
func (r *Registry[S]) To(kind Kind, name []byte) []S {
	if t := r.topics[kind][string(name)]; t != nil {
		return t.Subscribers
	}
	return nil
}

// Matching yields the patterns that match a channel, oldest first.
func (r *Registry[S]) Matching(channel []byte) iter.Seq[*Topic[S]] {
	return func(yield func(*Topic[S]) bool) {
		for _, t := range r.patterns {
			if t != nil && r.match(t.Name, channel) && !yield(t) {
				return
			}
		}
	}
}

// Len returns the number of topics of one kind.
func (r *Registry[S]) Len(kind Kind) int { return len(r.topics[kind]) }

// Topics returns the topics of one kind, oldest first.
func (r *Registry[S]) Topics(kind Kind) []*Topic[S] {
	return slices.SortedFunc(maps.Values(r.topics[kind]),
		func(a, b *Topic[S]) int { return cmp.Compare(a.since, b.since) })
}
