package adversary

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/miniredistest"
)

// Workers take a lock on five masters, as Redlock does, while masters lose their keys and clocks jump. Each
// attempt has a token of its own, and each request carries it, so the verdict must decide.
func TestRandomRedlocksAreJudgedRight(t *testing.T) {
	t.Parallel()
	masters := miniredistest.RunMasters(brief{t}, 5, miniredistest.Watch())
	n := chosen(t, 40)
	judgeAll(t, n, func(seed uint64) (text, truth, verdict string) {
		h := history{name: fmt.Sprintf("redlock-%d", seed), masters: 5}
		im := &improviser{player: newPlayer(t, masters, h), rand: rand.New(rand.NewPCG(seed, 2))}
		im.oneClient, im.looksFirst = seed%2 == 1, seed%3 == 1
		workers := []*worker{{name: "a"}, {name: "b"}, {name: "c"}}
		for range 12 + im.rand.IntN(12) {
			im.onMasters(workers[im.rand.IntN(3)])
		}
		return im.judged()
	})
}

// onMasters lets a worker or a stranger do something.
func (im *improviser) onMasters(w *worker) {
	switch dice := im.rand.IntN(10); {
	case dice == 0:
		im.say("advance " + im.one("1", "1000", "10001", "30001"))
	case dice < 3:
		im.say(fmt.Sprintf("crash %d%s", 1+im.rand.IntN(5), im.one("", "", "", " keep")))
	case dice == 3:
		im.say(fmt.Sprintf("jump %d %s", 1+im.rand.IntN(2), im.one("1000", "30001"))) // two clocks are a minority
	case dice == 4:
		command := im.one("DEL lock:1", "PEXPIRE lock:1 500", "PEXPIRE lock:1 90000", "FLUSHALL", "GETDEL lock:1",
			"RENAME lock:1 other", "SWAPDB 0 1", "SET lock:1 x XX")
		im.askAll("s", command, 1+im.rand.IntN(4))
	case !im.believes(w) && !w.held:
		im.takeMajority(w)
	case dice < 7 && im.believes(w):
		im.renewMajority(w)
	case w.held && dice > 7:
		if im.askAll(im.sender(w), "EVAL @compare-and-delete 1 lock:1 "+w.token, 5); im.believes(w) {
			im.say("gone " + w.name)
		}
		w.held = false
	}
}

// askAll sends a command to n masters, the first of them by chance, and returns how many agree.
func (im *improviser) askAll(client, command string, n int) (agree int) {
	first := im.rand.IntN(5)
	for i := range n {
		reply := im.ask(fmt.Sprintf("%s@%d", client, 1+(first+i)%5), command)
		if reply == "OK" || reply == "1" {
			agree++
		}
	}
	return agree
}

// lookAndSet sends a command to those of n masters that do not have the lock, and returns how many agree.
func (im *improviser) lookAndSet(client, command string, n int) (agree int) {
	first := im.rand.IntN(5)
	for i := range n {
		at := fmt.Sprintf("%s@%d", client, 1+(first+i)%5)
		if im.ask(at, "GET lock:1") == "(nil)" && im.ask(at, command) == "OK" {
			agree++
		}
	}
	return agree
}

func (im *improviser) takeMajority(w *worker) {
	w.round++
	w.token = fmt.Sprintf("token-%s%d", w.name, w.round)
	lease := im.one("10000", "30000")
	agree := 0
	if n := 3 + 2*im.rand.IntN(2); im.looksFirst {
		agree = im.lookAndSet(im.sender(w), fmt.Sprintf("SET lock:1 %s PX %s", w.token, lease), n)
	} else {
		agree = im.askAll(im.sender(w), fmt.Sprintf("SET lock:1 %s NX PX %s", w.token, lease), n)
	}
	if w.held = agree >= 3; w.held {
		im.say("hold " + w.name + " " + lease)
		return
	}
	im.say("nobody a minority")
	im.askAll(im.sender(w), "EVAL @compare-and-delete 1 lock:1 "+w.token, 5)
}

// renewMajority renews the lease if that cannot show the worker that it has lost the lock.
func (im *improviser) renewMajority(w *worker) {
	mine := 0
	for _, m := range im.masters {
		if im.do(m, "GET", "lock:1").Str == w.token {
			mine++
		}
	}
	if mine < 3 {
		return
	}
	require.Equal(im.t, mine, im.askAll(im.sender(w), "EVAL @compare-and-pexpire 1 lock:1 "+w.token+" 30000", 5))
	im.say("hold " + w.name + " 30000")
}

// judged returns the history, its truth and its verdict, and ends it.
func (im *improviser) judged() (text, truth, verdict string) {
	truth = im.truth()
	verdict = field(im.lab("VERDICT", "lock:*"), "verdict").Str
	im.end()
	head := fmt.Sprintf("history %s: ...\ntruth: %s\n", im.history.name, truth)
	if im.history.masters > 1 {
		head += fmt.Sprintf("masters: %d\n", im.history.masters)
	}
	if im.history.replicas > 0 {
		head += fmt.Sprintf("replicas: %d\n", im.history.replicas)
	}
	return head + strings.TrimSpace(im.text.String()), truth, verdict
}
