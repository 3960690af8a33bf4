package lab

import (
	"strconv"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/server"
)

// LAB PUSH sends a message that the test has made up. A cluster or a proxy sends such messages to clients, and the
// tests of a client need them.

func pushRows() []command.Row {
	return []command.Row{
		Row("push", "client:string kind:string [word:string ...]",
			-4, command.AllowBusy,
			"O(N) for N clients",
			"Sends a push message of the test's own. :15 is the number 15.", (*State).pushOwn),
	}
}

// MaintRows make clients obey messages such as MOVING. They ask for them in the handshake, and ignore them if the
// server refuses, as Redis does.
func MaintRows() []command.Row {
	return []command.Row{
		server.Row("client|maint_notifications", "(enabled: ON | OFF) [MOVING-ENDPOINT-TYPE type]",
			-3, command.NoScript|command.Loading|command.Stale, "connection", labSince,
			"O(1)",
			"Accepts messages about maintenance, which LAB PUSH sends.", maintNotifications),
	}
}

// CLIENT MAINT_NOTIFICATIONS ON | OFF [MOVING-ENDPOINT-TYPE type]
func maintNotifications(_ *server.Server, c *command.Call) error {
	switch {
	case !ascii.EqualFold(c.Args[2], "on") && !ascii.EqualFold(c.Args[2], "off"),
		len(c.Args) != 3 && (len(c.Args) != 5 || !ascii.EqualFold(c.Args[3], "moving-endpoint-type")):
		return server.ErrSyntax
	}
	c.OK()
	return nil
}

// LAB PUSH client kind [word ...]
func (l *State) pushOwn(c *command.Call) error {
	const verb = "push"
	who, words := string(c.Args[2]), c.Args[3:]
	var to []*server.Client
	for _, other := range l.Clients.Order {
		named := isOf(who, other.Sess.Name) || strconv.FormatInt(other.Sess.ID, 10) == who
		if other.Closed || !named || other == l.Running {
			continue
		}
		if other.Sess.Proto < 3 {
			return labError(verb, "client %d speaks RESP2, which has no push messages: it has to say HELLO 3", other.Sess.ID)
		}
		to = append(to, other)
	}
	if len(to) == 0 {
		return labError(verb, "no other client is named '%s'", lab.Printable(who))
	}
	message := ownMessage(words)
	sent := 0
	for _, other := range to {
		if f := Of(other).Fault; f != nil && f.silent {
			continue
		}
		l.PushMessage(other, message)
		sent++
	}
	c.Int(int64(sent))
	return nil
}

// ownMessage returns a push message. A word such as :15 is a number.
func ownMessage(words [][]byte) []byte {
	w := resp.Writer{Proto: 3}
	w.Push(len(words))
	for _, word := range words {
		n, err := int64(0), error(nil)
		isNumber := len(word) > 1 && word[0] == ':'
		if isNumber {
			n, err = strconv.ParseInt(string(word[1:]), 10, 64)
		}
		if isNumber && err == nil {
			w.Int(n)
			continue
		}
		w.Bulk(word)
	}
	return w.Buf
}
