package command

func slowlogRows() []Row {
	return []Row{
		{"slowlog", "",
			-2, 0, nil, "server", "2.2.12",
			"See the subcommands.",
			"Manages the log of slow commands.", nil},
		{"slowlog|get", "[count]",
			-2, Admin | Loading | Stale | RequestAllNodes | NondeterministicOutput, nil, "server", "2.2.12",
			"O(N) to return N entries",
			"Returns the newest entries of the slow log.", slowlogGet},
		{"slowlog|len", "",
			2, Admin | Loading | Stale | RequestAllNodes | ResponseSum | NondeterministicOutput, nil, "server",
			"2.2.12",
			"O(1)",
			"Counts the entries of the slow log.", slowlogLen},
		{"slowlog|reset", "",
			2, Admin | Loading | Stale | RequestAllNodes | ResponseAllSucceeded, nil, "server", "2.2.12",
			"O(N) for N entries in the log",
			"Deletes all entries of the slow log.", slowlogReset},
		{"slowlog|help", "",
			2, Loading | Stale, nil, "server", "6.2.0",
			"O(1)",
			"Lists the subcommands.", Help},
	}
}

// SLOWLOG GET [count] (slowlog.c: slowlogCommand)
func slowlogGet(c *Call) error {
	count := int64(10)
	switch {
	case len(c.Args) > 3:
		return c.SubcommandSyntax()
	case len(c.Args) == 3:
		var err error
		if count, err = entryCount(c.Args[2]); err != nil {
			return err
		}
	}
	c.entries(&c.Ex.logs.slow, count)
	return nil
}

// SLOWLOG LEN (slowlog.c: slowlogCommand)
func slowlogLen(c *Call) error {
	c.Int(int64(len(c.Ex.logs.slow.entries)))
	return nil
}

// SLOWLOG RESET (slowlog.c: slowlogCommand)
func slowlogReset(c *Call) error {
	c.Ex.logs.slow.reset()
	c.OK()
	return nil
}
