package acl

import (
	"slices"

	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/store"
)

// Denial is the reason of a refusal. Of several reasons, the greatest is reported.
type Denial uint8

// Auth is a wrong password. Check never returns it.
const (
	Allowed Denial = iota
	DeniedCommand
	DeniedKey
	DeniedAuth
	DeniedChannel
	Denials
)

// Request is a command that is about to run, with the keys and channels that it would use.
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

// Check reports whether u may run a request. If not, it returns the reason and the argument at
// fault (acl.c: ACLCheckAllUserCommandPerm).
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

// CheckWithAllKeys reports whether one selector allows both a request and that use of all keys.
// SORT ... BY finds keys that its arguments do not name.
func (u *User) CheckWithAllKeys(r *Request, use Use) bool {
	for i := range u.Selectors {
		s := &u.Selectors[i]
		if d, _ := s.check(r); d == Allowed && s.hasAllKeys(use) {
			return true
		}
	}
	return false
}

// NeedsKeys reports whether a check of u needs the keys of the request.
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
	return s.AllKeys || slices.ContainsFunc(s.Keys, func(k KeyPattern) bool {
		return k.Use&use == use && k.Pattern == "*"
	})
}

// allowsChannel compares a pattern to subscribe to word for word, because the channels that it will
// match are unknown.
func (s *Selector) allowsChannel(name []byte, isPattern bool) bool {
	for _, pattern := range s.Channels {
		if isPattern && pattern == string(name) || !isPattern && store.MatchPattern(pattern, name) {
			return true
		}
	}
	return false
}

// AllowsChannel reports whether u may subscribe to a channel or a pattern.
func (u *User) AllowsChannel(name []byte, isPattern bool) bool {
	for i := range u.Selectors {
		if u.Selectors[i].AllChannels || u.Selectors[i].allowsChannel(name, isPattern) {
			return true
		}
	}
	return false
}

// KeepsChannels reports whether u may subscribe to everything that old may: it has at least the
// same patterns.
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

// channels returns the channel patterns of all selectors.
func (u *User) channels() (all bool, patterns []string) {
	for i := range u.Selectors {
		all = all || u.Selectors[i].AllChannels
		patterns = append(patterns, u.Selectors[i].Channels...)
	}
	return all, patterns
}
