package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/doctor"
)

// entry is an entry of a master's log.
type entry struct {
	lab.Entry
	master int // from 0
}

// replay merges the histories and shows them to a doctor for each master.
type replay struct {
	masters int
	entries []entry // of all masters, in the order in which they happened
	ledger  *doctor.Ledger
	doctors []*doctor.Doctor // of the masters
	at      []int            // the index in entries of each order of the ledger
}

// play shows the histories to doctors. Their ledger then has all holdings.
func play(histories []lab.History) (*replay, error) {
	r := &replay{}
	seen := map[int]bool{}
	for _, h := range histories {
		r.masters = max(r.masters, h.Masters)
		if seen[h.Master] {
			return nil, fmt.Errorf("there are two histories of master %d", h.Master)
		}
		seen[h.Master] = true
		for _, e := range h.Entries {
			r.entries = append(r.entries, entry{e, h.Master - 1})
		}
	}
	slices.SortStableFunc(r.entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.Mono, b.Mono), cmp.Compare(a.master, b.master), cmp.Compare(a.Seq, b.Seq))
	})
	r.ledger = doctor.NewLedger(r.masters, len(r.entries)+1)
	r.doctors = make([]*doctor.Doctor, r.masters)
	for i := range r.doctors {
		if !seen[i+1] {
			r.ledger.Absent(i)
		}
		r.doctors[i] = doctor.New(nil, r.ledger, i)
	}
	for i, e := range r.entries {
		if e.Event == lab.EventClock {
			r.ledger.Moved(e.master, e.From, e.To, e.Together)
		} else {
			r.ledger.Passed(e.master, e.Time)
		}
		show(r.doctors[e.master], e, int64(i))
		if r.endsTransaction(i) {
			r.doctors[e.master].Command(doctor.Event{
				Time: e.Time, Mono: int64(i), Client: e.Client, Name: e.Name, DB: e.DB,
				Command: "exec", Args: [][]byte{[]byte("EXEC")},
			})
		}
		for int64(len(r.at)) <= r.ledger.Order() {
			r.at = append(r.at, i)
		}
	}
	return r, nil
}

// endsTransaction reports whether entry i is the last command of an EXEC. The log does not have EXEC itself,
// which has no key. All commands of one EXEC have the same time.
func (r *replay) endsTransaction(i int) bool {
	e := r.entries[i]
	if e.By != doctor.Exec {
		return false
	}
	for _, next := range r.entries[i+1:] {
		if next.master == e.master {
			return next.By != doctor.Exec || next.Client != e.Client || next.Mono != e.Mono
		}
	}
	return true
}

// show reports an entry to a doctor.
func show(d *doctor.Doctor, e entry, number int64) {
	switch {
	case e.Event == lab.EventExpired:
		d.Expired(e.DB, e.Key, e.Time)
	case e.Event == lab.EventCrash && e.Reply != lab.KeysKept, e.Event == lab.EventRestore:
		d.Lost(e.Time)
	case e.ran():
		name := strings.ToLower(e.Cmd[0])
		if name == "script" && len(e.Cmd) > 1 {
			name += "|" + strings.ToLower(e.Cmd[1])
		}
		args := make([][]byte, len(e.Cmd))
		for i, word := range e.Cmd {
			args[i] = []byte(word)
		}
		d.Command(doctor.Event{
			Time: e.Time, Mono: number, Client: e.Client, Name: e.Name, DB: e.DB,
			Command: name, Args: args, By: e.By, Reply: e.encoded(),
		})
	}
}

// ran reports whether the server executed the command, even if the client never learned that.
func (e entry) ran() bool {
	if len(e.Cmd) == 0 || e.Reply == "QUEUED" {
		return false
	}
	switch e.Outcome {
	case lab.Executed, lab.Failed, lab.ReplyLost, lab.ReplyLate, lab.ReplyCut:
		return true
	}
	return false
}

// unanswered reports whether the client does not know the result of its command.
func (e entry) unanswered() bool { return e.Outcome == lab.ReplyLost || e.Outcome == lab.ReplyCut }

