package proxy

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/resp"
)

// What a script or an EXEC has changed is logged as a server logs it: a command inside for each change, and behind them
// the request. The proxy sees no command of a script. It names the one that has this effect.

// logInside logs a request and the changes that it has made.
func (l *labState) logInside(u *underway, e *lab.Entry, all []lab.Change) {
	var cmd *command
	if u.args != nil {
		cmd = l.table.find(u.args)
	}
	whole := false // it is about all keys, as FLUSHALL is
	switch {
	case u.args == nil:
		e.Changes = all
	case u.call.Cmd == "exec":
		l.logQueued(u, e, all)
	case cmd != nil && cmd.runs:
		if len(all) > 0 {
			l.ledger.run++
		}
		for _, c := range all {
			for _, step := range steps(c) {
				in := inner(e, u.call.SHA, l.ledger.run)
				in.Cmd, in.Reply, in.Kind = commandFor(step, strings.ToLower(u.call.Body), e.Time)
				in.Key, in.DB, in.Changes = step.Key, step.DB, []lab.Change{step}
				l.log.Add(in)
			}
		}
	default:
		e.Changes = all
		whole = cmd != nil && cmd.isWhole()
	}
	if e.Key == "" && len(e.Changes) > 0 && !whole {
		e.Key = e.Changes[0].Key
	}
	if l.log.Watched(u.call.Keys) != nil || len(e.Changes) > 0 || u.rule != nil || whole {
		l.log.Add(*e)
	}
}

// inner begins an entry of a command inside of a request.
func inner(e *lab.Entry, by string, run int64) lab.Entry {
	return lab.Entry{Time: e.Time, Mono: e.Mono, Client: e.Client, Name: e.Name, DB: e.DB, Event: lab.EventCommand,
		By: by, Run: run, Outcome: lab.Executed}
}

// logQueued logs the commands of an EXEC on watched keys. A key that several of them write has states in between that
// nobody has seen.
func (l *labState) logQueued(u *underway, e *lab.Entry, all []lab.Change) {
	replies := elements(u.reply)
	changes := make([][]lab.Change, len(u.queued))
	for _, c := range all {
		if replies != nil && len(replies) == len(u.queued) && l.assign(u, c, changes) {
			continue
		}
		e.Changes = append(e.Changes, *changeOf(keyAt{c.DB, c.Key}, unreadable(c.Before), unreadable(c.After), true))
	}
	if replies == nil || len(replies) != len(u.queued) {
		return
	}
	l.ledger.run++
	for i, q := range u.queued {
		key := l.log.Watched(q.call.Keys)
		if key == nil && len(changes[i]) == 0 {
			continue
		}
		in := inner(e, "exec", l.ledger.run)
		in.Cmd, in.Key, in.DB, in.Changes = lab.Words(q.args), lab.Printable(string(key)), q.db, changes[i]
		in.Keys = l.log.AllWatched(q.args, q.call.Keys)
		in.Outcome = lab.OutcomeOf(nil, replies[i], true)
		in.Reply, in.Kind = lab.Reply(replies[i]), lab.Kind(replies[i])
		if key == nil {
			in.Key = changes[i][0].Key
		}
		l.log.Add(in)
	}
}

// assign gives a change to the commands of an EXEC that have made it. It reports whether that is certain.
func (l *labState) assign(u *underway, c lab.Change, changes [][]lab.Change) bool {
	var writers []int
	for i, q := range u.queued {
		keys, reads := l.touchedBy(q)
		names := func(k keyAt) bool { return k.db == c.DB && lab.Printable(k.key) == c.Key }
		if !reads && slices.ContainsFunc(keys, names) {
			writers = append(writers, i)
		}
	}
	lasts := func(i int) bool { return strings.Contains(u.queued[i].call.Cmd, "expire") }
	switch {
	case len(writers) == 1:
		changes[writers[0]] = append(changes[writers[0]], c)
	case len(writers) == 2 && c.Before == nil && c.After != nil && lasts(writers[1]) && !lasts(writers[0]):
		endless := copyOf(c.After)
		endless.Deadline = 0
		first, second := c, c
		first.After, second.Before = endless, copyOf(endless)
		second.Before.Parts, second.After = nil, copyOf(c.After)
		second.After.Parts = nil
		changes[writers[0]] = append(changes[writers[0]], first)
		changes[writers[1]] = append(changes[writers[1]], second)
	default:
		return false
	}
	return true
}

