package command

import "strings"

// COMMAND DOCS [command-name ...] (server.c: commandDocsCommand)
// redis-cli reads its hints from this reply and aborts on any other form
// (redis-cli.c: cliInitCommandHelpEntry).
func commandDocs(c *Call) error {
	if len(c.Args) == 2 {
		all := c.Ex.Table.All()
		c.Map(len(all))
		for _, cmd := range all {
			c.document(cmd)
		}
		return nil
	}
	m, n := c.Defer(), 0
	for _, arg := range c.Args[2:] {
		if cmd := c.Ex.Table.Find(string(arg)); cmd != nil {
			c.document(cmd)
			n++
		}
	}
	c.EndMap(m, n)
	return nil
}

// document writes the name and the documentation of a command.
func (c *Call) document(cmd *Command) {
	c.BulkString(cmd.Name)
	d := c.Ex.Table.Dialect
	m, n := c.Defer(), 4
	for _, field := range [][2]string{
		{"summary", cmd.Summary}, {"since", cmd.Since.In(d.Family)}, {"group", cmd.Group}, {"complexity", cmd.Complexity},
	} {
		c.BulkString(field[0])
		c.BulkString(field[1])
	}
	n += c.notes(cmd.Name)
	if past := history(cmd.Name, d); len(past) > 0 {
		c.BulkString("history")
		c.Set(len(past))
		for _, change := range past {
			c.Array(2)
			c.BulkString(change[0])
			c.BulkString(change[1])
		}
		n++
	}
	if args := argumentsIn(d, ParseSyntax(cmd.Syntax)); len(args) > 0 {
		c.BulkString("arguments")
		keys := 0
		c.arguments(args, &keys, len(cmd.Keys))
		n++
	}
	if subs := cmd.SubCommands(); len(subs) > 0 {
		c.BulkString("subcommands")
		c.Map(len(subs))
		for _, sub := range subs {
			c.document(sub)
		}
		n++
	}
	c.EndMap(m, n)
}

// arguments writes a list of arguments. The n-th key argument refers to the n-th key specification,
// or to the last one.
func (c *Call) arguments(args []Argument, keys *int, specs int) {
	c.Array(len(args))
	for i := range args {
		a := &args[i]
		m, n := c.Defer(), 2
		c.pair("name", a.Name)
		c.pair("type", a.Type)
		n += c.pairs("display_text", a.Display)
		spec := a.KeySpec
		if a.Type == "key" && spec == 0 {
			spec = min(*keys, specs-1)
			*keys++
		}
		if a.Type == "key" && specs > 0 || a.KeySpec > 0 {
			c.BulkString("key_spec_index")
			c.Int(int64(spec))
			n++
		}
		if a.Token != "" {
			c.pair("token", strings.Trim(a.Token, `"`)) // "" stands for an empty argument
			n++
		}
		n += c.pairs("since", a.Since.In(c.Ex.Table.Dialect.Family), "deprecated_since", a.DeprecatedSince)
		if a.Optional || a.Multiple {
			c.BulkString("flags")
			c.flagSet(a.flags(), argumentFlags(), "")
			n++
		}
		if len(a.Args) > 0 {
			c.BulkString("arguments")
			c.arguments(a.Args, keys, specs)
			n++
		}
		c.EndMap(m, n)
	}
}

// pairs writes names and values, without those whose value is empty. It returns how many it wrote.
func (c *Call) pairs(list ...string) (n int) {
	for i := 0; i < len(list); i += 2 {
		if list[i+1] != "" {
			c.pair(list[i], list[i+1])
			n++
		}
	}
	return n
}

func (c *Call) pair(name, value string) {
	c.BulkString(name)
	c.BulkString(value)
}

func argumentFlags() []name { return []name{{1, "optional"}, {2, "multiple"}, {4, "multiple_token"}} }

func (a *Argument) flags() (set uint64) {
	if a.Optional {
		set |= 1
	}
	if a.Multiple {
		set |= 2
	}
	if a.MultipleToken {
		set |= 4
	}
	return set
}
