package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/doctor"
	"github.com/miniredisd/miniredisd/lab/holders"
	"github.com/miniredisd/miniredisd/lab/proof"
)

// entry is an entry of a master's log.
type entry struct {
	lab.Entry
	master int // from 0; with replicas the node
}

// replay merges the histories and shows them to a doctor for each master.
type replay struct {
	masters int     // that vote: those of a cluster are one voter
	servers int     // masters that do not follow another one
	cluster bool    // of one process, whose masters do not vote
	proxied bool    // a proxy has written the logs
	nodes   []node  // with replicas they are more than the masters
	entries []entry // of all masters, in the order in which they happened
	ledger  *doctor.Ledger
	doctors []*doctor.Doctor // of the nodes
	at      []int            // the index in entries of each order of the ledger
	proof   *proof.Proof     // nil if the logs do not have what happened to the keys
}

// play reads the histories. Its ledger then has all holdings. What happened to the keys decides. The doctors decide if
// the histories do not have that.
func play(histories []lab.History) (*replay, error) {
	r, err := merge(histories)
	if err == nil && !r.prove(histories) {
		r.examine()
	}
	return r, err
}

// merge puts the entries of the histories in order.
func merge(histories []lab.History) (*replay, error) {
	r := &replay{
		cluster: slices.ContainsFunc(histories, func(h lab.History) bool { return h.Cluster }),
		proxied: slices.ContainsFunc(histories, func(h lab.History) bool { return h.Proxy }),
	}
	if err := r.findNodes(histories); err != nil {
		return nil, err
	}
	for _, at := range lab.InOrder(histories) {
		h := histories[at.History]
		r.entries = append(r.entries, entry{h.Entries[at.Index], h.Number() - 1})
	}
	r.ledger = doctor.NewLedger(r.masters, len(r.entries)+1)
	r.replicate()
	if len(r.entries) > 0 {
		r.ledger.Begin(r.start())
	}
	return r, nil
}

// examine shows the histories to doctors, which tell the ledger of the holdings.
func (r *replay) examine() {
	r.doctors = make([]*doctor.Doctor, len(r.nodes))
	for i, n := range r.nodes {
		if !n.seen {
			r.ledger.Holders.Absent(i)
		}
		r.doctors[i] = doctor.Over(len(r.entries), r.ledger, i)
	}
	r.foresee()
	r.roles()
	for i, e := range r.entries {
		letOthersIn(i)
		r.ledger.Holders.At(e.Mono)
		r.doctors[e.master].At(e.Offset)
		if e.Event == lab.EventClock {
			r.ledger.Holders.Moved(e.master, e.From, e.To, e.Together)
		} else {
			r.ledger.Holders.Passed(e.master, e.Time)
		}
		if !r.showRole(e) {
			show(r.doctors[e.master], e, int64(i))
		}
		if around := r.around(i); around != nil {
			r.doctors[e.master].Command(&doctor.Event{
				Time: e.Time, Mono: int64(i), Client: e.Client, Request: e.Request, Name: e.Name, DB: e.DB,
				Command: strings.ToLower(string(around[0])), Args: around,
			})
		}
		for int64(len(r.at)) <= r.ledger.Holders.Order() {
			r.at = append(r.at, i)
		}
	}
}

// foresee shows the doctors the scripts and the tokens of the whole history.
func (r *replay) foresee() {
	for i, e := range r.entries {
		if e.shows() {
			r.doctors[e.master].Foresees(e.command(int64(i)))
		}
		if token := e.takesWith(); token != "" {
			for i, n := range r.nodes {
				if n.master == r.nodes[e.master].master {
					r.doctors[i].Comes(e.DB, e.Key, token)
				}
			}
		}
	}
}

// around returns the EXEC or the script around entry i if that entry is the last command inside and the log
// has no entry for it: no watched key is among its words.
func (r *replay) around(i int) [][]byte {
	e := r.entries[i]
	if e.By == "" {
		return nil
	}
	for _, next := range r.entries[i+1:] {
		if next.master != e.master {
			continue
		}
		inside := next.By == e.By && next.Client == e.Client && next.Run == e.Run && (e.Run != 0 || next.Mono == e.Mono)
		if inside || next.Client == e.Client && next.isAround(e.By) {
			return nil
		}
		break
	}
	if e.By == doctor.Exec {
		return [][]byte{[]byte("EXEC")}
	}
	return [][]byte{[]byte("EVALSHA"), []byte(e.By), []byte("0")}
}

// isAround reports whether e is the EXEC or the script in which commands ran. A script may run inside EXEC.
func (e entry) isAround(by string) bool {
	if len(e.Cmd) == 0 {
		return false
	}
	switch strings.ToLower(e.Cmd[0]) {
	case "exec":
		return by == doctor.Exec
	case "eval", "evalsha", "fcall", "eval_ro", "evalsha_ro", "fcall_ro":
		return by != doctor.Exec
	}
	return false
}

// show reports an entry to a doctor.
func show(d *doctor.Doctor, e entry, number int64) {
	switch {
	case e.Event == lab.EventExpired:
		d.Expired(e.DB, e.Key, e.Time)
	case e.Event == lab.EventEvicted:
		d.Evicted(e.DB, e.Key, e.Time)
	case e.Event == lab.EventDisk:
		showDisk(d, e)
	case e.Event == lab.EventCrash && e.Reply == "", e.Event == lab.EventRestore:
		d.Lost(e.Time)
	case e.Event == lab.EventCrash:
		d.Restarted()
	case e.ran(), e.waits():
		told := e.command(number)
		d.Command(&told)
	}
}

