package command

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/miniredisd/miniredisd/internal/acl"
	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/internal/dialect"
)

// Command is a row as a dialect has it, which knows its container and its subcommands. It never changes once
// CommandsOf has returned.
type Command struct {
	Row
	Arguments                     // of the row, empty for none
	word      string              // what clients call it: its name, or that of rename-command
	ahead     ahead               // the keys that are loaded before it runs
	Container *Command            // the command that this is a subcommand of, or nil
	Subs      map[string]*Command // subcommands by their own name, nil for none
	ACL       acl.Command         // what package acl knows of it
	dialect   *dialect.Dialect    // that of the table
	options   []string            // the newer words of its syntax that the dialect has, in lower case
}

// Commands are the commands that a program has in one dialect. They never change, so any number of
// executors can share them. To make them takes longer than to make the rest of a server.
type Commands struct {
	Dialect dialect.Dialect
	Mode    string // of a server that has them, as HELLO and INFO call it
	Manners Manners
	byName  map[string]*Command
	acl     []*acl.Command  // every command and subcommand
	lacking map[string]bool // commands that the dialect has and this program lacks
}

// Table finds commands by name and counts their calls. Each executor has one.
type Table struct {
	Dialect dialect.Dialect
	Mode    string // that of Commands
	Manners Manners

	lacking map[string]bool     // that of Commands
	byName  map[string]*Command // that of Commands, or a copy once a command was renamed
	own     map[string]*Command // that of Commands
	renamed bool                // a command was
	acl     []*acl.Command      // every command, renamed or not
	calls   []Calls             // by Command.ACL.ID
	recent  recent              // table_recent.go

	described [2][]byte // the reply to COMMAND in RESP2 and RESP3, nil until somebody asks
}

// groups returns the rows of this package, one slice for each group.
func groups() [][]Row {
	return [][]Row{
		connectionRows(),
		clientRows(),
		trackingRows(),
		serverRows(),
		slowlogRows(), commandlogRows(),
		latencyRows(),
		memoryRows(),
		stringRows(),
		compareRows(), boundedRows(),
		zsetRows(),
		zsetBlockRows(),
		bitmapRows(),
		keyRows(),
		dumpRows(),
		migrateRows(),
		listRows(),
		listBlockRows(),
		streamRows(),
		geoRows(),
		streamGroupRows(), streamPolicyRows(),
		hyperloglogRows(),
		hashRows(),
		hashTTLRows(),
		setRows(),
		expireRows(),
		sortRows(),
		introspectRows(),
		pubsubRows(),
		transactionRows(),
		scriptRows(),
		functionRows(),
		aclRows(),
	}
}

// NewCommands makes the commands of the default dialect. extra has the rows of other packages: those of
// commands that need to see connections.
func NewCommands(extra ...[]Row) *Commands {
	return CommandsOf(dialect.Named(dialect.Default), extra...)
}

// CommandsOf is NewCommands for any dialect: it leaves out the rows that the dialect lacks.
func CommandsOf(d dialect.Dialect, extra ...[]Row) *Commands {
	all := &Commands{
		Dialect: d, Mode: "standalone", Manners: MannersOf(d), byName: make(map[string]*Command, 256), lacking: lackingIn(d),
	}
	all.addRows(append(groups(), extra...), func(string) bool { return true })
	return all
}

// CommandsOfMode are those of a server that is no database: of this package and of extra it has what keep wants, and
// own are what no other server has.
func CommandsOfMode(mode string, d dialect.Dialect, keep func(name string) bool, own []Row, extra ...[]Row) *Commands {
	all := &Commands{Dialect: d, Mode: mode, Manners: MannersOf(d), byName: map[string]*Command{}}
	all.addRows(append(groups(), extra...), keep)
	all.addRows([][]Row{own}, func(string) bool { return true })
	return all
}

func (all *Commands) addRows(groups [][]Row, keep func(name string) bool) {
	for _, rows := range groups {
		for i := range rows {
			if all.Dialect.Has(rows[i].Since) && keep(rows[i].Name) {
				all.add(rows[i])
			}
		}
	}
}

func newTable(of *Commands) *Table {
	return &Table{
		Dialect: of.Dialect, Mode: of.Mode, Manners: of.Manners, lacking: of.lacking, byName: of.byName, own: of.byName,
		acl: of.acl, calls: make([]Calls, len(of.acl)),
	}
}

// add makes a Command of a row.
func (all *Commands) add(row Row) {
	cmd := &Command{Row: row, word: row.Name, dialect: &all.Dialect, options: newerWords(row.Syntax, all.Dialect)}
	if hasNone(row.Syntax, all.Dialect) {
		cmd.Arity, cmd.Args = 1, nil
	}
	if cmd.Args != nil {
		cmd.Arguments = *cmd.Args
		cmd.ahead = loads(cmd.Keys)
	}
	cmd.Flags = all.Manners.flags(&row)
	if cmd.movable() {
		cmd.Flags |= movableKeys
	}
	cmd.ACL = acl.Command{
		ID: len(all.acl), Name: row.Name, Categories: cmd.categories(),
		Always: cmd.Flags&NoAuth != 0, Channels: cmd.Channels,
	}
	all.acl = append(all.acl, &cmd.ACL)
	container, sub, isSub := strings.Cut(row.Name, "|")
	where := all.byName
	if isSub {
		cmd.Container = all.byName[container]
		if cmd.Container.Subs == nil {
			cmd.Container.Subs = map[string]*Command{}
		}
		cmd.ACL.Parent = &cmd.Container.ACL
		cmd.ACL.Parent.Subs = append(cmd.ACL.Parent.Subs, &cmd.ACL)
		where, container = cmd.Container.Subs, sub
	}
	if where[container] != nil {
		panic(fmt.Sprintf("command %s has two rows", row.Name))
	}
	where[container] = cmd
}

