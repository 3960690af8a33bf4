package command

import (
	"math/bits"
	"slices"

	"github.com/miniredisd/miniredisd/internal/acl"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/store"
)

func introspectRows() []Row {
	const cost = "O(N) for all N commands"
	return []Row{
		{"command", "",
			-1, Loading | Stale | InConnection | NondeterministicOrder, nil, "server", "2.8.13",
			cost,
			"Describes all commands.", commandAll},
		{"command|count", "",
			2, Loading | Stale | InConnection, nil, "server", "2.8.13",
			"O(1)",
			"Returns the number of commands.", commandCount},
		{"command|docs", "[command-name ...]",
			-2, Loading | Stale | InConnection | NondeterministicOrder, nil, "server", "7.0.0",
			"O(N) for N commands",
			"Returns the documentation of commands: purpose, arguments and history.", commandDocs},
		{"command|getkeys", "command [arg ...]",
			-3, Loading | Stale | InConnection, nil, "server", "2.8.13",
			"O(N) for N arguments",
			"Lists the keys in a complete command.", commandGetKeys},
		{"command|getkeysandflags", "command [arg ...]",
			-3, Loading | Stale | InConnection, nil, "server", "7.0.0",
			"O(N) for N arguments",
			"Lists the keys in a complete command, and how each is used.", commandGetKeysAndFlags},
		{"command|info", "[command-name ...]",
			-2, Loading | Stale | InConnection | NondeterministicOrder, nil, "server", "2.8.13",
			"O(N) for N commands",
			"Describes commands: arity, flags and keys.", commandInfo},
		{"command|list", "[FILTERBY (filterby: MODULE module-name | ACLCAT category | PATTERN pattern)]",
			-2, Loading | Stale | InConnection | NondeterministicOrder, nil, "server", "7.0.0",
			cost,
			"Lists the names of commands.", commandList},
		{"command|help", "",
			2, Loading | Stale | InConnection, nil, "server", "5.0.0",
			"O(1)",
			"Lists the subcommands.", Help},
	}
}

// name is one flag and its name in replies.
type name struct {
	bit  uint64
	text string
}

func (c *Call) flagSet(set uint64, names []name, prefix string) {
	m, n := c.Defer(), 0
	for _, f := range names {
		if set&f.bit != 0 {
			c.Status(prefix + f.text)
			n++
		}
	}
	c.EndSet(m, n)
}

// commandFlags are the names of a row's flags, in the order of server.c: addReplyFlagsForCommand.
func commandFlags() []name {
	return []name{
		{uint64(Write), "write"}, {uint64(ReadOnly), "readonly"}, {uint64(DenyOOM), "denyoom"},
		{uint64(Admin), "admin"}, {uint64(PubSub), "pubsub"},
		{uint64(NoScript), "noscript"}, {uint64(Blocking), "blocking"}, {uint64(Loading), "loading"},
		{uint64(Stale), "stale"}, {uint64(SkipMonitor), "skip_monitor"}, {uint64(SkipSlowlog), "skip_slowlog"},
		{uint64(Asking), "asking"}, {uint64(Fast), "fast"}, {uint64(NoAuth), "no_auth"},
		{uint64(NoMandatoryKeys), "no_mandatory_keys"},
		{uint64(NoAsyncLoading), "no_async_loading"},
		{uint64(NoMulti), "no_multi"}, {uint64(movableKeys), "movablekeys"}, {uint64(AllowBusy), "allow_busy"},
	}
}

// tips describe the output of a command to clients, and tell proxies how to spread the command over
// shards.
func tips() []name {
	return []name{
		{uint64(NondeterministicOutput), "nondeterministic_output"},
		{uint64(NondeterministicOrder), "nondeterministic_output_order"},
		{uint64(RequestAllNodes), "request_policy:all_nodes"},
		{uint64(RequestAllShards), "request_policy:all_shards"},
		{uint64(RequestMultiShard), "request_policy:multi_shard"},
		{uint64(RequestSpecial), "request_policy:special"},
		{uint64(ResponseOneSucceeded), "response_policy:one_succeeded"},
		{uint64(ResponseAllSucceeded), "response_policy:all_succeeded"},
		{uint64(ResponseAnd), "response_policy:agg_logical_and"},
		{uint64(ResponseSum), "response_policy:agg_sum"},
		{uint64(ResponseMin), "response_policy:agg_min"},
		{uint64(ResponseSpecial), "response_policy:special"},
	}
}

