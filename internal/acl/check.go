package acl

import (
	"slices"

	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/store"
)

// Denial is why something is refused. Of several reasons the greatest is told.
type Denial uint8

// Auth is a password that was wrong; Check never returns it.
const (
	Allowed Denial = iota
	DeniedCommand
	DeniedKey
	DeniedAuth
	DeniedChannel
	Denials
)

// Request is a command about to run, and what it would touch.
type Request struct {
	Command *Command
	Args    [][]byte // the name first
	Keys    []Key
}

// Key is a key among the arguments.
type Key struct {
	Index int
	Use   Use
}

// Check tells whether u may run a request, or why not and because of which argument
// (acl.c: ACLCheckAllUserCommandPerm).
func (u *User) Check(r *Request) (Denial, int) {
	worst, at := DeniedCommand, 0
	for i := range u.Selectors {
		d, index := u.Selectors[i].check(r)
		if d == Allowed {
			return Allowed, 0
		}
		if d > worst || d == worst && index > at {
			worst, at = d, index
		}
	}
	return worst, at
}

// CheckWithAllKeys tells whether one selector allows a request and also that use of
// all keys there are: SORT ... BY finds keys that its arguments do not name.
func (u *User) CheckWithAllKeys(r *Request, use Use) bool {
	for i := range u.Selectors {
		s := &u.Selectors[i]
		if d, _ := s.check(r); d == Allowed && s.hasAllKeys(use) {
			return true
		}
	}
	return false
}

// NeedsKeys tells whether a request of u is to be checked with its keys.
func (u *User) NeedsKeys() bool {
	for i := range u.Selectors {
		if !u.Selectors[i].AllKeys {
			return true
		}
	}
	return false
}

func (s *Selector) check(r *Request) (Denial, int) {
	if !s.allows(r.Command, r.Args) {
		return DeniedCommand, 0
	}
	if !s.AllKeys {
		for _, k := range r.Keys {
			if !s.allowsKey(r.Args[k.Index], k.Use) {
				return DeniedKey, k.Index
			}
		}
	}
	if !s.AllChannels && r.Command.Channels != NoChannels {
		for i, channel := range channelsOf(r) {
			if !s.allowsChannel(channel, r.Command.Channels == EveryPattern) {
				return DeniedChannel, 1 + i
			}
		}
	}
	return Allowed, 0
}

func channelsOf(r *Request) [][]byte {
	if r.Command.Channels == FirstChannel {
		return r.Args[1:2]
	}
	return r.Args[1:]
}

func (s *Selector) allows(cmd *Command, args [][]byte) bool {
	if cmd.Always || s.allowed.has(cmd.ID) {
		return true
	}
	if len(args) < 2 || s.firstArgs == nil {
		return false
	}
	for _, first := range s.firstArgs[cmd.ID] {
		if ascii.EqualFold(first, string(args[1])) {
			return true
		}
	}
	return false
}

func (s *Selector) allowsKey(key []byte, use Use) bool {
	for i := range s.Keys {
		k := &s.Keys[i]
		if k.Use&use == use && store.MatchPattern(k.Pattern, key) {
			return true
		}
	}
	return false
}

func (s *Selector) hasAllKeys(use Use) bool {
	return s.AllKeys || slices.ContainsFunc(s.Keys, func(k KeyPattern) bool { return k.Use&use == use && k.Pattern == "*" })
}

// allowsChannel compares a pattern to listen by word for word: what it would match
// cannot be known.
func (s *Selector) allowsChannel(name []byte, isPattern bool) bool {
	for _, pattern := range s.Channels {
		if isPattern && pattern == string(name) || !isPattern && store.MatchPattern(pattern, name) {
			return true
		}
	}
	return false
}

// AllowsChannel tells whether u may listen to a channel, or by a pattern.
func (u *User) AllowsChannel(name []byte, isPattern bool) bool {
	for i := range u.Selectors {
		if u.Selectors[i].AllChannels || u.Selectors[i].allowsChannel(name, isPattern) {
			return true
		}
	}
	return false
}

// KeepsChannels tells whether u may listen to all that old may: the same patterns
// and more.
func (u *User) KeepsChannels(old *User) bool {
	all, mine := u.channels()
	oldAll, theirs := old.channels()
	if all || oldAll {
		return all
	}
	for _, pattern := range theirs {
		if !slices.Contains(mine, pattern) {
			return false
		}
	}
	return true
}

// channels joins those of all selectors.
func (u *User) channels() (all bool, patterns []string) {
	for i := range u.Selectors {
		all = all || u.Selectors[i].AllChannels
		patterns = append(patterns, u.Selectors[i].Channels...)
	}
	return all, patterns
}
