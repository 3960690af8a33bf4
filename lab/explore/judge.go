package explore

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/doctor"
	"github.com/miniredisd/miniredisd/lab/holders"
	"github.com/miniredisd/miniredisd/lab/verdict"
	languages "github.com/miniredisd/miniredisd/lab/words"
)

// ruling is what a trial has shown.
type ruling struct {
	mark    Mark
	why     string
	finding *Finding // of a mark that has to be confirmed
	struck  bool     // every fault has hit its point
	chance  bool     // another trial may show something else
	fired   bool     // a fault has hit something
}

// judge decides what a trial has shown.
func (e *Explorer) judge(t Trial, o Outcome) ruling {
	if o.Unknown != "" {
		return ruling{mark: Undecided, why: o.Unknown, struck: true}
	}
	j := &judgement{e: e, t: t, o: o, r: ruling{struck: true}}
	for i, s := range t.Strikes {
		fired, hit := e.hits(ruleName(i), s, o.Histories)
		j.r.struck, j.r.fired = j.r.struck && hit, j.r.fired || fired
	}
	rules := []func() bool{j.verdict, j.unsafe, j.forEver, j.hangs, j.missed, j.kept, j.undecided, j.left, j.failed,
		j.differs, j.stopped}
	for _, decides := range rules {
		if decides() {
			return j.r
		}
	}
	j.r.mark = Fine
	j.unmet()
	return j.r
}

// hits reports whether a rule has fired, and whether that was at the point of a strike.
func (e *Explorer) hits(rule string, s Strike, histories []lab.History) (fired, hit bool) {
	p := &e.points[s.Point]
	for _, en := range merged(histories) {
		if en.Event != rule {
			continue
		}
		name := en.Cmd[0]
		same := strings.EqualFold(name, p.Command) || scripts(name) && scripts(p.Command) && !e.faults[s.Fault].bySHA
		return true, same || p.Message || p.Command == "EXEC"
	}
	return false, false
}

// scripts reports whether a command is EVAL or EVALSHA: one follows the other.
func scripts(name string) bool { return strings.HasPrefix(strings.ToLower(name), "eval") }

// judgement is one call of judge. Each method below is a rule: it reports whether it has decided.
type judgement struct {
	e *Explorer
	t Trial
	o Outcome
	v *verdict.Verdict
	r ruling
}

// broken makes the finding of a mark.
func (j *judgement) broken(mark Mark, harm Harm, lock string, clients ...string) *Finding {
	f := &Finding{
		Strikes: j.t.Strikes, Harm: harm, Lock: lock, Clients: clients,
		Output: j.o.Output, History: withoutNotes(j.o.Histories),
	}
	if j.o.Loop != nil {
		f.Loop = j.o.Loop()
	}
	j.r.mark, j.r.finding = mark, f
	f.explain()
	f.Commands = j.e.commands(j.t, j.o.Histories)
	if j.v != nil && j.v.Grants > 0 {
		f.SVG = map[string][]byte{}
		for _, j.v.Language = range []languages.Language{languages.Chinese, languages.English} {
			var picture bytes.Buffer
			j.v.Title = f.title(j.v.Language)
			_ = j.v.SVG(&picture) // a Buffer takes everything
			f.SVG[string(j.v.Language)] = picture.Bytes()
		}
	}
	f.Sentence = j.e.sentence(f)
	return f
}

// verdict looks for two holders, and for a history without a legal order.
func (j *judgement) verdict() bool {
	judges := j.e.judges(j.o.Histories)
	v, err := verdict.JudgeLocks(withoutNotes(j.o.Histories), func(key string) bool {
		return !j.e.limited(key) && judges(key)
	})
	if err != nil {
		j.r.mark, j.r.why = Undecided, err.Error()
		return true
	}
	j.v = v
	if !v.Violated() {
		return false
	}
	if why := j.e.awake(j.t, j.o.Histories); why != "" {
		j.r.mark, j.r.why = Undecided, why
		return true
	}
	first := v.Violations()[0]
	if len(v.TwoHolders) == 0 {
		f := j.broken(Broken, NoLegalOrder, first.Key)
		f.Reason, f.Fix = cmp.Or(f.Reason, timeless(first.Why)), cmp.Or(f.Fix, first.Fix)
		return true
	}
	f := j.broken(Broken, TwoHolders, first.Key, j.holders(first)...)
	f.Reason, f.Fix = cmp.Or(f.Reason, timeless(first.Why)), cmp.Or(f.Fix, first.Fix)
	if j.e.opt.Exact {
		f.From = j.since(first.Time)
		f.Sentence = j.e.sentence(f)
	}
	return true
}

