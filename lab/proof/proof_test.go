package proof_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/holders"
	"github.com/miniredisd/miniredisd/lab/proof"
)

// read makes a history of lines "1000 a SET k v = OK | k string - > v@9000": a time, a client, its command and reply,
// and what happened to a key: its type, and its parts before and after, with the deadline. A line without a client is
// an event.
func read(t *testing.T, text string) lab.History {
	h := lab.History{Format: lab.Format, Master: 1, Masters: 1}
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		what, change, _ := strings.Cut(strings.TrimSpace(line), " | ")
		words := strings.Fields(what)
		time, err := strconv.ParseInt(words[0], 10, 64)
		require.NoError(t, err, line)
		e := lab.Entry{Time: time, Mono: time * 1000, Seq: int64(len(h.Entries) + 1), Event: lab.EventCommand,
			Outcome: lab.Executed}
		if words[1] == "-" {
			e.Event = words[2]
		} else {
			e.Name, e.Client = words[1], int64(words[1][0])
			command, reply, _ := strings.Cut(strings.Join(words[2:], " "), " = ")
			e.Cmd, e.Reply = strings.Fields(command), reply
			e.Key = e.Cmd[min(1, len(e.Cmd)-1)]
		}
		if change != "" {
			e.Changes = []lab.Change{changeOf(e.Event, strings.Fields(change))}
			e.Key = e.Changes[0].Key
		}
		h.Entries = append(h.Entries, e)
	}
	return h
}

func changeOf(event string, words []string) lab.Change {
	causes := map[string]lab.Cause{lab.EventExpired: lab.ByExpiry, lab.EventEvicted: lab.ByEviction,
		lab.EventCrash: lab.ByLoss}
	middle := 3
	for words[middle] != ">" {
		middle++
	}
	return lab.Change{Key: words[0], Cause: causes[event],
		Before: valueOf(words[1], words[2:middle]), After: valueOf(words[1], words[middle+1:])}
}

func valueOf(kind string, words []string) *lab.Value {
	if words[0] == "-" {
		return nil
	}
	v := &lab.Value{Type: kind, Len: len(words)}
	if end, is := strings.CutPrefix(words[0], "~"); is { // it exists, and the change does not concern its parts
		v.Deadline, _ = strconv.ParseInt(strings.TrimPrefix(end, "@"), 10, 64)
		return v
	}
	for _, w := range words {
		w, deadline, _ := strings.Cut(w, "@")
		v.Deadline, _ = strconv.ParseInt(deadline, 10, 64)
		if kind == "string" {
			v.Text = w
			continue
		}
		name, value, _ := strings.Cut(w, "=")
		v.Parts = append(v.Parts, lab.Part{Name: name, Value: value})
	}
	return v
}

func prove(h lab.History) *proof.Proof {
	return proof.Prove([]lab.History{h}, make([]proof.Node, 1), func(string) bool { return true })
}

// says returns what a proof says of a key.
func says(p *proof.Proof, key string) string {
	if r := p.Of(holders.Key{Name: key}); r != nil {
		return strings.TrimSuffix(fmt.Sprintf("%s: %s", r.Is, r.Why), ": ")
	}
	for _, o := range holders.Overlaps([][]holders.Holding{p.Ledger.Table(0)}) {
		if o.First.Key == key {
			why, _, _ := p.Explain(o)
			return "two-holders: " + why
		}
	}
	for _, q := range holders.Questions([][]holders.Holding{p.Ledger.Table(0)}) {
		if q.Key == key {
			return "undecided: " + q.Why
		}
	}
	return "safe"
}

