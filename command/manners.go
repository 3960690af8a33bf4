package command

import (
	"github.com/miniredisd/miniredisd/internal/dialect"
	"github.com/miniredisd/miniredisd/store"
)

// Manners are what servers newer than Redis 7.2 do otherwise, without a command or an option of its own. The
// zero value is Redis 7.2. See mannerRows.
type Manners struct {
	strictMulti, multiNames, strictReply  bool
	authFirst                             bool
	bitArguments, openBitcount            bool
	expiryFirst, pastSet, pastExpires     bool
	noSharing, logsCaller, longMembers    bool
	keepsLog, osClock                     bool
	plainScripts, ownWords, anonymous     bool
	engineModule, lateNames               bool
	lastEntry                             bool
	ClientWatch, ClientCapa, ClientThread bool // fields of CLIENT LIST
	ClientTotals                          bool
	InfoZone, InfoStage, InfoHz           bool // fields of INFO server
	InfoThreads                           bool // fields of INFO stats
}

// Manner is one of the manners, for documents: since when each family has it, and what it is.
type Manner struct {
	Since dialect.Since
	Text  string

	on *bool
}

// mannerRows is the place that says since when each family has its manners.
func mannerRows(m *Manners) []Manner {
	return []Manner{
		{",8.0.0", "`MULTI` and `WATCH` inside `MULTI` are refused before they run, so `EXEC` fails", &m.strictMulti},
		{",9.0.0", "the refusal inside `MULTI` names the command with its subcommand", &m.multiNames},
		{",9.1.0", "`CLIENT REPLY` is refused inside `MULTI`", &m.strictReply},
		{",9.0.0", "a client without a user hears `NOAUTH` before anything about its request", &m.authFirst},
		{"7.4.0,8.0.0", "`BITCOUNT` and `BITPOS` check their arguments before the key", &m.bitArguments},
		{",8.0.0", "`BITCOUNT` needs no end", &m.openBitcount},
		{"7.4.0,8.0.0", "`XREAD` takes `+` for the last entry of a stream", &m.lastEntry},
		{",9.1.0", "`GETEX` checks its expiry before the key", &m.expiryFirst},
		{",8.1.0", "`SET` with a time in the past stores nothing, and deletes the old value", &m.pastSet},
		{",8.1.0", "a key that gets a time in the past has expired: the event is `expired`, and `expired_keys` counts it",
			&m.pastExpires},
		{",8.1.0", "small integers are not shared, as `OBJECT REFCOUNT` shows", &m.noSharing},
		{",9.0.0", "`ZADD` chooses the encoding by all its members, even those that it does not add", &m.longMembers},
		{",8.1.0", "the logs of commands name the client that runs a script", &m.logsCaller},
		{",8.1.0", "a log of commands with a length of 0 is off, and keeps its entries", &m.keepsLog},
		{",8.0.0", "scripts hear `Unknown command`, not `Unknown Redis command`", &m.plainScripts},
		{"7.4.0,8.0.0", "scripts have `os.clock`", &m.osClock},
		{",9.0.0", "errors of scripts say `Valkey` and `server.log()`, not `Redis` and `redis.log()`", &m.ownWords},
		{",8.1.0", "`FUNCTION LOAD` checks the names of functions when the text of the library has run", &m.lateNames},
		{",9.1.0", "errors of scripts do not name the script", &m.anonymous},
		{",9.1.0", "`HELLO` lists Lua as a module, and scripts hear the usual error for an unknown subcommand",
			&m.engineModule},
		{"7.4.0,8.0.0", "`watch` in `CLIENT LIST`", &m.ClientWatch},
		{",9.0.0", "`capa` in `CLIENT LIST`", &m.ClientCapa},
		{"8.0.0,", "`io-thread` in `CLIENT LIST`", &m.ClientThread},
		{"8.2.0,8.0.0", "`tot-net-in`, `tot-net-out` and `tot-cmds` in `CLIENT LIST`", &m.ClientTotals},
		{",8.0.0", "`availability_zone` in `INFO`", &m.InfoZone},
		{",8.1.0", "`valkey_release_stage` in `INFO`", &m.InfoStage},
		{",9.1.0", "`clients_hz` in `INFO`", &m.InfoHz},
		{",8.0.0", "`io_threaded_freed_objects` and three more in `INFO`", &m.InfoThreads},
	}
}

// MannersOf returns the manners of a dialect.
func MannersOf(d dialect.Dialect) (m Manners) {
	for _, row := range mannerRows(&m) {
		*row.on = d.Has(row.Since)
	}
	return m
}

// AllManners returns the rows of all manners.
func AllManners() []Manner { return mannerRows(new(Manners)) }

// flags returns the flags that a row has for servers with these manners.
func (m *Manners) flags(row *Row) Flag {
	if m.strictMulti && (row.Name == "multi" || row.Name == "watch") || m.strictReply && row.Name == "client|reply" {
		return row.Flags | NoMulti
	}
	return row.Flags
}

// refusedInMulti returns the error for a command with the flag NoMulti inside MULTI.
func (m *Manners) refusedInMulti(cmd *Command) error {
	if m.multiNames {
		return errorf("ERR Command '%s' not allowed inside a transaction", cmd.Name)
	}
	return errNotInMulti
}

// authBefore returns the error for a request whose name or number of arguments is wrong. cmd is nil if there is no
// such command.
func (ex *Executor) authBefore(s *Session, cmd *Command, err error) error {
	open := s.Authenticated || cmd != nil && cmd.Flags&NoAuth != 0
	if ex.Table.Manners.authFirst && !open && !ex.Users.Open() {
		return errNoAuth
	}
	return err
}

const (
	errCallUnknown store.Error = "ERR Unknown command called from script"
	errCallArity   store.Error = "ERR Wrong number of args calling command from script"
)

// inWords returns one of two errors: in the words of Redis, or in the server's own.
func (m *Manners) inWords(redis, own error) error {
	if m.ownWords {
		return own
	}
	return redis
}

// callError returns the error for a call of a script whose name or number of arguments is wrong.
func (m *Manners) callError(redis, plain error) error {
	if m.plainScripts {
		return plain
	}
	return redis
}
