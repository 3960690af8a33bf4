package adversary

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/amount"
)

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

// judgeAll plays n histories and compares their verdicts with the truth. A verdict may be undecided. It must never call
// two holders safe, nor one holder two.
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
	require.Less(t, 3*(count["undecided with one"]+count["undecided with two"]), n, "too many are undecided")
	require.GreaterOrEqual(t, 5*min(count["one"], count["two"]), n, "too few histories of one kind")
}

// improviser plays a history that it makes up as it goes. It knows the beliefs of the workers, and it reads
// the keys, but it never asks the doctor.
type improviser struct {
	*player
	oneClient  bool // workers share a client, and each request carries its token
	looksFirst bool // workers take a lock with GET and SET
	rand       *rand.Rand
	text       strings.Builder
}

// worker is somebody who wants the lock.
type worker struct {
	name, token string
	round       int
	held        bool // it has taken the lock, and not released it since
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
	if im.oneClient {
		return "app"
	}
	return w.name
}

func (im *improviser) believes(w *worker) bool {
	return im.beliefs.holds(w.name, "lock:1")
}
