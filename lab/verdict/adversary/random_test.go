package adversary

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/amount"
	"github.com/miniredisd/miniredisd/miniredistest"
)

// A verdict may be undecided. It must never call two holders safe, nor one holder two.
// RANDOM_HISTORIES=20000 plays more of them.
func TestRandomHistoriesAreJudgedRight(t *testing.T) {
	t.Parallel()
	masters := miniredistest.RunMasters(brief{t}, 1, miniredistest.Watch())
	judgeAll(t, chosen(t, 300), func(seed uint64) (text, truth, verdict string) {
		return improvise(t, masters, seed)
	})
}

// chosen returns how many histories to play.
func chosen(t *testing.T, n int) int {
	more := os.Getenv("RANDOM_HISTORIES")
	if more == "" {
		return amount.Count(n/4, n)
	}
	n, err := strconv.Atoi(more)
	require.NoError(t, err)
	return n
}

// judgeAll plays n histories and compares their verdicts with the truth.
func judgeAll(t *testing.T, n int, play func(seed uint64) (text, truth, verdict string)) {
	const enough = 10
	count := map[string]int{}
	for seed := range n {
		text, truth, verdict := play(uint64(seed))
		count[truth]++
		if verdict == "undecided" {
			count["undecided with "+truth]++
			continue
		}
		right := verdict != "two-holders" // a worker may delete the lock of another one, and nobody takes it in time
		if truth == "two" {
			right = verdict == "two-holders" || verdict == "not-linearizable"
		}
		if !right {
			count["wrong"]++
			t.Errorf("seed %d: the truth is %s, the verdict is %s\n%s", seed, truth, verdict, text)
		}
		if count["wrong"] == enough {
			t.Fatal("these are enough")
		}
	}
	t.Logf("%d with two holders (%d undecided), %d with one (%d undecided)",
		count["two"], count["undecided with two"], count["one"], count["undecided with one"])
	require.Less(t, 4*(count["undecided with one"]+count["undecided with two"]), n, "too many are undecided")
	require.Greater(t, 5*min(count["one"], count["two"]), n, "too few histories of one kind")
}

// improviser plays a history that it makes up as it goes. It knows the beliefs of the workers, and it reads
// the keys, but it never asks the doctor.
type improviser struct {
	*player
	company company
	ways    ways
	rand    *rand.Rand
	text    strings.Builder
	workers []*worker
}

// company says what the workers of a history share.
type company string

const (
	ownNames    company = "" // each has a name and tokens of its own
	oneToken    company = "one token"
	oneClient   company = "one client"   // and each request carries its token
	unnamedPool company = "unnamed pool" // and each request carries its token
)

// blind reports whether workers may send requests without a token.
func (c company) blind() bool { return c == ownNames || c == oneToken }

// worker is somebody who wants the lock.
type worker struct {
	name, token string
	round       int
	held        bool   // it has taken the lock, and not released it since
	again       bool   // it will release once more, by mistake
	slow        string // the rule that holds its request, or ""
}

func improvise(t *testing.T, masters miniredistest.Masters, seed uint64) (text, truth, verdict string) {
	h := history{name: fmt.Sprintf("random-%d", seed), masters: 1}
	im := &improviser{player: newPlayer(t, masters, h), rand: rand.New(rand.NewPCG(seed, 1))}
	im.company = []company{ownNames, ownNames, oneToken, oneClient, unnamedPool}[seed%5]
	im.ways = stringWays()
	if seed%3 == 2 && im.company != oneToken {
		im.ways = hashWays()
	}
	if im.company == unnamedPool {
		im.say("connect p1 name=")
		im.say("connect p2 name=")
	}
	for _, name := range []string{"a", "b", "c"} {
		im.workers = append(im.workers, &worker{name: name})
	}
	wild := im.rand.IntN(4) // how much strangers do
	for range 10 + im.rand.IntN(20) {
		w := im.workers[im.rand.IntN(len(im.workers))]
		switch dice := im.rand.IntN(12); {
		case dice < 2:
			im.say("advance " + im.one("1", "500", "1000", "5001", "30001"))
		case dice < 2+wild:
			im.stranger()
		case w.slow != "":
			im.letGo(w)
		case !w.held && !w.again && !im.believes(w):
			im.take(w)
		case dice < 7 && im.mayRenew(w):
			im.renew(w)
		case w.held || w.again:
			im.release(w)
		}
	}
	return im.judged()
}

func (im *improviser) one(words ...string) string { return words[im.rand.IntN(len(words))] }

// say plays a step that is no command.
func (im *improviser) say(raw string) {
	im.text.WriteString(raw + "\n")
	im.at = parseLine(im.t, "random", raw)
	im.step(im.at)
}

