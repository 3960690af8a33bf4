package explore

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/verdict"
)

func number(order int) string { return "#" + strconv.Itoa(order) }

// sentence says what a fault does, in one sentence.
func (e *Explorer) sentence(f *Finding) string {
	var causes []string
	for _, s := range f.Strikes {
		causes = append(causes, fmt.Sprintf(e.faults[s.Fault].cause, e.requestOf(s.Point)))
	}
	harm := e.harmOf(f)
	if len(causes) == 0 {
		return "Without any fault, " + harm + "."
	}
	return "If " + strings.Join(causes, " and ") + ", " + harm + "."
}

func (e *Explorer) harmOf(f *Finding) string {
	switch f.Harm {
	case TwoHolders:
		who := "two clients"
		if len(f.Clients) == 2 {
			who = f.Clients[0] + " and " + f.Clients[1]
		}
		text := who + " both hold " + f.Lock
		if f.From > 0 {
			text += fmt.Sprintf(" from +%.1f s", f.From.Seconds())
		}
		return text
	case NoLegalOrder:
		return "no order of the operations on " + f.Lock + " is legal"
	case ForEver:
		return "nobody can ever take " + f.Lock + " again"
	case NeverWakes:
		return "a client waits for " + f.Lock + " for ever"
	case CheckFails:
		return "the check after the run fails"
	case NeverEnds:
		return e.opt.explored() + " does not end"
	}
	return f.Lock + " stays taken until its lease ends, and nobody holds it"
}

// requestOf names a point in a sentence: a's second SET.
func (e *Explorer) requestOf(at int) string {
	p := &e.points[at]
	what := p.Command
	if p.Message {
		what = "message from " + p.Key
	}
	text := fmt.Sprintf("%s's %s %s", p.Client, ordinal(e.place(at)), what)
	if len(e.locks) > 1 && !p.Message {
		text += " on " + p.Key
	}
	if e.opt.Masters > 1 {
		text += fmt.Sprintf(" to master %d", p.Master)
	}
	return text
}

// place returns the number of a point among those of its client with the same command.
func (e *Explorer) place(at int) int {
	p, n := &e.points[at], 1
	for i := range e.points {
		q := &e.points[i]
		sameOwner := q.Client == p.Client && q.Key == p.Key && q.Master == p.Master
		if sameOwner && q.Message == p.Message && q.Command == p.Command && q.N < p.N {
			n++
		}
	}
	return n
}

func ordinal(n int) string {
	words := []string{"first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"}
	if n <= len(words) {
		return words[n-1]
	}
	switch {
	case n%100/10 == 1:
		return fmt.Sprintf("%dth", n)
	case n%10 == 1:
		return fmt.Sprintf("%dst", n)
	case n%10 == 2:
		return fmt.Sprintf("%dnd", n)
	case n%10 == 3:
		return fmt.Sprintf("%drd", n)
	}
	return fmt.Sprintf("%dth", n)
}

// commands returns the LAB commands that make a trial again. What a person has to do between them is a comment.
func (e *Explorer) commands(t Trial, histories []lab.History) (lines []string) {
	at := func(o Order) string {
		if (e.opt.Masters > 1 || o.Master > 1) && strings.ToUpper(o.Words[1]) != "ALL" {
			return lab.Line(append([]string{"LAB", "MASTER", strconv.Itoa(o.Master)}, o.Words[1:]...))
		}
		return lab.Line(o.Words)
	}
	if words := e.opt.Server(); len(words) > 0 {
		lines = append(lines, "# The server has "+strings.Join(words, " ")+".")
	}
	if e.opt.Foreign != "" {
		lines = append(lines, "# The server is "+e.opt.On+", behind a proxy.")
	}
	for _, glob := range e.locks {
		for node := range e.opt.Nodes() {
			lines = append(lines, at(Order{node + 1, words("LOG WATCH", glob)}))
		}
	}
	for master := range e.opt.Masters {
		if e.opt.Replica {
			lines = append(lines, at(Order{master + 1, words(replicaLags)}))
		}
	}
	for i, s := range t.Strikes {
		lines = append(lines, at(e.strike(i, s)))
	}
	for _, s := range t.Strikes[:min(len(t.Strikes), 2-len(t.Strikes))] {
		for _, o := range e.turns(s) {
			lines = append(lines, at(o))
		}
	}
	for i, s := range t.Strikes {
		p, f := &e.points[s.Point], &e.faults[s.Fault]
		if f.deed == byRule {
			continue
		}
		lines = append(lines, "# start the program, then:",
			at(Order{p.Master, words(fmt.Sprintf("HOLD WAIT %s 60000", ruleName(i)))}))
		lines = append(lines, e.heldCommands(t, i, at, histories)...)
	}
	return lines
}

// heldCommands returns what to send while a rule holds a client.
func (e *Explorer) heldCommands(t Trial, i int, at func(Order) string, histories []lab.History) (lines []string) {
	p, f := &e.points[t.Strikes[i].Point], &e.faults[t.Strikes[i].Fault]
	send := func(line string) { lines = append(lines, at(Order{p.Master, words(line)})) }
	switch f.deed {
	case restart:
		send("CRASH LOSE NOTHING")
		return lines
	case forget:
		send("CRASH LOSE ALL")
		return lines
	case gone:
		send("CRASH DOWN 3600000 LOSE NOTHING")
		return lines
	case powerCut:
		send("CRASH LOSE UNSYNCED")
		return lines
	case failover:
		for _, o := range e.takeOver(p.Master) {
			lines = append(lines, at(o))
		}
	case promotion, lateSentinel, slotMoves, slotHalf, oldMap:
		for _, o := range e.acted[heldAt{t.ID, i}] {
			lines = append(lines, at(o))
		}
	case badFsync:
		send("DISK FAIL FSYNC NTH 1 EIO")
	case diskFull:
		send("DISK FAIL WRITE ENOSPC")
	case evict:
		if p.glob != globOf(p.Key) {
			lines = append(lines, "# LAB EVICT the key that "+cmp.Or(p.Key, "the lock")+" is in this run, then:")
			break
		}
		lines = append(lines, at(Order{p.Master, words("EVICT", p.Key)}))
	}
	if ms := e.passed[heldAt{t.ID, i}]; e.opt.Exact && ms > 0 {
		move := fmt.Sprintf("CLOCK ADVANCE %d", (ms+999)/1000*1000)
		if e.opt.Masters > 1 {
			move = "ALL " + move
		}
		send(move)
		histories = nil // time has passed without a word in the log
	}
	for _, en := range merged(histories) {
		if en.Event == lab.EventClock && en.To > en.From {
			ms := wholeLease(histories, en.To-en.From-1) // leaseOf has added 1
			move := fmt.Sprintf("CLOCK ADVANCE %d", (ms+999)/1000*1000)
			if en.Together {
				move = "ALL " + move
			}
			send(move)
			break
		}
	}
	if f.deed == pause {
		lines = append(lines, OthersGoOn)
	}
	send("FAULT DEL " + ruleName(i))
	return lines
}

// wholeLease returns the lease of which so much was left, in ms. What is left differs in each run by the time that the
// program took, and the commands of a finding must not. It is the shortest lease that is as long. If all are shorter,
// as after a renewal, it is what was left.
func wholeLease(histories []lab.History, left int64) (lease int64) {
	grants, _ := verdict.Grants(histories) // without grants, what was left has to do
	for _, g := range grants {
		if g.Lease >= left && (lease == 0 || g.Lease < lease) {
			lease = g.Lease
		}
	}
	return max(lease, left, 1)
}
