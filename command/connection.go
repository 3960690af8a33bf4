package command

func connectionRows() []Row {
	return []Row{
		{"ping", "[message]", -1, Fast, nil, "connection", "1.0.0", "O(1)", "Answers PONG, or the given message.", ping},
		{"echo", "message", 2, Loading | Stale | Fast, nil, "connection", "1.0.0", "O(1)", "Answers with the given message.", echo},
		{"select", "index:integer", 2, Loading | Stale | Fast, nil, "connection", "1.0.0", "O(1)", "Chooses the database of this connection.", selectDB},
		{"quit", "", -1, AllowBusy | NoScript | Loading | Stale | Fast | NoAuth, nil, "connection", "1.0.0", "O(1)", "Closes the connection.", quit},
	}
}

func ping(c *Call) error {
	switch len(c.Args) {
	case 1:
		c.Status("PONG")
	case 2:
		c.Bulk(c.Args[1])
	default:
		return errArity(c.Cmd.Name)
	}
	return nil
}

func echo(c *Call) error {
	c.Bulk(c.Args[1])
	return nil
}

func selectDB(c *Call) error {
	n, err := c.database(c.Args[1])
	if err != nil {
		return err
	}
	c.Sess.DB = n
	c.OK()
	return nil
}

func quit(c *Call) error {
	c.Sess.CloseAfterReply = true
	c.OK()
	return nil
}
