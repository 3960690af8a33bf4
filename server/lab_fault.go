package server

import (
	"math"
	"slices"
	"strings"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/lab"
)

func (s *Server) labFaultRows() []command.Row {
	const (
		rule = "[CMD command:string] [KEY pattern] [SCRIPT sha1-or-text:string] [CLIENT id-or-pattern:string] [NTH n:integer] [TIMES n:integer] [PROB probability:double] ACTION action:string [argument:string]"
		all  = "O(N) where N is the number of rules, and of clients that are held"
	)
	return []command.Row{
		s.labWordsRow("fault", "(ADD name:string "+rule+") | (DEL name:string) | CLEAR | LIST", -2, all, "Says which requests and messages go wrong, and how.",
			labWord{"ADD", 0, math.MaxInt, command.AllowBusy, s.labFaultAdd},
			labWord{"DEL", 1, 1, command.AllowBusy, s.labFaultDel},
			labWord{"CLEAR", 0, 0, command.AllowBusy, s.labFaultClear},
			labWord{"LIST", 0, 0, command.AllowBusy, s.labFaultList}),
	}
}

func (s *Server) labFaultDel(c *command.Call, args [][]byte) error {
	r := s.lab.plan.Del(string(args[0]))
	if r == nil {
		return labError("fault del", "there is no rule '%s'", lab.Printable(string(args[0])))
	}
	s.lift(r)
	s.arm()
	c.OK()
	return nil
}

func (s *Server) labFaultClear(c *command.Call, _ [][]byte) error {
	s.liftAll()
	s.arm()
	c.OK()
	return nil
}

func (s *Server) liftAll() {
	rules := s.lab.plan.Rules
	s.lab.plan.Clear()
	for _, r := range rules {
		s.lift(r)
	}
}

func (s *Server) labFaultAdd(c *command.Call, args [][]byte) error {
	r, err := lab.ParseRule(args)
	if err != nil {
		return err
	}
	if err := s.checkRule(c, r); err != nil {
		return err
	}
	if err := s.lab.plan.Add(r); err != nil {
		return err
	}
	s.arm()
	c.OK()
	return nil
}

// checkRule refuses what only the server knows to be wrong.
func (s *Server) checkRule(c *command.Call, r *lab.Rule) error {
	if r.Action == lab.Hold && r.ClientID == c.Sess.ID {
		return labError("fault add", "CLIENT %d is this connection, which ACTION HOLD would keep for ever", r.ClientID)
	}
	if r.Cmd == "" || r.Action.OnPush() {
		return nil
	}
	name, sub, _ := strings.Cut(r.Cmd, "|")
	args := [][]byte{[]byte(name)}
	if sub != "" {
		args = append(args, []byte(sub))
	}
	switch cmd := s.ex.Table.Lookup(args); {
	case cmd == nil || cmd.Name != r.Cmd:
		return labError("fault add", "CMD expects the name of a command, or name|subcommand, not '%s'", lab.Printable(r.Cmd))
	case cmd.Group == labGroup:
		return labError("fault add", "CMD %s is never matched: what LAB does, it has to be able to undo", r.Cmd)
	}
	return nil
}

func (s *Server) labFaultList(c *command.Call, _ [][]byte) error {
	c.Array(len(s.lab.plan.Rules))
	for _, r := range s.lab.plan.Rules {
		held := len(s.parkedBy(r.Name))
		c.Map(5)
		c.BulkString("name")
		c.BulkString(r.Name)
		c.BulkString("rule")
		c.BulkString(lab.Printable(lab.Line(r.Words()[1:])))
		c.BulkString("matched")
		c.Int(r.Matched)
		c.BulkString("fired")
		c.Int(r.Fired)
		c.BulkString("held")
		c.Int(int64(held))
	}
	return nil
}

// lift undoes what a rule that is no longer there still does: nobody stays parked by it,
// and nobody waits for it.
func (s *Server) lift(r *lab.Rule) {
	s.unpark(r.Name, len(s.parkedBy(r.Name)))
	s.endBarriers(r.Name)
}

// arm decides whether requests have to be looked at: while there is a rule, a watched key, or
// a client in the middle of a request that a rule had fired for.
func (s *Server) arm() {
	s.lab.armed = len(s.lab.plan.Rules) > 0 || len(s.lab.history.Globs()) > 0 ||
		slices.ContainsFunc(s.order, func(c *client) bool { return c.lab.fault != nil && c.lab.fault.rule != nil })
}
