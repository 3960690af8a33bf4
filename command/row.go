package command

import (
	"github.com/miniredisd/miniredisd/internal/acl"
	"github.com/miniredisd/miniredisd/internal/dialect"
)

// Row describes one command. Rows are written without field names, in five lines, at the top of the
// file of their group:
//
//	{"getdel", "key",
//		2, Write | Fast, keys(at(1, RW|Access|Delete)), "string", "6.2.0",
//		"O(1)",
//		"Returns the value of a key and deletes the key.", getdel},
type Row struct {
	Name       string        // in lower case; "client|list" is the subcommand LIST of CLIENT
	Syntax     string        // the arguments after the name; syntax.go has the grammar
	Arity      int           // number of arguments with the name; -n means n or more
	Flags      Flag          // properties of the command
	Args       *Arguments    // which arguments are keys, channels, secrets, a script; nil for none of them
	Group      string        // as in COMMAND DOCS: string, hash, generic, connection ...
	Since      dialect.Since // the first version that has it, in each family
	Complexity string
	Summary    string
	Do         func(*Call) error // nil for a container that has only subcommands
}

// Arguments says what the arguments of a command mean to everything outside the command: to ACL
// rules, to MONITOR, to a cluster's client.
type Arguments struct {
	Keys     []KeySpec
	Channels acl.Channels              // which arguments are channels
	Secrets  func(args [][]byte) []int // the arguments that MONITOR and SLOWLOG hide
	Script   scriptKind
}

// scriptKind is what the first argument of EVAL, EVALSHA or FCALL is.
type scriptKind uint8

const (
	noScript scriptKind = iota
	scriptText
	scriptSHA
	functionName
)

// keys says which arguments are keys.
func keys(specs ...KeySpec) *Arguments { return &Arguments{Keys: specs} }

// channels says which arguments are channels, and with specs, where they are.
func channels(which acl.Channels, specs ...KeySpec) *Arguments {
	return &Arguments{Keys: specs, Channels: which}
}

// secrets says which arguments MONITOR and SLOWLOG hide.
func secrets(which func(args [][]byte) []int) *Arguments { return &Arguments{Secrets: which} }

// script is for EVAL and its like. The script uses its keys as flags say.
func script(kind scriptKind, flags KeyFlag) *Arguments {
	return &Arguments{Keys: []KeySpec{counted(2, flags)}, Script: kind}
}

// Hides returns the row with arguments that MONITOR and SLOWLOG hide. It is secrets for rows of other
// packages.
func (r Row) Hides(which func(args [][]byte) []int) Row {
	r.Args = secrets(which)
	return r
}

// Flag is a set of properties of a command (server.h: CMD_*).
type Flag uint64