func keyFlags() []name {
	return []name{
		{uint64(RO), "RO"}, {uint64(RW), "RW"}, {uint64(OW), "OW"}, {uint64(RM), "RM"},
		{uint64(Access), "access"}, {uint64(Update), "update"}, {uint64(Insert), "insert"}, {uint64(Delete), "delete"},
		{uint64(NotKey), "not_key"}, {uint64(Incomplete), "incomplete"}, {uint64(VariableFlags), "variable_flags"},
	}
}

// categories returns the ACL categories that follow from a row's flags and group
// (server.c: setImplicitACLCategories).
func (r *Row) categories() (all acl.Category) {
	f := r.Flags
	put := func(category acl.Category, in bool) {
		if in {
			all |= category
		}
	}
	var group acl.Category
	switch {
	case r.Do == nil:
	case r.Group == "generic":
		put(acl.Keyspace, f&NotKeyspace == 0)
	case r.Group == "sorted-set":
		group = acl.SortedSet
	case r.Group == "transactions":
		group = acl.Transaction
	default:
		group = acl.Named(r.Group) // none for group server
	}
	put(group, group != acl.PubSub)
	put(acl.Keyspace, f&InKeyspace != 0)
	put(acl.Read, f&ReadOnly != 0 && group != acl.Scripting)
	put(acl.Write, f&Write != 0)
	put(acl.Set|acl.SortedSet|acl.List, f&OnAnyType != 0)
	put(acl.PubSub, f&PubSub != 0)
	put(acl.Admin|acl.Dangerous, f&(Admin|InAdmin) != 0)
	put(acl.Dangerous, f&Dangerous != 0)
	put(acl.Fast, f&Fast != 0)
	put(acl.Slow, f&Fast == 0)
	put(acl.Blocking, f&Blocking != 0)
	put(acl.Connection, f&InConnection != 0)
	return all
}

// COMMAND (server.c: commandCommand)
func commandAll(c *Call) error {
	c.Raw(c.Ex.Table.description(c.Proto))
	return nil
}

// description returns the entries of all commands as a reply in RESP2 or RESP3. Many clients ask for them when
// they connect, and to write them takes half a millisecond. So they are kept until a command is renamed.
func (t *Table) description(proto int) []byte {
	kept := &t.described[proto-2]
	if *kept == nil {
		c := Call{Writer: &resp.Writer{Proto: proto}}
		all := t.All()
		c.Array(len(all))
		for _, cmd := range all {
			c.describe(cmd)
		}
		*kept = slices.Clone(c.Buf)
	}
	return *kept
}

// COMMAND COUNT (server.c: commandCountCommand)
func commandCount(c *Call) error {
	c.Int(int64(len(c.Ex.Table.All())))
	return nil
}

// COMMAND INFO [command-name ...] (server.c: commandInfoCommand)
func commandInfo(c *Call) error {
	if len(c.Args) == 2 {
		return commandAll(c)
	}
	c.Array(len(c.Args) - 2)
	for _, arg := range c.Args[2:] {
		if cmd := c.Ex.Table.Find(string(arg)); cmd != nil {
			c.describe(cmd)
		} else {
			c.Null()
		}
	}
	return nil
}

// describe writes the entry of one command for COMMAND INFO.
func (c *Call) describe(cmd *Command) {
	c.Array(10)
	c.BulkString(cmd.Name)
	c.Int(int64(cmd.Arity))
	c.flagSet(uint64(cmd.Flags), commandFlags(), "")
	first, last, step := cmd.legacyRange()
	c.Int(int64(first))
	c.Int(int64(last))
	c.Int(int64(step))
	categories := cmd.ACL.Categories.Names()
	c.Set(len(categories))
	for _, name := range categories {
		c.Status("@" + name)
	}
	c.tips(cmd)
	c.Set(len(cmd.Keys))
	for i := range cmd.Keys {
		c.describeKey(&cmd.Keys[i])
	}
	subs := cmd.SubCommands()
	c.Array(len(subs))
	for _, sub := range subs {
		c.describe(sub)
	}
}

