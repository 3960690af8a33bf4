package miniredis

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/miniredisd/miniredisd/internal/respclient"
	"github.com/miniredisd/miniredisd/resp"
)

// Publish sends a message to a channel and returns the number of receivers.
func (m *Miniredis) Publish(channel, message string) int {
	return int(m.must("PUBLISH", channel, message).Int)
}

// PubSubChannels returns the channels that match a pattern, sorted. The pattern "" matches all.
func (m *Miniredis) PubSubChannels(pattern string) []string {
	if pattern == "" {
		pattern = "*"
	}
	channels := stringsOf(m.must("PUBSUB", "CHANNELS", pattern))
	slices.Sort(channels)
	return channels
}

// PubSubNumSub returns how many subscribers channels have.
func (m *Miniredis) PubSubNumSub(channels ...string) map[string]int {
	counts := map[string]int{}
	reply := m.must(append([]string{"PUBSUB", "NUMSUB"}, channels...)...).Elems
	for i := 0; i+1 < len(reply); i += 2 {
		counts[reply[i].Str] = int(reply[i+1].Int)
	}
	return counts
}

// PubSubNumPat returns how many patterns have a subscriber.
func (m *Miniredis) PubSubNumPat() int { return int(m.must("PUBSUB", "NUMPAT").Int) }

// PubsubMessage is a message of a channel.
type PubsubMessage struct {
	Channel string
	Message string
}

// PubsubPmessage is a message of a channel that matches a pattern.
type PubsubPmessage struct {
	Pattern string
	Channel string
	Message string
}

// Subscriber is a connection that gets messages. Its goroutine reads them:
//
//	the test                      the goroutine of the subscriber
//	Subscribe ── SUBSCRIBE ──> server ──> read
//	   │ waits                             │
//	   │<────────── confirmed ─────────────┤
//	Messages <──────── messages ───────────┘
type Subscriber struct {
	m         *Miniredis
	conn      *respclient.Conn
	confirmed chan struct{} // one for each change
	messages  chan PubsubMessage
	pmessages chan PubsubPmessage
	quit      chan struct{} // closed by Close
	ended     chan struct{} // closed by the goroutine

	mu       sync.Mutex
	channels map[string]bool
	patterns map[string]bool
}

// untaken is how many messages may wait until somebody takes them. The goroutine waits after that.
const untaken = 256

// NewSubscriber connects a subscriber. Close ends it.
func (m *Miniredis) NewSubscriber() *Subscriber {
	conn, err := m.Dial()
	if err != nil {
		m.t.Fatalf("miniredis: %v", err)
	}
	s := &Subscriber{
		m: m, conn: respclient.New(conn, respclient.SmallBuffer),
		confirmed: make(chan struct{}), quit: make(chan struct{}), ended: make(chan struct{}),
		messages: make(chan PubsubMessage, untaken), pmessages: make(chan PubsubPmessage, untaken),
		channels: map[string]bool{}, patterns: map[string]bool{},
	}
	for user, pw := range m.passwords {
		if _, err := s.conn.Do("AUTH", user, pw); err != nil {
			m.t.Fatalf("miniredis: %v", err)
		}
		break
	}
	go s.read()
	return s
}

func (s *Subscriber) send(args ...string) {
	if err := s.conn.Send(resp.AppendRequest(nil, args...)); err != nil {
		s.m.t.Fatalf("miniredis: %s: %v", strings.Join(args, " "), err)
	}
}

// read reads messages until Close, or until the server ends.
func (s *Subscriber) read() {
	defer close(s.ended)
	defer close(s.messages)
	defer close(s.pmessages)
	for {
		v, err := s.conn.Read()
		if err != nil || len(v.Elems) < 3 {
			return
		}
		words := stringsOf(v)
		switch words[0] {
		case "message":
			select {
			case s.messages <- PubsubMessage{words[1], words[2]}:
			case <-s.quit:
			}
		case "pmessage":
			select {
			case s.pmessages <- PubsubPmessage{words[1], words[2], words[3]}:
			case <-s.quit:
			}
		default:
			select {
			case s.confirmed <- struct{}{}:
			case <-s.quit:
			}
		}
	}
}

// change subscribes or unsubscribes, waits until the server has done so, and returns how many
// channels and patterns are left.
func (s *Subscriber) change(word, name string, set map[string]bool, in bool) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if in {
		set[name] = true
	} else {
		delete(set, name)
	}
	s.send(word, name)
	select {
	case <-s.confirmed:
	case <-s.ended:
	}
	return len(s.channels) + len(s.patterns)
}

// Subscribe subscribes to a channel. It returns the number of channels and patterns.
func (s *Subscriber) Subscribe(c string) int { return s.change("SUBSCRIBE", c, s.channels, true) }

// Unsubscribe ends Subscribe.
func (s *Subscriber) Unsubscribe(c string) int { return s.change("UNSUBSCRIBE", c, s.channels, false) }

// Psubscribe subscribes to all channels that match a pattern.
func (s *Subscriber) Psubscribe(pat string) int {
	return s.change("PSUBSCRIBE", pat, s.patterns, true)
}

// Punsubscribe ends Psubscribe.
func (s *Subscriber) Punsubscribe(pat string) int {
	return s.change("PUNSUBSCRIBE", pat, s.patterns, false)
}

// Count returns the number of channels and patterns.
func (s *Subscriber) Count() int { return len(s.Channels()) + len(s.Patterns()) }

// Channels returns the channels, sorted.
func (s *Subscriber) Channels() []string { return s.names(s.channels) }

// Patterns returns the patterns, sorted.
func (s *Subscriber) Patterns() []string { return s.names(s.patterns) }

func (s *Subscriber) names(set map[string]bool) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(set))
}

// Messages returns the messages of channels. It has room for 256 that nobody has taken.
func (s *Subscriber) Messages() <-chan PubsubMessage { return s.messages }

// Pmessages returns the messages of patterns. It has as much room.
func (s *Subscriber) Pmessages() <-chan PubsubPmessage { return s.pmessages }

// Close ends the subscriber and closes its channels.
func (s *Subscriber) Close() {
	close(s.quit)
	_ = s.conn.Close()
	<-s.ended
}