// The flags. Those that COMMAND INFO shows come first, in its order.
const (
	Write           Flag = 1 << iota // may change the keyspace
	ReadOnly                         // reads keys and changes none
	DenyOOM                          // refused while memory is short
	Admin                            // for operators
	PubSub                           // concerns channels
	NoScript                         // refused in scripts
	Blocking                         // may block its client
	Loading                          // allowed while data is loaded
	Stale                            // allowed on a replica without its master
	SkipMonitor                      // not shown by MONITOR
	SkipSlowlog                      // not noted by SLOWLOG
	Asking                           // cluster: allowed on a slot that is imported
	Fast                             // O(1) or O(log n)
	NoAuth                           // allowed before AUTH
	MayReplicate                     // replicated although it changes nothing here
	NoMulti                          // refused inside MULTI
	movableKeys                      // not all keys are at fixed places; Commands.add finds out
	AllowBusy                        // allowed beside a slow script
	NoMandatoryKeys                  // may have no keys at all
	NoAsyncLoading                   // refused while data is replaced in the background

	Dangerous       // ACL category @dangerous without Admin
	ProtectedDebug  // allowed only if enable-debug-command allows it
	ProtectedModule // allowed only if enable-module-command allows it
	WhileSubscribed // allowed for a RESP2 subscriber
	NotQueued       // runs at once inside MULTI
	RunsQueue       // EXEC: has the flags of the commands that it runs
	EndsMulti       // ends a transaction, so that it needs no memory for the queue
	AllKeys         // changes keys that no argument names
	TouchesAny      // reads keys that no argument names, and so finds expired ones
	AnswersByPush   // replies with messages, which CLIENT REPLY does not suppress
	NeverPaused     // allowed during CLIENT PAUSE
	KeepsCaching    // does not use up a CLIENT CACHING before it
	Streams         // MONITOR: the reply has no end

	// What COMMAND INFO calls tips.
	NondeterministicOutput // the reply depends on more than the arguments and the data
	NondeterministicOrder  // the elements of the reply have no order
	RequestAllNodes        // RequestX: how a proxy spreads the command over a cluster
	RequestAllShards
	RequestMultiShard
	RequestSpecial
	ResponseOneSucceeded // ResponseX: how the proxy joins the replies
	ResponseAllSucceeded
	ResponseAnd
	ResponseSum
	ResponseMin
	ResponseSpecial

	// ACL categories that do not follow from the group or from other flags.
	NotKeyspace  // in group generic but not in @keyspace
	InKeyspace   // in @keyspace but not in group generic
	InConnection // in @connection as well
	InAdmin      // in @admin and @dangerous without Admin
	OnAnyType    // in @set, @sortedset and @list: SORT
)

// KeyFlag says how a command uses a key (server.h: CMD_KEY_*).
type KeyFlag uint16

// The first four exclude each other: they say what happens to the key. The others say what happens to
// its data.
const (
	RO            KeyFlag = 1 << iota // reads the value
	RW                                // reads and changes the value
	OW                                // overwrites the value without reading it
	RM                                // deletes the key
	Access                            // returns or uses data of the value
	Update                            // changes data
	Insert                            // adds data
	Delete                            // removes data
	NotKey                            // a shard channel at the place of a key
	Incomplete                        // the spec does not find all keys
	VariableFlags                     // depends on the arguments
)

// KeySpec finds keys among the arguments (COMMAND INFO's key specifications). It says where the search
// begins and which arguments from there on are keys.
type KeySpec struct {
	Flags KeyFlag

	Index   int    // the search begins at this argument ...
	Keyword string // ... or after this word. The word is searched from Index on, backwards if negative.

	// A range of keys up to Last, which counts from the beginning (if negative, from the end of the
	// arguments). Every Step-th argument is a key. With a Last of -1 and a Limit of n, the range ends
	// after the n-th part of the remaining arguments.
	Last, Step, Limit int

	// With NumKeys, the number of keys stands at the beginning, and the keys First places after it.
	NumKeys bool
	First   int

	// Find finds the keys where no rule does. With an Index of 0, COMMAND INFO shows the spec as unknown.
	Find func(args [][]byte) []int

	// Uses returns the flags for these arguments, if Flags has VariableFlags.
	Uses func(cmd *Command, args [][]byte) KeyFlag
}

// unknown reports whether only the server can find the keys.
func (k *KeySpec) unknown() bool { return k.Find != nil && k.Index == 0 }

// at is one key at a fixed place.
func at(index int, flags KeyFlag) KeySpec { return KeySpec{Flags: flags, Index: index, Step: 1} }

// varying is one key at a fixed place. The other arguments say how it is used.
func varying(index int, flags KeyFlag, uses func(cmd *Command, args [][]byte) KeyFlag) KeySpec {
	return KeySpec{Flags: flags | VariableFlags, Index: index, Step: 1, Uses: uses}
}

// span is every step-th argument from first to last. A negative last counts from the end.
func span(first, last, step int, flags KeyFlag) KeySpec {
	if last > 0 {
		last -= first
	}
	return KeySpec{Flags: flags, Index: first, Last: last, Step: step}
}

// counted is a number of keys at index, followed by the keys.
func counted(index int, flags KeyFlag) KeySpec {
	return KeySpec{Flags: flags, Index: index, NumKeys: true, First: 1, Step: 1}
}