// elements returns the elements of an array, nil for any other reply.
func elements(reply []byte) [][]byte {
	head, rest, _ := bytes.Cut(reply, []byte("\r\n"))
	if len(head) < 2 || head[0] != '*' || head[1] == '-' {
		return nil
	}
	all := [][]byte{}
	var cutter resp.Cutter
	for len(rest) > 0 {
		n, kind, err := cutter.Cut(rest)
		if err != nil || kind == 0 {
			return nil
		}
		all = append(all, rest[:n])
		rest = rest[n:]
	}
	return all
}

// steps splits a change of a collection that has lost parts and got others: one command does not do both.
func steps(c lab.Change) []lab.Change {
	if c.Before == nil || c.After == nil || c.Before.Type != c.After.Type || c.After.Type == "string" {
		return []lab.Change{c}
	}
	var gone, altered []lab.Part
	for _, p := range c.Before.Parts {
		if slices.ContainsFunc(c.After.Parts, func(q lab.Part) bool { return q.Name == p.Name }) {
			altered = append(altered, p)
		} else {
			gone = append(gone, p)
		}
	}
	if len(gone) == 0 || len(c.After.Parts) == 0 || c.After.Type == "list" {
		return []lab.Change{c}
	}
	first, second := c, c
	first.Before, second.Before = copyOf(c.Before), copyOf(c.Before)
	first.Before.Parts, second.Before.Parts = gone, altered
	first.After = copyOf(second.Before)
	first.After.Parts = nil
	first.After.Len = c.Before.Len - len(gone)
	second.Before.Len = first.After.Len
	return []lab.Change{first, second}
}

// commandFor returns a command that makes a change, and its reply. body is the text of the script, in lower case.
func commandFor(c lab.Change, body string, now int64) (words []string, reply, kind string) {
	says := func(word string) bool { return strings.Contains(body, word) }
	was, is := c.Before, c.After
	switch {
	case is == nil && says("expire") && !says("'del'") && !says(`"del"`) && !says("unlink"):
		return []string{"pexpire", c.Key, "0"}, "1", ":"
	case is == nil:
		return []string{"del", c.Key}, "1", ":"
	case is.Unread:
		return []string{"set", c.Key, "..."}, "OK", "+"
	case was != nil && was.Type == is.Type && was.Text == is.Text && len(was.Parts)+len(is.Parts) == 0:
		if is.Deadline == 0 {
			return []string{"persist", c.Key}, "1", ":"
		}
		return []string{"pexpire", c.Key, lease(is, now)}, "1", ":"
	case is.Type == "string":
		if n, counts := step(was, is); counts && says("incr") {
			return []string{"incrby", c.Key, strconv.FormatInt(n, 10)}, is.Text, ":"
		}
		words = []string{"set", c.Key, is.Text}
		if was == nil && says("nx") {
			words = append(words, "NX")
		}
		if is.Deadline > 0 {
			words = append(words, "PX", lease(is, now))
		}
		return words, "OK", "+"
	}
	return partsCommand(c, says)
}

// lease returns how many ms a key has left.
func lease(v *lab.Value, now int64) string { return strconv.FormatInt(v.Deadline-now, 10) }

// step returns by how much a number has grown, and reports whether a key has been one, or has not existed.
func step(was, is *lab.Value) (n int64, counts bool) {
	n, err := strconv.ParseInt(is.Text, 10, 64)
	if was == nil {
		return n, err == nil && is.Deadline == 0
	}
	old, bad := strconv.ParseInt(was.Text, 10, 64)
	return n - old, err == nil && bad == nil && was.Type == "string"
}

// partsCommand is commandFor for parts of a collection.
func partsCommand(c lab.Change, says func(string) bool) (words []string, reply, kind string) {
	is := c.After
	adds := len(is.Parts) > 0
	name := map[string][2]string{
		"hash": {"hdel", "hset"}, "set": {"srem", "sadd"}, "zset": {"zrem", "zadd"}, "list": {"lrem", "rpush"},
		"stream": {"xdel", "xadd"},
	}[is.Type]
	if !adds {
		words = []string{name[0], c.Key}
		if is.Type == "zset" && says("zremrangeby") {
			words[0] = "zremrangebyscore"
		}
		for _, p := range c.Before.Parts {
			words = append(words, p.Name)
		}
		return words, strconv.Itoa(len(words) - 2), ":"
	}
	words = []string{name[1], c.Key}
	for _, p := range is.Parts {
		switch is.Type {
		case "hash":
			words = append(words, p.Name, p.Value)
		case "zset":
			words = append(words, p.Value, p.Name)
		default:
			words = append(words, p.Name)
		}
	}
	return words, strconv.Itoa(len(is.Parts)), ":"
}