// holders returns the two clients of a violation: that of its first step, and the last other one.
func (j *judgement) holders(v verdict.Violation) []string {
	if len(v.Steps) < 2 {
		return nil
	}
	first, last := v.Steps[0], v.Steps[len(v.Steps)-1]
	for _, s := range v.Steps[1:] {
		if s.Client != 0 && s.Client != first.Client {
			last = s
		}
	}
	return []string{j.e.nameOf(first, j.o.Histories), j.e.nameOf(last, j.o.Histories)}
}

// nameOf returns how points name the client of a step.
func (e *Explorer) nameOf(s holders.Step, histories []lab.History) string {
	all, _ := e.look(histories)
	for _, sn := range all {
		if sn.client == s.Client && sn.Master == max(s.Master, 1) {
			return e.nameOfPoint(sn)
		}
	}
	return cmp.Or(s.Name, "a client")
}

// nameOfPoint returns the name of a client as in the report: its own name if it has it in each run.
func (e *Explorer) nameOfPoint(s seen) string {
	for i := range e.points {
		if e.points[i].named && e.points[i].Client == s.name {
			return s.name
		}
	}
	return number(s.order)
}

// since returns the time from the start of the run to a time of the servers' clock, in unix ms.
func (j *judgement) since(ms int64) time.Duration {
	for _, en := range merged(j.o.Histories) {
		return time.Duration(max(ms-en.Time, 0)) * time.Millisecond
	}
	return 0
}

func (j *judgement) unsafe() bool {
	if j.o.Unsafe == "" {
		return false
	}
	f := j.broken(Broken, CheckFails, "")
	if f.Reason = j.o.Unsafe; j.e.opt.InTest {
		f.Sentence = strings.TrimSuffix(f.Sentence, j.e.harmOf(f)+".") + "the test says: " + j.o.Unsafe + "."
	}
	return true
}

// forEver looks for a lock without a lease that nobody gives up.
func (j *judgement) forEver() bool {
	if j.o.Hung && !j.o.Woke && j.stuck() {
		return false
	}
	for _, g := range j.remaining() {
		if g.ttl == -1 && !j.e.base.left[g.glob] {
			j.broken(Broken, ForEver, g.key)
			return true
		}
	}
	return false
}

// stuck reports whether a fault lets a client hang that has no timeout.
func (j *judgement) stuck() bool {
	return slices.ContainsFunc(j.t.Strikes, func(s Strike) bool { return j.e.faults[s.Fault].stuck })
}

// hangs judges a program that was not over in time, although all leases have ended since.
func (j *judgement) hangs() bool {
	if !j.o.Hung || j.o.Woke {
		return false
	}
	lost := slices.ContainsFunc(j.t.Strikes, func(s Strike) bool {
		return j.e.points[s.Point].Message || j.e.points[s.Point].Command == "PUBLISH"
	})
	if lost && j.o.Waiting > 0 {
		j.broken(Broken, NeverWakes, j.anyLock())
		return true
	}
	j.broken(Hangs, NeverEnds, "")
	if j.o.Waiting > 0 {
		j.r.why = "a client still waits for a message"
	}
	return true
}

// anyLock returns the lock that the strikes are about, or the first one.
func (j *judgement) anyLock() string {
	for _, p := range j.e.points {
		if !p.Message && p.Command != "PUBLISH" {
			return p.Key
		}
	}
	return ""
}

func (j *judgement) missed() bool {
	if j.r.struck {
		return false
	}
	j.r.mark, j.r.why = NotReached, notCome
	return true
}

const notThere = "just before the request database 0 did not have the lock: there was nothing to evict"

// kept judges a trial that should have evicted a lock which was not there.
func (j *judgement) kept() bool {
	evicts := slices.ContainsFunc(j.t.Strikes, func(s Strike) bool { return j.e.faults[s.Fault].deed == evict })
	evicted := slices.ContainsFunc(merged(j.o.Histories), func(en entry) bool { return en.Event == lab.EventEvicted })
	if !evicts || evicted {
		return false
	}
	j.r.mark, j.r.why = NotTried, notThere
	return true
}

// undecided says what the verdict cannot tell.
func (j *judgement) undecided() bool {
	switch {
	case j.v.Missing > 0:
		j.r.mark, j.r.why = Undecided, "the log had no room for all commands"
	case len(j.v.Undecided) > 0:
		j.r.mark, j.r.why = Undecided, timeless(j.v.Undecided[0].Why)+j.alsoLeft()
	case len(j.v.NotJudged) > 0:
		j.r.mark, j.r.why = NotJudged, timeless(j.v.NotJudged[0].Why)
	default:
		return false
	}
	return true
}

// timeless returns a reason without its times of day, which differ in each run.
func timeless(why string) string {
	return regexp.MustCompile(` (at|until) \d\d:\d\d:\d\d\.\d{3}`).ReplaceAllString(why, "")
}

