package verdict

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// lostReplies is a story in which that many take a lock, get no reply, and let the lease run
// out; then somebody takes the lock away from its holder.
func lostReplies(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "1 %d a SET lock:x token-%d NX PX 500 = OK lost\n1 %d expired lock:x\n", 1000*i, i, 1000*i+501)
	}
	fmt.Fprintf(&b, "1 %d b SET lock:x token-b NX PX 500 = OK\n1 %d c DEL lock:x = 1", 1000*n, 1000*n+1)
	return b.String()
}

// judgedWithin is judged for a search that soon gives up.
func judgedWithin(t *testing.T, text string) (*Verdict, string) {
	t.Helper()
	v, err := judge(story(t, 1, text), func(string) bool { return true }, 1<<17)
	require.NoError(t, err)
	var out bytes.Buffer
	v.Print(&out)
	return v, out.String()
}

func TestThatNoOrderIsLegalIsFoundOutWhileTheOrdersAreFew(t *testing.T) {
	v, text := judged(t, 1, lostReplies(8))
	require.Equal(t, []string{"lock:x"}, v.NotLinearizable, text)
	require.True(t, v.Violated())
	require.Contains(t, text, "NOT LINEARIZABLE: lock:x: no order")
	require.NotContains(t, text, "UNDECIDED")
}

func TestTooManyOrdersAreUndecidedAndNeitherRightNorWrong(t *testing.T) {
	v, text := judgedWithin(t, lostReplies(40)+`
		1 90000 d SET lock:y token-d NX PX 500 = OK
		1 90001 d DEL lock:y = 1`)
	require.Equal(t, []string{"lock:x"}, v.Undecided, text)
	require.Empty(t, v.NotLinearizable, text)
	require.False(t, v.OK())
	require.False(t, v.Violated())
	require.Contains(t, text, "UNDECIDED: lock:x: too many operations were open at once")
	require.NotContains(t, text, "OK:")
	var page bytes.Buffer
	require.NoError(t, v.Picture(&page))
	require.Contains(t, page.String(), "acquire lock:x by token-39")
}

func TestLongHistoriesWithManyLostRepliesAreStillRight(t *testing.T) {
	story, _, _ := strings.Cut(lostReplies(1000), "1 1000000 b")
	v, text := judged(t, 1, story)
	require.True(t, v.OK(), text)
}

func TestTwoHoldersAreFoundWithoutASearch(t *testing.T) {
	v, text := judgedWithin(t, lostReplies(40)+"\n1 40002 d SET lock:x token-d NX PX 500 = OK")
	require.Equal(t, []string{"lock:x"}, v.Undecided, text)
	require.Len(t, v.TwoHolders, 1, text)
	require.True(t, v.Violated())
}

func TestTheSearchOfAVerdictEnds(t *testing.T) {
	v, text := judgeFile(t, "undecided.json")
	require.Equal(t, []string{"lock:job"}, v.Undecided, text)
}
