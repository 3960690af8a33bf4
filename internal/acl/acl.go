// Package acl decides who may do what. It knows users, their passwords and their
// rules; it knows neither sockets nor replies, and a command only as a number, a
// name and some categories.
//
//	ACL SETUSER alice on >pw ~app:* +@read (%W~log:* +append)
//	                  └ User ──┘ └ Selector ─┘ └── Selector ─┘
//
// A user has passwords and one or more selectors. A selector is a set of commands,
// of key patterns and of channel patterns; a request is allowed if one selector
// allows all of it. The first selector is the root: what stands outside of
// parentheses changes that one.
//
//	rules.go     text to users and selectors, a rule at a time
//	describe.go  and back
//	check.go     a request against a user
//	users.go     all users: making, changing, deleting them; passwords
//	file.go      many users at once: the aclfile
//	log.go       what was refused
//
// Redis has all of it in acl.c. A Users and what it hands out belong to one
// goroutine.
package acl

import "github.com/miniredisd/miniredisd/internal/ascii"

// Command is a command as rules and checks see it.
type Command struct {
	ID         int    // its place in the list given to New
	Name       string // lower case; "client|kill" for a subcommand
	Categories Category
	Always     bool // needs no permission, as AUTH
	Channels   Channels
	Parent     *Command
	Subs       []*Command
}

// Channels is which arguments of a command are channels.
type Channels uint8

// The first argument is the channel that PUBLISH sends to. All are channels for
// SUBSCRIBE, and patterns for PSUBSCRIBE: those must be allowed word by word.
const (
	NoChannels Channels = iota
	FirstChannel
	EveryChannel
	EveryPattern
)

// Category is a set of categories.
type Category uint32

// The categories in the order of ACL CAT.
const (
	Keyspace Category = 1 << iota
	Read
	Write
	Set
	SortedSet
	List
	Hash
	String
	Bitmap
	HyperLogLog
	Geo
	Stream
	PubSub
	Admin
	Fast
	Slow
	Blocking
	Dangerous
	Connection
	Transaction
	Scripting
)

// Categories are the names of the categories: that of 1<<i is the i-th.
func Categories() [21]string {
	return [21]string{
		"keyspace", "read", "write", "set", "sortedset", "list", "hash", "string", "bitmap", "hyperloglog", "geo",
		"stream", "pubsub", "admin", "fast", "slow", "blocking", "dangerous", "connection", "transaction", "scripting",
	}
}

// Named finds a category by its name in any case; 0 if there is none.
func Named(name string) Category {
	name = ascii.ToLower(name)
	for i, n := range Categories() {
		if n == name {
			return 1 << i
		}
	}
	return 0
}

// Names are the names of the categories in the set.
func (c Category) Names() (names []string) {
	for i, n := range Categories() {
		if c&(1<<i) != 0 {
			names = append(names, n)
		}
	}
	return names
}

// Error is what is wrong with a rule or a request of ACL, in Redis's words.
type Error string

func (e Error) Error() string { return string(e) }

// What is wrong with a rule (acl.c: ACLSetUserStringError).
const (
	errUnknown     Error = "Unknown command or category name in ACL"
	errSyntax      Error = "Syntax error"
	errAllKeys     Error = "Adding a pattern after the * pattern (or the 'allkeys' flag) is not valid and does not have any effect. Try 'resetkeys' to start with an empty list of patterns"
	errAllChannels Error = "Adding a pattern after the * pattern (or the 'allchannels' flag) is not valid and does not have any effect. Try 'resetchannels' to start with an empty list of channels"
	errNoPassword  Error = "The password you are trying to remove from the user does not exist"
	errHash        Error = "The password hash must be exactly 64 characters and contain only lowercase hexadecimal characters"
	errDuplicate   Error = "Duplicate user found. A user can only be defined once in config files"
	errFirstArg    Error = "Allowing first-arg of a subcommand is not supported"
)

// User is who a client has proved to be.
type User struct {
	Name         string
	On           bool // can log in; who has, stays
	NoPass       bool // any password will do
	SkipSanitize bool
	Passwords    []string // SHA-256, in hexadecimal digits
	Selectors    []Selector

	// Free tells that everything is allowed, which most users are: a check that is
	// not made costs nothing.
	Free bool

	bytes int // see Users.Mem
}

// Selector is what one set of rules allows.
type Selector struct {
	AllKeys     bool
	AllChannels bool
	Keys        []KeyPattern
	Channels    []string

	all       bool     // began with +@all: commands of the future are allowed
	rules     []string // "+get" or "-@admin": what came since, as it is to be shown
	allowed   commandSet
	firstArgs map[int][]string // by command: first arguments with which it is allowed though its bit is not set
}

// KeyPattern is which keys may be used, and how.
type KeyPattern struct {
	Pattern string
	Use     Use
}

// Use is what is done with the data of a key.
type Use uint8

// Looking at the key alone, as EXISTS does, is neither.
const (
	ReadKey Use = 1 << iota
	WriteKey
)

// commandSet has a bit for each command, by its ID.
type commandSet [16]uint64

// MaxCommands is how many commands there can be.
const MaxCommands = 64 * len(commandSet{})

func (s *commandSet) has(id int) bool { return s[id/64]&(1<<(id%64)) != 0 }

func (s *commandSet) put(id int, allow bool) {
	if allow {
		s[id/64] |= 1 << (id % 64)
	} else {
		s[id/64] &^= 1 << (id % 64)
	}
}

func (s *commandSet) fill(allow bool) {
	for i := range s {
		s[i] = 0
		if allow {
			s[i] = ^uint64(0)
		}
	}
}

// full tells whether no command has been taken away.
func (s *commandSet) full() bool {
	for _, word := range s {
		if word != ^uint64(0) {
			return false
		}
	}
	return true
}
