package command

// Row describes one command. Rows are written positionally, at the top of the
// file of their group.
type Row struct {
	Name       string // lower case; "client|list" is the subcommand LIST of CLIENT
	Syntax     string // arguments after the name, see syntax.go for the grammar
	Arity      int    // arguments with the name, at least -Arity when negative
	Flags      Flag
	Keys       []KeySpec
	Group      string // as in COMMAND DOCS: string, hash, generic, connection ...
	Since      string // the Redis version that brought it
	Complexity string
	Summary    string
	Do         func(*Call) error // nil for a container that has only subcommands
}

// Flag is what the executor and clients have to know of a command
// (server.h: CMD_*).
type Flag uint64

// The flags, in the order COMMAND INFO lists them.
const (
	Write           Flag = 1 << iota // may change the keyspace
	ReadOnly                         // looks at keys and changes none
	DenyOOM                          // refused when memory is used up
	ModuleCmd                        // never set: there are no modules
	Admin                            // for operators
	PubSub                           // has to do with channels
	NoScript                         // not from a script
	Blocking                         // may hold its client
	Loading                          // also while data is loaded
	Stale                            // also on a replica that lost its master
	SkipMonitor                      // not shown by MONITOR
	SkipSlowlog                      // not noted by SLOWLOG
	Asking                           // cluster: taken from importing slots
	Fast                             // O(1) or O(log n)
	NoAuth                           // before AUTH too
	MayReplicate                     // changes nothing here but is replicated
	NoMulti                          // not inside MULTI
	MovableKeys                      // keys are not at fixed places
	AllowBusy                        // also while a script has been running too long
	NoMandatoryKeys                  // can be called without any key
	Dangerous                        // ACL category only: @dangerous without being Admin
	ProtectedDebug                   // refused unless enable-debug-command allows it
	HiddenArgs                       // arguments are secrets: MONITOR and SLOWLOG blank them
	NoAsyncLoading                   // not while data is replaced in the background
	WhileSubscribed                  // by a RESP2 client that listens to channels too
	NotQueued                        // runs at once inside MULTI
	AnswersByPush                    // its answers are messages, which CLIENT REPLY does not switch off
	NeverPaused                      // also while CLIENT PAUSE holds all others

	// What COMMAND INFO calls tips.
	NondeterministicOutput // the answer depends on more than the arguments and the data
	NondeterministicOrder  // the elements come in no order
	RequestAllNodes        // how a proxy spreads the command over a cluster ...
	RequestAllShards
	RequestMultiShard
	RequestSpecial
	ResponseOneSucceeded // ... and joins the answers
	ResponseAllSucceeded
	ResponseAnd
	ResponseSum
	ResponseMin
	ResponseSpecial

	// ACL categories that neither group nor other flags tell.
	NotKeyspace  // of the generic group but not in @keyspace
	InKeyspace   // in @keyspace but not of the generic group
	InConnection // in @connection too
	InAdmin      // in @admin and @dangerous without the flag
	OnAnyType    // in @set, @sortedset and @list: SORT
)

// KeyFlag says what a command does with a key (server.h: CMD_KEY_*).
type KeyFlag uint16

// The first four are exclusive: how the key's metadata and value are used; the
// others say what is done with the data in it.
const (
	RO            KeyFlag = 1 << iota // reads the value
	RW                                // reads and changes it
	OW                                // overwrites it without looking
	RM                                // removes the key
	Access                            // returns or uses data of the value
	Update                            // changes data
	Insert                            // adds data
	Delete                            // removes data
	NotKey                            // looks like a key, is none
	Incomplete                        // the spec cannot name all keys
	VariableFlags                     // depends on the arguments
)

// KeySpec finds keys among the arguments (COMMAND INFO's key specifications):
// where the search begins, then which arguments from there on.
type KeySpec struct {
	Flags KeyFlag

	Index   int    // begin at this argument ...
	Keyword string // ... or behind this word, looked for from argument Index on (from the end when negative)

	// A range: up to Last behind the beginning (negative: from the end), every Step-th.
	// Limit, when Last is -1: stop at a half, a third ... of the arguments left.
	Last, Step, Limit int

	// Or a number of keys: NumKeys is set, the number stands at the beginning, the
	// keys First behind it.
	NumKeys bool
	First   int

	// What only the command itself can tell. If Index is 0, clients are told just that.
	Find func(args [][]byte) []int

	// Uses tells, where Flags are VariableFlags, what these arguments make of them.
	Uses func(args [][]byte) KeyFlag
}

// unknown reports whether only the server can find the keys.
func (k *KeySpec) unknown() bool { return k.Find != nil && k.Index == 0 }

func keys(specs ...KeySpec) []KeySpec { return specs }

// at is one key at a fixed place.
func at(index int, flags KeyFlag) KeySpec { return KeySpec{Flags: flags, Index: index, Step: 1} }

// varying is one key at a fixed place, used as the other arguments say.
func varying(index int, flags KeyFlag, uses func(args [][]byte) KeyFlag) KeySpec {
	return KeySpec{Flags: flags | VariableFlags, Index: index, Step: 1, Uses: uses}
}

// span is every step-th argument from first to last (negative: from the end).
func span(first, last, step int, flags KeyFlag) KeySpec {
	if last > 0 {
		last -= first
	}
	return KeySpec{Flags: flags, Index: first, Last: last, Step: step}
}

// counted is a number of keys at index with the keys right behind it.
func counted(index int, flags KeyFlag) KeySpec {
	return KeySpec{Flags: flags, Index: index, NumKeys: true, First: 1, Step: 1}
}
