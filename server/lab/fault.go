package lab

import (
	"math"
	"slices"
	"strings"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/labreply"
	"github.com/miniredisd/miniredisd/server"
)

func faultRows() []command.Row {
	const (
		rule = "[CMD command:string] [KEY pattern] [SCRIPT sha1-or-text:string] [CLIENT id-or-pattern:string] " +
			"[ORDER n:integer] [NTH n:integer] [TIMES n:integer] [PROB probability:double] " +
			"ACTION action:string [argument:string]"
		all = "O(N) where N is the number of rules, and of clients that wait"
	)
	return []command.Row{
		wordsRow("fault", "(ADD name:string "+rule+") | (DEL name:string) | CLEAR | LIST",
			-2, all,
			"Adds, removes and lists rules for faults.",
			labWord{"ADD", 0, math.MaxInt, command.AllowBusy, (*State).faultAdd},
			labWord{"DEL", 1, 1, command.AllowBusy, (*State).faultDel},
			labWord{"CLEAR", 0, 0, command.AllowBusy, (*State).faultClear},
			labWord{"LIST", 0, 0, command.AllowBusy, (*State).faultList}),
	}
}

func (l *State) faultDel(c *command.Call, args [][]byte) error {
	r := l.plan.Del(string(args[0]))
	if r == nil {
		return labError("fault del", "there is no rule '%s'", printable(args[0]))
	}
	l.lift(r)
	l.arm()
	c.OK()
	return nil
}

func (l *State) faultClear(c *command.Call, _ [][]byte) error {
	l.liftAll()
	l.arm()
	c.OK()
	return nil
}

// liftAll removes all rules.
func (l *State) liftAll() {
	rules := l.plan.Rules
	l.plan.Clear()
	for _, r := range rules {
		l.lift(r)
	}
}

func (l *State) faultAdd(c *command.Call, args [][]byte) error {
	r, err := lab.ParseRule(args)
	if err != nil {
		return err
	}
	if err := l.checkRule(c, r); err != nil {
		return err
	}
	if err := l.plan.Add(r); err != nil {
		return err
	}
	l.arm()
	c.OK()
	return nil
}

// checkRule refuses a rule for reasons that only the server knows.
func (l *State) checkRule(c *command.Call, r *lab.Rule) error {
	if r.Action == lab.Hold && r.ClientID == c.Sess.ID {
		return labError("fault add", "CLIENT %d is this connection: ACTION HOLD would hold it for ever", r.ClientID)
	}
	if r.Cmd == "" || r.Action.OnPush() {
		return nil
	}
	name, sub, _ := strings.Cut(r.Cmd, "|")
	args := [][]byte{[]byte(name)}
	if sub != "" {
		args = append(args, []byte(sub))
	}
	switch cmd := l.Ex.Table.Lookup(args); {
	case cmd == nil || cmd.Name != r.Cmd:
		return labError("fault add", "CMD expects the name of a command, or name|subcommand, not '%s'", lab.Printable(r.Cmd))
	case cmd.Group == labGroup:
		return labError("fault add", "CMD %s never matches: rules do not apply to LAB", r.Cmd)
	}
	return nil
}

func (l *State) faultList(c *command.Call, _ [][]byte) error {
	labreply.Rules(c.Writer, l.plan.Rules, func(rule string) int { return len(l.parkedBy(rule)) })
	return nil
}

// lift ends what a removed rule still does: its clients are released, and every wait for it ends.
func (l *State) lift(r *lab.Rule) {
	l.unpark(r.Name, len(l.parkedBy(r.Name)))
	l.endBarriers(r.Name)
}

// arm decides whether to look at every request. Rules need that while there is one, or while a rule's fault is still
// to come for a request. The log needs it while a key is watched.
func (l *State) arm() {
	l.ruled = len(l.plan.Rules) > 0 || slices.ContainsFunc(l.Clients.Order, isStruck)
	l.armed = l.ruled || len(l.history.Globs()) > 0
}

// isStruck reports whether the fault of a rule is still to come for the request of c.
func isStruck(c *server.Client) bool { f := Of(c).Fault; return f != nil && f.Rule != nil }
