package command

import "github.com/miniredisd/miniredisd/store"

// clientRows are the subcommands of CLIENT that concern only the client itself. The others are in
// package server/admin, which sees all clients.
func clientRows() []Row {
	return []Row{
		{"client", "",
			-2, KeepsCaching, nil, "connection", "2.4.0",
			"See the subcommands.",
			"Manages client connections.", nil},
		{"client|id", "",
			2, NoScript | Loading | Stale, nil, "connection", "5.0.0",
			"O(1)",
			"Returns the ID of this connection.", clientID},
		{"client|getname", "",
			2, NoScript | Loading | Stale, nil, "connection", "2.6.9",
			"O(1)",
			"Returns the name of this connection.", clientGetName},
		{"client|setname", "connection-name",
			3, NoScript | Loading | Stale | RequestAllNodes | ResponseAllSucceeded, nil, "connection", "2.6.9",
			"O(1)",
			"Sets the name of this connection.", clientSetName},
		{"client|setinfo", "(attr: LIB-NAME libname | LIB-VER libver)",
			4, NoScript | Loading | Stale | RequestAllNodes | ResponseAllSucceeded, nil, "connection", "7.2.0",
			"O(1)",
			"Records the name or version of the client library.", clientSetInfo},
		{"client|capa", "capability:string ...",
			-3, NoScript | Loading | Stale | AllowBusy, nil, "connection", ",8.0.0",
			"O(1)",
			"Says what the client can do. Here it changes nothing but CLIENT LIST.", clientCapa},
		{"client|reply", "(action: ON | OFF | SKIP)",
			3, NoScript | Loading | Stale, nil, "connection", "3.2.0",
			"O(1)",
			"Switches replies to this connection on or off.", clientReply},
		{"client|no-evict", "(enabled: ON | OFF)",
			3, Admin | NoScript | Loading | Stale, nil, "connection", "7.0.0",
			"O(1)",
			"Protects this connection from being closed when clients use too much memory.", clientNoEvict},
		{"client|no-touch", "(enabled: ON | OFF)",
			3, NoScript | Loading | Stale, nil, "connection", "7.2.0",
			"O(1)",
			"Stops this connection's commands from changing the access times of keys.", clientNoTouch},
		{"client|help", "",
			2, Loading | Stale, nil, "connection", "5.0.0",
			"O(1)",
			"Lists the subcommands.", Help},
	}
}

const errClientName store.Error = "ERR Client names cannot contain spaces, newlines or special characters."

// CLIENT ID (networking.c: clientCommand)
func clientID(c *Call) error {
	c.Int(c.Sess.ID)
	return nil
}

// CLIENT GETNAME (networking.c: clientCommand)
func clientGetName(c *Call) error {
	if c.Sess.Name == "" {
		c.Null()
		return nil
	}
	c.BulkString(c.Sess.Name)
	return nil
}

// validName reports whether CLIENT LIST can show name as one word
// (networking.c: validateClientAttr).
func validName(name []byte) bool {
	for _, b := range name {
		if b < '!' || b > '~' {
			return false
		}
	}
	return true
}

// CLIENT SETNAME connection-name (networking.c: clientCommand)
func clientSetName(c *Call) error {
	if !validName(c.Args[2]) {
		return errClientName
	}
	c.Sess.Name = string(c.Args[2])
	c.OK()
	return nil
}

// CLIENT SETINFO LIB-NAME libname | LIB-VER libver (networking.c: clientSetinfoCommand)
func clientSetInfo(c *Call) error {
	opt, val := c.Args[2], c.Args[3]
	var to *string
	switch {
	case is(opt, "lib-name"):
		to = &c.Sess.LibName
	case is(opt, "lib-ver"):
		to = &c.Sess.LibVer
	default:
		return errorf("ERR Unrecognized option '%s'", opt)
	}
	if !validName(val) {
		return errorf("ERR %s cannot contain spaces, newlines or special characters.", opt)
	}
	*to = string(val)
	c.OK()
	return nil
}

// CLIENT CAPA capability ... (networking.c: clientCommand)
func clientCapa(c *Call) error {
	for _, capability := range c.Args[2:] {
		c.Sess.CanRedirect = c.Sess.CanRedirect || is(capability, "redirect")
	}
	c.OK()
	return nil
}

// CLIENT REPLY ON | OFF | SKIP (networking.c: clientCommand)
func clientReply(c *Call) error {
	switch mode := c.Args[2]; {
	case is(mode, "on"):
		c.Sess.Replies = ReplyOn
		c.OK()
	case is(mode, "off"):
		c.Sess.Replies = ReplyOff
	case is(mode, "skip"):
		if c.Sess.Replies != ReplyOff {
			c.Sess.Replies = ReplySkipNext
		}
	default:
		return errSyntax
	}
	return nil
}

// CLIENT NO-EVICT ON | OFF (networking.c: clientCommand)
func clientNoEvict(c *Call) error { return onOff(c, &c.Sess.NoEvict) }

// CLIENT NO-TOUCH ON | OFF (networking.c: clientCommand)
func clientNoTouch(c *Call) error { return onOff(c, &c.Sess.NoTouch) }

func onOff(c *Call, flag *bool) error {
	switch {
	case is(c.Args[2], "on"):
		*flag = true
	case is(c.Args[2], "off"):
		*flag = false
	default:
		return errSyntax
	}
	c.OK()
	return nil
}
