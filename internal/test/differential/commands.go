package differential

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Commands returns a function that makes the commands of a run one after the other, for a test that compares in its
// own way. All servers of it must have the same data after them, so what Redis and Valkey do differently is left out.
// The groups of newer commands are there only for servers that have them.
func Commands(t testing.TB, seed uint64, newer bool, leaveOut ...string) func() []string {
	t.Helper()
	var names []string
	for _, group := range table() {
		isNewer := group.group == newerHashes || group.group == newerStrings
		isOurs := group.group == newerLogs || group.group == failingScripts || group.group == "bounds"
		if !isOurs && (newer || !isNewer) && !slices.Contains(leaveOut, group.group) {
			names = append(names, group.group)
		}
	}
	g, err := newGenerator(names, oracle{valkey: true})
	if err != nil {
		t.Fatal(err)
	}
	n := uint64(0)
	return func() []string {
		defer func() { n++ }()
		if n%sequenceLength == 0 {
			g.reset(rand.New(rand.NewPCG(seed, n)))
			return []string{"DISCARD"} // the transaction that the sequence before has left open
		}
		return g.command().args
	}
}