// command returns an entry with a command as an event for a doctor.
func (e entry) command(number int64) doctor.Event {
	name := strings.ToLower(e.Cmd[0])
	if (name == "script" || name == "xgroup") && len(e.Cmd) > 1 {
		name += "|" + strings.ToLower(e.Cmd[1])
	}
	args := make([][]byte, 0, len(e.Cmd)+len(e.Keys))
	for _, words := range [][]string{e.Cmd, e.moreKeys()} {
		for _, word := range words {
			args = append(args, []byte(word))
		}
	}
	return doctor.Event{
		Time: e.Time, Mono: number, Client: e.Client, Request: e.Request, Name: e.Name, DB: e.DB,
		Command: name, Args: args, By: e.By, Reply: e.encoded(), Lost: e.unanswered(), Held: e.waits(),
		Late: e.Outcome == lab.ReplyLate,
	}
}

// shows reports whether an entry shows what a script does.
func (e entry) shows() bool {
	if len(e.Cmd) == 0 {
		return false
	}
	name := strings.ToLower(e.Cmd[0])
	return e.By != "" || name == "eval" || name == "script"
}

// showDisk reports a key that a restart has found otherwise on the disk.
func showDisk(d *doctor.Doctor, e entry) {
	switch e.Reply {
	case lab.ExpiryOnDisk:
		d.Expires(e.DB, e.Key, e.To, e.Reply)
	case lab.NeverOnDisk, lab.OlderOnDisk:
		d.Differs(e.DB, e.Key, e.Time, e.Reply)
	}
}

// takesWith returns the token of a command that tries to take a lock.
func (e entry) takesWith() string {
	if len(e.Cmd) < 3 || e.Cmd[1] != e.Key {
		return ""
	}
	switch strings.ToLower(e.Cmd[0]) {
	case "set":
		nx := slices.ContainsFunc(e.Cmd[3:], func(w string) bool { return strings.EqualFold(w, "nx") })
		if !nx {
			return ""
		}
		return e.Cmd[2]
	case "setnx":
		return e.Cmd[2]
	}
	return ""
}

// moreKeys returns the watched keys of a command that deletes keys, if the log has shortened its words.
func (e entry) moreKeys() []string {
	switch strings.ToLower(e.Cmd[0]) {
	case "del", "unlink":
		return e.Keys
	}
	return nil
}

// ran reports whether the server executed the command, even if the client never learned that.
func (e entry) ran() bool {
	if len(e.Cmd) == 0 {
		return false
	}
	switch e.Outcome {
	case lab.Executed, lab.Failed, lab.ReplyLost, lab.ReplyLate, lab.ReplyCut:
		return true
	}
	return false
}

// waits reports whether a client has sent the command, and the server has not executed it by then.
func (e entry) waits() bool {
	return len(e.Cmd) > 0 && (e.Outcome == lab.Held || e.Outcome == lab.Delayed || e.Outcome == lab.NotExecuted)
}

// unanswered reports whether the client does not know the result of its command.
func (e entry) unanswered() bool { return e.Outcome.Unknown() }

// encoded turns the text of the log back into a reply, as far as locks need it.
func (e entry) encoded() []byte {
	_, err := strconv.ParseInt(e.Reply, 10, 64)
	switch {
	case e.Outcome == lab.Failed, e.Outcome == lab.NotExecuted && e.Reply != "":
		return []byte("-" + e.Reply + "\r\n")
	case e.Kind == "_":
		return []byte("_\r\n")
	case e.Kind == "$":
		return fmt.Appendf(nil, "$%d\r\n%s\r\n", len(e.Reply), e.Reply)
	case e.Kind != "":
		return []byte(e.Kind + e.Reply + "\r\n")
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
	tables   [][]holders.Holding
	overlaps []holders.Overlap
}

// locks returns the holdings of each wanted lock.
func (r *replay) locks(among func(key string) bool) []holdings {
	byKey := map[Lock][][]holders.Holding{}
	var keys []Lock
	for master := range r.masters {
		for _, h := range r.ledger.Holders.Table(master) {
			if !among(h.Key) {
				continue
			}
			k := Lock{h.DB, h.Key}
			if byKey[k] == nil {
				byKey[k] = make([][]holders.Holding, r.masters)
				keys = append(keys, k)
			}
			byKey[k][master] = append(byKey[k][master], h)
		}
	}
	slices.SortFunc(keys, func(a, b Lock) int { return cmp.Or(cmp.Compare(a.DB, b.DB), cmp.Compare(a.Key, b.Key)) })
	all := make([]holdings, 0, len(keys))
	for _, key := range keys {
		tables := holders.Voting(byKey[key])
		all = append(all, holdings{key, tables, holders.Overlaps(tables)})
	}
	return all
}

// fencing says whether a resource that checks fencing tokens would be safe. A token is a number
// that grows with each holder, made by INCR.
func (r *replay) fencing(both holders.Overlap) string {
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

func (r *replay) tokenOf(t holders.Term) string {
	for _, v := range t.Votes {
		if token := r.token(v); token != "" {
			return token
		}
	}
	return ""
}

// token returns the reply of the holder's INCR, in the script that took the lock or after it.
func (r *replay) token(v holders.Vote) string {
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
