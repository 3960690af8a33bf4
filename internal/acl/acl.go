// Package acl decides which user may do what. It knows users, their passwords and their rules. It
// knows no sockets and no replies. A command is a number, a name and some categories to it.
//
//	ACL SETUSER alice on >pw ~app:* +@read (%W~log:* +append)
//	                  └ User ──┘ └ Selector ─┘ └── Selector ─┘
//
// A user has passwords and one or more selectors. A selector is a set of commands, of key patterns
// and of channel patterns. A request is allowed if one selector allows all of it. The first
// selector is the root: rules outside of parentheses change the root.
//
//	rules.go     text to users and selectors, one rule at a time
//	describe.go  users and selectors to text
//	check.go     a request against a user
//	users.go     all users: making, changing, deleting them; passwords
//	file.go      many users at once: the aclfile
//	log.go       refused requests
//
// In Redis all of this is in acl.c. Only the goroutine that executes commands may use a Users and
// the values that it returns.
package acl

import "github.com/miniredisd/miniredisd/internal/ascii"

// Command is a command as rules and checks see it.
type Command struct {
	ID         int    // index in the list given to New
	Name       string // lower case; "client|kill" for a subcommand
	Categories Category
	Always     bool // needs no permission, like AUTH
	Channels   Channels
	Parent     *Command
	Subs       []*Command
}

// Channels says which arguments of a command are channels.
type Channels uint8

// For PUBLISH, the first argument is a channel. For SUBSCRIBE, all arguments are channels. For
// PSUBSCRIBE, all are patterns, which must be allowed word for word.
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

// Named finds a category by its name in any case. It returns 0 if there is no such category.
func Named(name string) Category {
	name = ascii.ToLower(name)
	for i, n := range Categories() {
		if n == name {
			return 1 << i
		}
	}
	return 0
}

// Names returns the names of the categories in the set.
func (c Category) Names() (names []string) {
	for i, n := range Categories() {
		if c&(1<<i) != 0 {
			names = append(names, n)
		}
	}
	return names
}

// Error is the reason why a rule or a request of ACL is wrong, in Redis's words.
type Error string

func (e Error) Error() string { return string(e) }

// The errors of rules (acl.c: ACLSetUserStringError).
const (
	errUnknown Error = "Unknown command or category name in ACL"
	errSyntax  Error = "Syntax error"
	errAllKeys Error = "Adding a pattern after the * pattern (or the 'allkeys' flag) is not valid and does " +
		"not have any effect. Try 'resetkeys' to start with an empty list of patterns"
	errAllChannels Error = "Adding a pattern after the * pattern (or the 'allchannels' flag) is not valid and " +
		"does not have any effect. Try 'resetchannels' to start with an empty list of channels"
	errNoPassword Error = "The password you are trying to remove from the user does not exist"
	errHash       Error = "The password hash must be exactly 64 characters and contain only lowercase " +
		"hexadecimal characters"
	errDuplicate Error = "Duplicate user found. A user can only be defined once in config files"
	errFirstArg  Error = "Allowing first-arg of a subcommand is not supported"
)

// User is a user. A client that has authenticated points at one.
type User struct {
	Name         string
	On           bool // may log in; clients that have logged in stay
	NoPass       bool // any password will do
	SkipSanitize bool
	Passwords    []string // SHA-256, in hexadecimal digits
	Selectors    []Selector

	// Free means that the user may do anything. Most users are free, and their requests need
	// no check.
	Free bool

	bytes int // see Users.Mem
}

// Selector is the set of permissions that one group of rules gives.
type Selector struct {
	AllKeys     bool
	AllChannels bool
	Keys        []KeyPattern
	Channels    []string

	all       bool     // began with +@all, so commands of later versions are allowed
	rules     []string // later rules, as they are shown: "+get", "-@admin"
	allowed   commandSet
	firstArgs map[int][]string // first arguments that are allowed for a command without its bit
}

// KeyPattern is a pattern of keys and the use of them that it allows.
type KeyPattern struct {
	Pattern string
	Use     Use
}

// Use is what a command does with the data of a key.
type Use uint8

// Looking at the key alone, as EXISTS does, is neither.
const (
	ReadKey Use = 1 << iota
	WriteKey
)

// commandSet has a bit for each command, by its ID.
type commandSet [16]uint64

// MaxCommands is the greatest number of commands.
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

// full reports whether all commands are in the set.
func (s *commandSet) full() bool {
	for _, word := range s {
		if word != ^uint64(0) {
			return false
		}
	}
	return true
}