// encoded turns the text of the log back into a reply, as far as locks need it.
func (e entry) encoded() []byte {
	_, err := strconv.ParseInt(e.Reply, 10, 64)
	switch {
	case e.Outcome == lab.Failed:
		return []byte("-" + e.Reply + "\r\n")
	case e.Reply == "(nil)":
		return []byte("$-1\r\n")
	case err == nil:
		return []byte(":" + e.Reply + "\r\n")
	case e.Reply == "OK":
		return []byte("+OK\r\n")
	}
	return fmt.Appendf(nil, "$%d\r\n%s\r\n", len(e.Reply), e.Reply)
}

// Lock names a lock: the same key in two databases is two locks.
type Lock struct {
	DB  int
	Key string
}

func (l Lock) String() string {
	if l.DB == 0 {
		return l.Key
	}
	return fmt.Sprintf("%s (db %d)", l.Key, l.DB)
}

// holdings are the holdings of a lock, a table for each master. A lock of one master has one table.
type holdings struct {
	Lock
	tables   [][]doctor.Holding
	overlaps []doctor.Overlap
}

// locks returns the holdings of each wanted lock.
func (r *replay) locks(among func(key string) bool) []holdings {
	byKey := map[Lock][][]doctor.Holding{}
	var keys []Lock
	for master := range r.masters {
		for _, h := range r.ledger.Table(master) {
			if !among(h.Key) {
				continue
			}
			k := Lock{h.DB, h.Key}
			if byKey[k] == nil {
				byKey[k] = make([][]doctor.Holding, r.masters)
				keys = append(keys, k)
			}
			byKey[k][master] = append(byKey[k][master], h)
		}
	}
	slices.SortFunc(keys, func(a, b Lock) int { return cmp.Or(cmp.Compare(a.DB, b.DB), cmp.Compare(a.Key, b.Key)) })
	all := make([]holdings, 0, len(keys))
	for _, key := range keys {
		tables := byKey[key]
		granting := slices.DeleteFunc(slices.Clone(tables), func(t []doctor.Holding) bool { return len(t) == 0 })
		if len(granting) == 1 {
			tables = granting
		}
		all = append(all, holdings{key, tables, doctor.Overlaps(tables)})
	}
	return all
}

// fencing says whether a resource that checks fencing tokens would be safe. A token is a number
// that grows with each holder, made by INCR.
func (r *replay) fencing(both doctor.Overlap) string {
	first, second := r.tokenOf(both.First), r.tokenOf(both.Second)
	if first == "" || second == "" {
		return "the holders have no fencing tokens (an INCR on a watched key when they take the lock): " +
			"nothing can tell the stale holder from the new one"
	}
	a, errA := strconv.ParseInt(first, 10, 64)
	if b, errB := strconv.ParseInt(second, 10, 64); errA != nil || errB != nil || b <= a {
		return fmt.Sprintf("the first holder has token %s, the second %s, which is not higher: "+
			"the counter was lost with the lock, and tokens do not help", first, second)
	}
	return fmt.Sprintf("the first holder has token %s, the second %s: "+
		"a resource that refuses a token lower than one it has seen is safe once the second holder has used it",
		first, second)
}

func (r *replay) tokenOf(t doctor.Term) string {
	for _, v := range t.Votes {
		if token := r.token(v); token != "" {
			return token
		}
	}
	return ""
}

// token returns the reply of the holder's INCR, in the script that took the lock or after it.
func (r *replay) token(v doctor.Vote) string {
	taken := r.entries[v.Event]
	for i := int(v.Event) - 1; i >= 0 && taken.By != ""; i-- {
		e := r.entries[i]
		if e.By != taken.By || e.Client != taken.Client {
			break
		}
		if e.counts() {
			return e.Reply
		}
	}
	for _, e := range r.entries[v.Event+1:] {
		if e.Client != taken.Client || e.master != taken.master {
			continue
		}
		if e.counts() {
			return e.Reply
		}
		if e.ran() && strings.EqualFold(e.Cmd[0], "set") {
			return ""
		}
	}
	return ""
}

func (e entry) counts() bool {
	return e.ran() && (strings.EqualFold(e.Cmd[0], "incr") || strings.EqualFold(e.Cmd[0], "incrby"))
}