func TestWhatHappenedToAKeyDecides(t *testing.T) {
	const set = "1000 a SET k ta NX PX 500 = OK | k string - > ta@1500\n"
	const next = "\n1200 b SET k tb NX = OK | k string - > tb"
	for name, test := range map[string]struct{ log, says string }{
		"in turn": {set + "1100 a DEL k = 1 | k string ta@1500 > -" + next, "safe"},
		"a command that nobody has thought of": {
			set + "1100 c FORGET k = 1 | k string ta@1500 > -" + next,
			"two-holders: c's FORGET at 00:00:01.100 took k from a, which believed in it until 00:00:01.500; " +
				"b took it at 00:00:01.200: both believe that they hold it"},
		"a stranger's value": {
			set + "1100 c NEWSET k x = OK | k string ta@1500 > x",
			"undecided: c's NEWSET at 00:00:01.100 wrote k; the judge does not know whether c believes that it holds the lock"},
		"expiry, and the lease is over": {set + "1500 - expired | k string ta@1500 > -" +
			strings.Replace(next, "1200", "1600", 1), "safe"},
		"expiry, after a stranger's EXPIRE": {
			set + "1050 c PEXPIRE k 50 = 1 | k string ta@1500 > ta@1100\n1100 - expired | k string ta@1100 > -" + next,
			"two-holders: k expired at 00:00:01.100 after c's PEXPIRE at 00:00:01.050, and a believed in it " +
				"until 00:00:01.500; b took it at 00:00:01.200: both believe that they hold it"},
		"eviction": {set + "1100 - evicted | k string ta@1500 > -" + next,
			"two-holders: the server evicted k for memory at 00:00:01.100, and a believed in it until 00:00:01.500; " +
				"b took it at 00:00:01.200: both believe that they hold it"},
		"a crash": {set + "1100 - crash | k string ta@1500 > -" + next,
			"two-holders: the server lost k at 00:00:01.100, and a believed in it until 00:00:01.500; " +
				"b took it at 00:00:01.200: both believe that they hold it"},
		"the log begins late": {"1000 - watched | k string - > t0\n1100 c DEL k = 1 | k string t0 > -" + next,
			"undecided: the server's watched at 00:00:01.000 is the first entry about k, and the key was there before; " +
				"the judge does not know who held it"},
		"a change is missing": {set + "1100 a APPEND k x = 3 | k string tz > tzx",
			"undecided: a's APPEND at 00:00:01.100 changed a value of k that the log does not have; the judge cannot " +
				"tell who held it"},
		"a stranger appends to a key that is absent": {
			"1000 c APPEND k x = 1 | k string - > x\n1100 d DEL k = 1 | k string x > -" + next,
			"undecided: c's APPEND at 00:00:01.000 wrote k; the judge does not know whether c believes that it holds the lock"},
		"another client's token in the reply": {
			"1000 a SET k ta GET PX 500 = (nil) | k string - > ta@1500\n1100 b SET k tb GET PX 500 = ta | " +
				"k string ta@1500 > tb@1600\n1600 - expired | k string tb@1600 > -", "safe"},
		"a stranger keeps a lock alive": {set +
			"1100 c PERSIST k = 1 | k string ta@1500 > ta\n1700 d GET k = ta", "safe"},
		"a worker takes its lost lock again": {set + "1050 b SET k tb NX = (nil)\n1100 - evicted | k string ta@1500 > -\n" +
			"1200 a SET k t2 NX = OK | k string - > t2\n1300 a DEL k = 1 | k string t2 > -" +
			strings.Replace(next, "1200", "1400", 1), "safe"},
		"nothing happened": {"1000 a GET k = (nil)", "safe"},
	} {
		require.Equal(t, test.says, says(prove(read(t, test.log)), "k"), name)
	}
}

func TestAKeyIsWhatItsWatchSays(t *testing.T) {
	const two = "1000 a ZADD k 1 ta = 1 | k zset - > ta=1\n1100 b ZADD k 1 tb = 1 | k zset ~ > tb=1"
	const three = two + "\n1200 c ZADD k 1 tc = 1 | k zset ~ > tc=1"
	const count = "1000 a INCR k = 1 | k string - > 1\n1100 b INCR k = 2 | k string 1 > 2"
	for name, test := range map[string]struct {
		log  string
		as   lab.Watch
		says string
	}{
		"two members": {two, lab.Watch{},
			"not-judged: k has the tokens of several clients at one time, as a semaphore or a queue has"},
		"of two": {two, lab.Watch{As: lab.Semaphore, Holders: 2}, "safe"},
		"of one": {two, lab.Watch{As: lab.Semaphore, Holders: 1},
			"undecided: 2 clients may have held k at 00:00:01.100, and only 1 may hold it; " + unsure},
		"three of two": {three, lab.Watch{As: lab.Semaphore, Holders: 2},
			"undecided: 3 clients may have held k at 00:00:01.200, and only 2 may hold it; " + unsure},
		"a counter that was lost": {
			count + "\n1150 - crash | k string 2 > -\n1200 c INCR k = 1 | k string - > 1",
			lab.Watch{As: lab.Semaphore, Holders: 2}, "two-holders: 3 clients held k at 00:00:01.200, and only 2 may hold it"},
		"a counter above its number": {
			count + "\n1150 c INCR k = 3 | k string 2 > 3\n1150 c DECR k = 2 | k string 3 > 2",
			lab.Watch{As: lab.Semaphore, Holders: 2}, "safe"},
		"a client that has looked before counts too far": {
			"900 c GET k = (nil)\n" + count + "\n1150 c INCR k = 3 | k string 2 > 3",
			lab.Watch{As: lab.Semaphore, Holders: 2},
			"undecided: 3 clients may have held k at 00:00:01.150, and only 2 may hold it; " + unsure},
		"others look before they believe": {strings.ReplaceAll(
			"1000 c SADD k tc = 1 | k set - > tc=\n1100 - crash | k set tc= > -\n"+
				"1200 a SADD k ta = 1 | k set - > ta=\n1200 a SCARD k = 1", "=\n", "\n"),
			lab.Watch{As: lab.Semaphore, Holders: 1},
			"undecided: 2 clients may have held k at 00:00:01.200, and only 1 may hold it; " + unsure},
		"given back": {two + "\n1150 a ZREM k ta = 1 | k zset ta=1 > ~" + three[len(two):],
			lab.Watch{As: lab.Semaphore, Holders: 2}, "safe"},
		"without a number": {two, lab.Watch{As: lab.Semaphore}, "not-judged: k is a semaphore"},
		"a mutex": {two, lab.Watch{As: lab.Mutex},
			"two-holders: b took k at 00:00:01.100 while a held it without end" + bothBelieve},
		"a queue":           {two, lab.Watch{As: lab.Queue}, "not-judged: k is a queue, and no client holds it"},
		"a counter":         {count, lab.Watch{}, "not-judged: k is a counter that several clients change"},
		"a counter as lock": {count, lab.Watch{As: lab.Mutex}, "safe"},
	} {
		h := read(t, test.log)
		test.as.Pattern = "k*"
		h.Watched = []lab.Watch{test.as}
		require.Equal(t, test.says, says(prove(h), "k"), name)
	}
}

