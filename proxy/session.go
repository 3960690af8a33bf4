package proxy

import (
	"crypto/sha1"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/resp"
)

// session is what the proxy knows of a client by its requests.
type session struct {
	id      int64 // from 1, in the order in which clients come; the upstream has numbers of its own
	name    string
	proto   int
	control bool // it has sent LAB

	multi  bool
	queued []lab.Call // by MULTI, while there are rules
	inside []inside   // by MULTI, while the log watches keys
	database

	asked, answered int64 // how many requests and replies have gone past

	// unpaired is set for good once the client has sent a command that gets another number of replies than one.
	// No rule looks at its requests any more, because nothing shows which reply is whose.
	unpaired bool
}

// longestName is the longest name of a command that track knows.
const longestName = 16

// track takes note of a request that goes past. hears is for its reply, nil if that says nothing more.
func (s *session) track(args [][]byte) (raw bool, hears func(reply []byte)) {
	s.asked++
	if s.queues(args) {
		s.commands++
	}
	if len(args[0]) > longestName {
		return false, nil
	}
	var name [longestName]byte
	switch string(ascii.AppendLower(name[:0], args[0])) {
	case "psync", "sync":
		s.unpaired = true
		return true, nil
	case "subscribe", "psubscribe", "ssubscribe", "unsubscribe", "punsubscribe", "sunsubscribe", "monitor":
		s.unpaired = true
	case "client":
		if len(args) == 3 && ascii.EqualFold(args[1], "setname") {
			s.name = string(args[2])
		}
		s.unpaired = s.unpaired || len(args) > 1 && ascii.EqualFold(args[1], "reply")
	case "hello":
		s.hello(args[1:])
	case "select":
		return false, s.selects(args)
	case "multi":
		return false, s.beginsMulti()
	case "exec":
		return false, s.executes()
	case "discard":
		s.discards()
	case "reset":
		s.endsMulti()
		s.name, s.proto, s.database = "", 2, database{}
	}
	return false, nil
}

func (s *session) hello(args [][]byte) {
	if len(args) > 0 && len(args[0]) == 1 {
		s.proto = int(args[0][0] - '0')
	}
	for i := 1; i+1 < len(args); i++ {
		switch {
		case ascii.EqualFold(args[i], "auth"):
			i += 2
		case ascii.EqualFold(args[i], "setname"):
			s.name = string(args[i+1])
		}
	}
}

// queues reports whether MULTI makes the upstream queue a request.
func (s *session) queues(args [][]byte) bool {
	return s.multi && !slices.ContainsFunc([]string{"exec", "discard", "multi", "watch", "quit", "reset"},
		func(name string) bool { return ascii.EqualFold(args[0], name) })
}

// request describes a request in the terms of rules. It returns nil for one that MULTI queues.
func (l *labState) request(s *session, args [][]byte) *lab.Request {
	call := l.call(args)
	if s.queues(args) {
		for i, key := range call.Keys {
			call.Keys[i] = slices.Clone(key)
		}
		call.Args = slices.Clone(call.Args)
		for i, arg := range call.Args {
			call.Args[i] = slices.Clone(arg)
		}
		s.queued = append(s.queued, call)
		return nil
	}
	q := &lab.Request{Client: s.id, Name: s.name, Control: s.control, Calls: []lab.Call{call}}
	if call.Cmd == "exec" {
		q.Calls = append(q.Calls, s.queued...)
	}
	return q
}

func (l *labState) call(args [][]byte) lab.Call {
	cmd := l.table.find(args)
	if cmd == nil {
		return lab.Call{Cmd: string(ascii.AppendLower(nil, args[0]))}
	}
	call := lab.Call{Cmd: cmd.name, Keys: cmd.keys(args)}
	if l.plan.OnOrder() {
		call.Args = args
	}
	if len(args) < 2 {
		return call
	}
	switch cmd.name {
	case "eval", "eval_ro":
		call.Body = string(args[1])
		call.SHA = l.learnScript(call.Body)
	case "evalsha", "evalsha_ro":
		call.SHA = string(ascii.AppendLower(nil, args[1]))
		body, known := l.scripts[call.SHA]
		call.Body, call.Unknown = body, l.own != nil && !known && len(l.scripts) < mostScripts
	case "fcall", "fcall_ro":
		call.SHA = string(args[1])
	case "script|load":
		if len(args) == 3 {
			l.learnScript(string(args[2]))
		}
	}
	return call
}

// mostScripts bounds the scripts that the proxy remembers.
const mostScripts = 1000

// learnScript remembers the text of a script, and returns its SHA1. If hears does so, it only returns the SHA1.
func (l *labState) learnScript(body string) string {
	sum := sha1.Sum([]byte(body))
	sha := hex.EncodeToString(sum[:])
	if l.own == nil && len(l.scripts) < mostScripts {
		l.scripts[sha] = body
	}
	return sha
}

// hears learns which scripts an upstream has, if the proxy has started it: of each request that is sent.
func (l *labState) hears(args [][]byte) {
	if l.own == nil || len(args) < 2 {
		return
	}
	text := args[1]
	switch loads := ascii.EqualFold(args[0], "script"); {
	case loads && ascii.EqualFold(args[1], "flush"):
		clear(l.scripts)
		return
	case loads && len(args) == 3 && ascii.EqualFold(args[1], "load"):
		text = args[2]
	case !ascii.EqualFold(args[0], "eval") && !ascii.EqualFold(args[0], "eval_ro"):
		return
	}
	if len(l.scripts) < mostScripts {
		sum := sha1.Sum(text)
		l.scripts[hex.EncodeToString(sum[:])] = string(text)
	}
}

// isLab reports whether a request is LAB.
func isLab(args [][]byte) bool { return ascii.EqualFold(args[0], "lab") }

// mayBecomeLab reports whether the front of a request may be the beginning of LAB.
func mayBecomeLab(front []byte) bool {
	text := strings.ToLower(string(front[:min(len(front), longestHead)]))
	if !strings.HasPrefix(text, "*") {
		return begins(text, "lab") // inline
	}
	head, rest, whole := strings.Cut(text, "\n")
	return len(head) <= len("*99\r") && (!whole || begins(rest, "$3\r\nlab"))
}

// longestHead is the longest beginning of a request that mayBecomeLab needs.
const longestHead = len("*99\r\n$3\r\nlab")

// begins reports whether one of the texts is the beginning of the other one.
func begins(a, b string) bool { n := min(len(a), len(b)); return a[:n] == b[:n] }

// writer returns a writer in the protocol of the client.
func (s *session) writer() *resp.Writer { return &resp.Writer{Proto: max(s.proto, 2)} }