// ask plays a command and returns its reply.
func (im *improviser) ask(client, command string) string {
	im.at = parseLine(im.t, "random", client+": "+command)
	name, master, _ := im.reached(client)
	im.send(name, master, im.scripts(im.at.words[1:]))
	v, err := im.conn(name, master).Read()
	require.NoError(im.t, err)
	fmt.Fprintf(&im.text, "%s: %s -> %s\n", client, command, text(v))
	return text(v)
}

// sender returns the client that sends the next request of a worker.
func (im *improviser) sender(w *worker) string {
	switch im.company {
	case oneClient:
		return "app"
	case unnamedPool:
		return im.one("p1", "p2")
	}
	return w.name
}

// inExec plays a command, sometimes in a transaction.
func (im *improviser) inExec(client, command string) string {
	if im.rand.IntN(3) > 0 || strings.HasPrefix(command, "EVAL") {
		return im.ask(client, command)
	}
	im.ask(client, "MULTI")
	im.ask(client, command)
	return strings.Trim(im.ask(client, "EXEC"), "[]")
}

func (im *improviser) believes(w *worker) bool {
	return im.beliefs.holds(w.name, "lock:1")
}

// has reports whether the lock has the token of a worker.
func (im *improviser) has(w *worker) bool {
	return text(im.do(im.masters[0], strings.Fields(w.fill(im.ways.token, ""))...)) == w.fill(im.ways.is, "")
}

func (im *improviser) take(w *worker) {
	unheard := im.company != oneToken && im.rand.IntN(8) == 0
	switch {
	case im.company == oneToken:
		w.token = "locked"
	case w.token == "" || unheard || im.rand.IntN(2) == 0:
		w.round++
		w.token = fmt.Sprintf("token-%s%d", w.name, w.round)
	}
	if im.ways.counts && im.has(w) {
		return // it would enter a lock of its own again, and one release would not be enough
	}
	lease := im.one("1000", "5000", "30000")
	command := w.fill(im.one(im.ways.takes...), lease)
	if unheard {
		im.takeUnheard(w, command, lease)
		return
	}
	if im.inExec(im.sender(w), command) == im.ways.taken {
		w.held = true
		im.say("hold " + w.name + " " + lease)
	}
}

// mayRenew reports whether a renewal of w cannot show w that it has lost a lock in which it still believes.
func (im *improviser) mayRenew(w *worker) bool {
	return w.held && (!im.believes(w) || im.has(w))
}

func (im *improviser) renew(w *worker) {
	lease := im.one("1000", "5000", "30000")
	command := im.one(im.ways.renewals...)
	if im.company.blind() && im.rand.IntN(2) == 0 {
		command = im.one(im.ways.blindRenewals...)
	}
	if strings.HasPrefix(command, "GETEX") && !im.believes(w) {
		return // its reply would show the token of another worker
	}
	reply := im.inExec(im.sender(w), w.fill(command, lease))
	if slices.ContainsFunc(im.ways.renewed, func(yes string) bool { return reply == w.fill(yes, "") }) {
		im.say("hold " + w.name + " " + lease)
	}
}

func (im *improviser) release(w *worker) {
	believed := im.believes(w)
	command := w.fill(im.one(im.ways.releases...), "30000")
	if im.company.blind() && im.rand.IntN(2) == 0 {
		command = im.one(im.ways.blindReleases...)
	}
	switch sender, dice := im.sender(w), im.rand.IntN(8); {
	case dice == 0:
		im.say("lose " + sender)
		im.say(sender + ": " + command + " -> lost")
	case dice == 1 && im.company.blind(): // a client that workers share must not wait
		im.sendSlowly(w, command)
	default:
		im.inExec(sender, command)
	}
	w.held, w.again = false, im.rand.IntN(10) == 0
	if believed && w.slow == "" {
		im.say("gone " + w.name)
	}
}

// stranger does what strangers do to a lock, without a wish to hold it.
func (im *improviser) stranger() {
	if im.rand.IntN(8) == 0 {
		im.say("crash" + im.one("", " 1 keep"))
		return
	}
	command := im.one("DEL lock:1", "PEXPIRE lock:1 500", "PEXPIRE lock:1 90000", "PERSIST lock:1", "GET lock:1",
		"FLUSHALL", "RENAME lock:1 trash", "EVAL @delete 1 lock:1", "EXPIRE lock:1 1 LT", "SWAPDB 0 1",
		"COPY lock:1 copy", "APPEND lock:1 x", "GETEX lock:1 PX 700", "SINTERSTORE lock:1 none", "MOVE lock:1 2")
	if strings.HasPrefix(command, "APPEND") && im.do(im.masters[0], "EXISTS", "lock:1").Int == 0 {
		return // it would create the key
	}
	im.inExec("s", command)
}