const unsure = "the log does not show whether all of them believed in it"

const bothBelieve = ": both believe that they hold it"

func TestAScriptWhoseReplyIsLostGivesNoLongerLease(t *testing.T) {
	h := read(t, `
		1000 a HINCRBY k ta 1 = 1 | k hash - > ta=1
		1000 a PEXPIRE k 500 = 1 | k hash ta=1 > ta=1@1500
		1000 a EVALSHA 9f k 500 ta = (nil)
		1500 - expired | k hash ta=1@1500 > -
		1600 b HINCRBY k tb 1 = 1 | k hash - > tb=1
		1600 b PEXPIRE k 500 = 1 | k hash tb=1 > tb=1@2100
		1600 b EVALSHA 9f k 500 tb = (nil)`)
	for i := range h.Entries {
		if e := &h.Entries[i]; e.Client != 0 && e.Cmd[0] != "EVALSHA" {
			e.By, e.Run = "9f", e.Client
		}
	}
	require.Equal(t, "safe", says(prove(h), "k"))
	h.Entries[2].Event, h.Entries[2].Outcome = "lost", lab.ReplyLost
	require.Equal(t, "safe", says(prove(h), "k"))
	h.Entries[4].Time, h.Entries[3].Time = 1300, 1300 // before its client gives it up, if it knows of it
	require.NotEqual(t, "safe", says(prove(h), "k"))
}

func TestAScriptThatOnlyRenewsGivesNothingUpWhenItFails(t *testing.T) {
	h := read(t, `
		1000 a SET k ta NX PX 500 = OK | k string - > ta@1500
		1000 a EVALSHA 9f 1 k 500 = NOSCRIPT
		1000 a PEXPIRE k 500 = 1
		1000 a EVAL 9f 1 k 500 = 1
		1100 - crash | k string ta@1500 > -
		1200 b SET k tb NX PX 500 = OK | k string - > tb@1700`)
	h.Entries[1].Outcome = lab.Failed
	require.Contains(t, says(prove(h), "k"), "undecided") // the script may have given the lock up
	h.Entries[2].By = "9f"
	require.Contains(t, says(prove(h), "k"), "two-holders")
}

func TestAScriptThatSetsATimeOfZeroIsARelease(t *testing.T) {
	for call, want := range map[string]string{
		"redis.call('PEXPIRE',KEYS[1],0)": "undecided", "redis.call('PEXPIRE',KEYS[1],3000)": "two-holders",
	} {
		h := read(t, `
			1000 a SET k ta NX PX 5000 = OK | k string - > ta@6000
			1100 a EVAL text 1 k ta = -
			1200 - evicted | k string ta@6000 > -
			1300 b SET k tb NX PX 5000 = OK | k string - > tb@6300`)
		h.Entries[1].Cmd[1] = "if redis.call('GET',KEYS[1])==ARGV[1] then return " + call + " end"
		h.Entries[1].Outcome = lab.NotExecuted
		require.Contains(t, says(prove(h), "k"), want)
	}
}

func TestAWordOfAllClientsIsNoTokenToReadBack(t *testing.T) {
	for word, want := range map[string]string{"taken": "undecided", "tb": "two-holders"} {
		h := read(t, strings.ReplaceAll(`
			1000 a SET k taken NX PX 500 = OK | k string - > taken@1500
			1100 a DEL k = 1 | k string taken@1500 > -
			1200 b SET k word NX PX 500 = OK | k string - > word@1700
			1300 b GET k = word
			1400 b PUBLISH k word = 0
			1450 - evicted | k string word@1700 > -
			1500 c SET k tc NX PX 500 = OK | k string - > tc@2000`, "word", word))
		h.Entries[2].Outcome = lab.ReplyLost
		require.Contains(t, says(prove(h), "k"), want)
	}
}