// Rename is the directive rename-command: clients find the command only by its new name, or not at all
// if that is empty. INFO and COMMAND still show the old name.
func (t *Table) Rename(from, to string) error {
	from, to = strings.ToLower(from), strings.ToLower(to)
	cmd := t.byName[from]
	switch {
	case cmd == nil:
		return errors.New("No such command in rename-command")
	case to != from && t.byName[to] != nil:
		return errors.New("Target command name already exists")
	case len(to) > longestName:
		return errors.New("Target command name is too long")
	}
	t.byName, t.renamed = maps.Clone(t.byName), true
	delete(t.byName, from)
	t.recent, t.described = recent{}, [2][]byte{}
	if to != "" {
		renamed := *cmd
		renamed.word = to
		t.byName[to] = &renamed
	}
	return nil
}

// Lookup finds the command of a request, or the subcommand that its second argument names
// (server.c: lookupCommandLogic). For an
// unknown subcommand it returns the container, whose Do is nil. For an unknown command it returns nil.
func (t *Table) Lookup(args [][]byte) *Command {
	return t.lookup(args[0]).sub(args)
}

// LookupOwn is Lookup by the names that commands have without rename-command.
func (t *Table) LookupOwn(args [][]byte) *Command {
	var buf [longestName]byte
	return t.own[string(lowerName(&buf, args[0]))].sub(args)
}

// sub returns the subcommand that args name, or the command itself.
func (cmd *Command) sub(args [][]byte) *Command {
	if cmd == nil || cmd.Subs == nil || len(args) < 2 {
		return cmd
	}
	var buf [longestName]byte
	if sub := cmd.Subs[string(lowerName(&buf, args[1]))]; sub != nil {
		return sub
	}
	return cmd
}

// longestName bounds a command's name. Ours are shorter, but rename-command often gives a hash.
const longestName = 64

// lowerName returns word in lower case, in the memory of buf, or nil if word is longer than any
// command's name.
func lowerName(buf *[longestName]byte, word []byte) []byte {
	if len(word) > longestName {
		return nil
	}
	return ascii.AppendLower(buf[:0], word)
}

// lookup finds a command by its name, in any case (server.c: lookupCommandBySdsLogic).
func (t *Table) lookup(word []byte) *Command {
	if cmd := t.recent.find(word); cmd != nil {
		return cmd
	}
	var buf [longestName]byte
	cmd := t.byName[string(lowerName(&buf, word))]
	t.recent.add(word, cmd)
	return cmd
}

// Find finds a command by a name like "get" or "client|list", or returns nil.
func (t *Table) Find(name string) *Command {
	container, sub, isSub := strings.Cut(strings.ToLower(name), "|")
	cmd := t.byName[container]
	if cmd == nil || !isSub {
		return cmd
	}
	return cmd.Subs[sub]
}

// All returns all commands but subcommands, sorted by name.
func (all *Commands) All() []*Command { return slices.SortedFunc(maps.Values(all.byName), byName) }

// All is Commands.All, with the names that rename-command has left.
func (t *Table) All() []*Command {
	return slices.SortedFunc(maps.Values(t.byName), byName)
}

// Calls returns the counters of cmd.
func (t *Table) Calls(cmd *Command) *Calls { return &t.calls[cmd.ACL.ID] }

// ForgetLatencies drops the histograms of all commands: latency-tracking is off.
func (t *Table) ForgetLatencies() {
	for i := range t.calls {
		t.calls[i].Latency = nil
	}
}

// SubCommands returns the subcommands of a container, sorted by name.
func (c *Command) SubCommands() []*Command {
	return slices.SortedFunc(maps.Values(c.Subs), byName)
}

func byName(a, b *Command) int { return strings.Compare(a.Name, b.Name) }

// takes reports whether cmd accepts n arguments, its name included (server.c: commandCheckArity).
func (c *Command) takes(n int) bool {
	return n == c.Arity || c.Arity < 0 && n >= -c.Arity
}

// NeedsConnection reports whether cmd is about the connection that it comes over.
func (c *Command) NeedsConnection() bool {
	switch c.Group {
	case "connection", "transactions":
		return true
	case "lab": // what waits there needs no socket
		return false
	case "pubsub": // scripts may publish, but not subscribe
		return c.Flags&NoScript != 0
	}
	return c.Flags&(Blocking|Streams) != 0
}

// lacksSubcommand reports whether a request names a subcommand that cmd does not have.
func (c *Command) lacksSubcommand(args [][]byte) bool { return c.Subs != nil && len(args) > 1 }