// left looks for locks that stay until their leases end.
func (j *judgement) left() bool {
	for _, g := range j.remaining() {
		if g.ttl > 0 && !j.e.base.left[g.glob] {
			if j.e.opt.Strict {
				j.broken(Broken, OtherHarm, g.key)
				return true
			}
			j.r.mark, j.r.why = LeftBehind, g.key+" is free again when its lease ends"
			return true
		}
	}
	return false
}

func (j *judgement) failed() bool {
	switch {
	case j.o.Failed != "":
		j.r.mark, j.r.why = Noticed, strings.TrimSuffix(j.o.Failed+": "+lastLine(j.o.Output), ": ")
	case j.o.Woke:
		j.r.mark, j.r.why = LeftBehind, "the program went on when the leases ended"
	default:
		return false
	}
	return true
}

// leftover is a lock that exists when the program is over.
type leftover struct {
	key, glob string
	ttl       int64
}

// remaining returns the locks that exist. Nobody can give back what is on a master that has gone.
func (j *judgement) remaining() []leftover {
	return j.e.remaining(j.o.Scene, func(master int) bool {
		return slices.ContainsFunc(j.t.Strikes, func(s Strike) bool {
			return j.e.faults[s.Fault].deed == gone && j.e.points[s.Point].Master == master
		})
	})
}

// remaining returns the locks that exist on the masters that are not left out.
func (e *Explorer) remaining(s Scene, without func(master int) bool) (all []leftover) {
	grants, _ := e.grants(s.Histories) // the verdict has reported the error
	for _, g := range grants {
		ttl := s.TTL(g.Master+1, g.DB, raw(g.Key))
		known := slices.ContainsFunc(all, func(l leftover) bool { return l.key == g.Key })
		if ttl != -2 && !known && !e.limited(g.Key) && !without(g.Master+1) {
			all = append(all, leftover{g.Key, e.lockOf(g.Key), ttl})
		}
	}
	return all
}

// keepLeft notes the locks that exist after a run without a fault.
func (e *Explorer) keepLeft(o Outcome) {
	for _, l := range e.remaining(o.Scene, func(int) bool { return false }) {
		e.base.left[l.glob] = true
	}
}

// awake returns why a lease that a trial has ended proves nothing: its client was not held as a whole.
func (e *Explorer) awake(t Trial, histories []lab.History) string {
	if !slices.ContainsFunc(t.Strikes, func(s Strike) bool { return e.faults[s.Fault].action[0] == "HOLD" }) {
		return ""
	}
	grants, _ := e.grants(histories) // the verdict has reported the error
	var held entry
	moved := false
	for _, en := range merged(histories) {
		switch {
		case strings.HasPrefix(en.Event, "explore-") && en.Outcome == lab.Held:
			held = en
		case en.Event == lab.EventClock:
			moved = held.Client != 0
		case moved && en.Client == held.Client && en.master == held.master:
			moved = false // it continues
		case !moved || en.By != "" || len(en.Cmd) == 0 || en.Client == 0:
		case slices.ContainsFunc(grants, func(g holders.Vote) bool { return grantedTo(g, en) }):
		case e.renewsFor(en, held):
			return "another connection renews the lock of the client that was held: it has not paused as a whole"
		}
	}
	return ""
}

// grantedTo reports whether a grant is that of a connection.
func grantedTo(g holders.Vote, en entry) bool {
	return g.Client == en.Client && g.Master+1 == en.master
}

// renewsFor reports whether a request renews a lock for the client that is held, or may do so.
func (e *Explorer) renewsFor(en, held entry) bool {
	about, ok := doctor.Describe(en.Cmd)
	if !ok || !slices.ContainsFunc(about.Keys, func(key string) bool { return e.lockOf(key) != "" }) {
		return false
	}
	shared := slices.ContainsFunc(en.Cmd[1:], func(w string) bool {
		return len(w) >= 8 && !slices.Contains(about.Keys, w) && slices.Contains(held.Cmd[1:], w) && !isScript(en, w)
	})
	return about.Renews || shared
}

// isScript reports whether a word is the script of a request.
func isScript(en entry, word string) bool {
	return scripts(en.Cmd[0]) && len(en.Cmd) > 1 && en.Cmd[1] == word
}

// withoutNotes returns the histories without the entries about messages.
func withoutNotes(histories []lab.History) []lab.History {
	all := slices.Clone(histories)
	for i := range all {
		all[i].Entries = slices.DeleteFunc(slices.Clone(all[i].Entries), func(en lab.Entry) bool { return en.Event == noted })
	}
	return all
}

// lastLine returns the last line that says something.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}
