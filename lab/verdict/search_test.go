package verdict

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/lab"
)

// lostReplies is a story in which n clients take a lock, get no reply, and let the lease end. Then
// a client that was refused takes the lock from its holder.
func lostReplies(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "1 %d a SET lock:x token-%d NX PX 500 = OK lost\n1 %d expired lock:x\n", 1000*i, i, 1000*i+501)
	}
	fmt.Fprintf(&b, `1 %d b SET lock:x token-b NX PX 500 = OK
		1 %d c SET lock:x token-c NX PX 500 = nil
		1 %d c DEL lock:x = 1`, 1000*n, 1000*n+1, 1000*n+1)
	return b.String()
}

// undecided returns the locks that may have been broken.
func undecided(v *Verdict) []Lock {
	var all []Lock
	for _, q := range v.Undecided {
		all = append(all, lockAsked(q))
	}
	return all
}

// judgedWithin is judged with a search that soon gives up.
func judgedWithin(t *testing.T, text string) (*Verdict, string) {
	t.Helper()
	v, err := judge(story(t, 1, text), func(string) bool { return true }, 1<<17)
	require.NoError(t, err)
	var out bytes.Buffer
	v.Print(&out)
	return v, out.String()
}

func TestAMissingLegalOrderIsProvedIfTheOrdersAreFew(t *testing.T) {
	v, text := judged(t, 1, lostReplies(8))
	require.Equal(t, []Lock{{Key: "lock:x"}}, v.NotLinearizable, text)
	require.True(t, v.Violated())
	require.Contains(t, text, "NOT LINEARIZABLE: lock:x: no order")
	require.NotContains(t, text, "UNDECIDED")
}

func TestTooManyOrdersAreUndecided(t *testing.T) {
	v, text := judgedWithin(t, lostReplies(40)+`
		1 90000 d SET lock:y token-d NX PX 500 = OK
		1 90001 d DEL lock:y = 1`)
	require.Equal(t, []Lock{{Key: "lock:x"}}, undecided(v), text)
	require.Empty(t, v.NotLinearizable, text)
	require.False(t, v.OK())
	require.False(t, v.Violated())
	require.Contains(t, text, "UNDECIDED: lock:x\n  Why: too many operations were open at once")
	require.NotContains(t, text, "OK:")
	var page bytes.Buffer
	require.NoError(t, v.Picture(&page))
	require.Contains(t, page.String(), "acquire lock:x by a (token-39)")
}

func TestLongHistoriesWithManyLostRepliesAreStillRight(t *testing.T) {
	story, _, _ := strings.Cut(lostReplies(1000), "1 1000000 b")
	v, text := judged(t, 1, story)
	require.True(t, v.OK(), text)
}

func TestTwoHoldersAreFoundWithoutASearch(t *testing.T) {
	v, text := judgedWithin(t, lostReplies(40)+"\n1 40002 d SET lock:x token-d NX PX 500 = OK")
	require.Equal(t, []Lock{{Key: "lock:x"}}, undecided(v), text)
	require.Len(t, v.TwoHolders, 1, text)
	require.True(t, v.Violated())
}

func TestTheSearchOfAVerdictEnds(t *testing.T) {
	v, text := judgeFile(t, "undecided.json")
	require.Equal(t, []Lock{{Key: "lock:job"}}, undecided(v), text)
}

func TestABrokenLockHasOneViolationForEachExtraHolder(t *testing.T) {
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, "1 %d %c SET lock:x token-%d NX PX 500000 = OK\n1 %d z DEL lock:x = 1\n", i, 'a'+i%3, i, i)
	}
	v, _ := judged(t, 1, b.String())
	require.Len(t, v.TwoHolders, 299)
}

func TestEachHolderHasItsOwnFencingToken(t *testing.T) {
	_, text := judged(t, 1, `
		1 1000 a SET lock:x 1 NX PX 500 = OK
		1 1001 a INCR lock:x:fence = 7
		1 1100 d DEL lock:x = 1
		1 1200 b SET lock:x 1 NX PX 500 = OK
		1 1201 b INCR lock:x:fence = 8`)
	require.Contains(t, text, "the first holder has token 7, the second 8")
}

// A worker whose lock was evicted takes it again with its token, and releases it once: that is one operation.
func TestOneReleaseEndsAllTakesOfItsHolder(t *testing.T) {
	const token = "0c9b7f52-4f1e-4a57-9e0d-2b1c55d0a8f1"
	h := story(t, 1, strings.ReplaceAll(`
		1 1000 a SET lock:x TOKEN NX PX 5000 = OK
		1 1100 expired lock:x
		1 1200 a SET lock:x TOKEN NX PX 5000 = OK
		1 1300 a DEL lock:x = 1`, "TOKEN", token))
	h[0].Format = lab.Format
	for i, until := range []int64{6000, 6000, 6200, 6200} {
		c := lab.Change{Key: "lock:x"}
		there := &lab.Value{Type: "string", Text: token, Len: 1, Deadline: until}
		switch i % 2 {
		case 0:
			c.After = there
		case 1:
			c.Before = there
		}
		h[0].Entries[i].Changes = []lab.Change{c}
	}
	h[0].Entries[1].Event = lab.EventEvicted
	h[0].Entries[1].Changes[0].Cause = lab.ByEviction
	v, err := Judge(h)
	require.NoError(t, err)
	require.True(t, v.OK(), v.Text())
	require.Equal(t, 2, v.Grants)
}