func (c *Call) tips(cmd *Command) {
	all := tips()
	n := 0
	for _, t := range all {
		n += bits.OnesCount64(uint64(cmd.Flags) & t.bit)
	}
	c.Set(n)
	for _, t := range all {
		if uint64(cmd.Flags)&t.bit != 0 {
			c.BulkString(t.text)
		}
	}
}

// describeKey writes one key specification.
func (c *Call) describeKey(k *KeySpec) {
	c.Map(3)
	c.BulkString("flags")
	c.flagSet(uint64(k.Flags), keyFlags(), "")
	c.BulkString("begin_search")
	switch {
	case k.unknown():
		c.spec("unknown")
	case k.Keyword != "":
		c.spec("keyword", "keyword", k.Keyword, "startfrom", k.Index)
	default:
		c.spec("index", "index", k.Index)
	}
	c.BulkString("find_keys")
	switch {
	case k.unknown():
		c.spec("unknown")
	case k.NumKeys:
		c.spec("keynum", "keynumidx", 0, "firstkey", k.First, "keystep", max(k.Step, 1))
	default:
		c.spec("range", "lastkey", k.Last, "keystep", max(k.Step, 1), "limit", k.Limit)
	}
}

func (c *Call) spec(typ string, fields ...any) {
	c.Map(2)
	c.BulkString("type")
	c.BulkString(typ)
	c.BulkString("spec")
	c.Map(len(fields) / 2)
	for _, f := range fields {
		if n, ok := f.(int); ok {
			c.Int(int64(n))
		} else {
			c.BulkString(f.(string))
		}
	}
}

// COMMAND LIST [FILTERBY (MODULE ... | ACLCAT ... | PATTERN ...)] (server.c: commandListCommand)
func commandList(c *Call) error {
	keep := func(*Command) bool { return true }
	if len(c.Args) > 2 {
		if len(c.Args) != 5 || !is(c.Args[2], "filterby") {
			return errSyntax
		}
		arg := c.Args[4]
		switch {
		case is(c.Args[3], "module"):
			keep = func(*Command) bool { return false }
		case is(c.Args[3], "aclcat"):
			category := acl.Named(string(arg))
			keep = func(cmd *Command) bool { return cmd.ACL.Categories&category != 0 }
		case is(c.Args[3], "pattern"):
			keep = func(cmd *Command) bool { return store.Match(arg, []byte(cmd.Name), true) }
		default:
			return errSyntax
		}
	}
	m, n := c.Defer(), 0
	for _, cmd := range c.Ex.Table.All() {
		for _, each := range append([]*Command{cmd}, cmd.SubCommands()...) {
			if keep(each) {
				c.BulkString(each.Name)
				n++
			}
		}
	}
	c.EndArray(m, n)
	return nil
}

// COMMAND GETKEYS command [arg ...] (server.c: commandGetKeysCommand)
func commandGetKeys(c *Call) error {
	found, err := c.findKeys()
	if err != nil {
		return err
	}
	c.Array(len(found))
	for _, k := range found {
		c.Bulk(c.Args[2+k.Index])
	}
	return nil
}

// COMMAND GETKEYSANDFLAGS command [arg ...] (server.c: commandGetKeysAndFlagsCommand)
func commandGetKeysAndFlags(c *Call) error {
	found, err := c.findKeys()
	if err != nil {
		return err
	}
	c.Array(len(found))
	for _, k := range found {
		c.Array(2)
		c.Bulk(c.Args[2+k.Index])
		c.flagSet(uint64(k.Flags), keyFlags(), "")
	}
	return nil
}

// findKeys returns the keys of the command in the arguments.
func (c *Call) findKeys() ([]FoundKey, error) {
	args := c.Args[2:]
	cmd := c.Ex.Table.Lookup(args)
	switch {
	case cmd == nil:
		return nil, store.Error("ERR Invalid command specified")
	case !slices.ContainsFunc(cmd.Keys, func(k KeySpec) bool { return k.Flags&NotKey == 0 }):
		return nil, store.Error("ERR The command has no key arguments")
	case !cmd.takes(len(args)):
		return nil, store.Error("ERR Invalid number of arguments specified for command")
	}
	found := cmd.AppendKeys(nil, args)
	if len(found) == 0 && cmd.Flags&NoMandatoryKeys == 0 {
		return nil, errInvalidKeys
	}
	return found, nil
}
