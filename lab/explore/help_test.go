package explore

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/lab/verdict"
	languages "github.com/miniredisd/miniredisd/lab/words"
)

// severalMistakes is a history with three of them: no TTL at once, a GET before the DEL, and a DEL of a stranger.
func severalMistakes() []string {
	return []string{
		"a SETNX lock:o token-of-a-0123456789 -> 1", "a PEXPIRE lock:o 30000 -> 1",
		"a GET lock:o -> token-of-a-0123456789", "a DEL lock:o -> 1",
		"a SETNX lock:o token-of-a-1123456789 -> 1", "b DEL lock:o -> 1",
	}
}

func TestEachKindOfHarmHasItsOwnHelp(t *testing.T) {
	for _, c := range []struct {
		harm         Harm
		mistake, fix string
	}{
		{ForEver, "setnx-then-expire", "set its TTL in one command"},
		{TwoHolders, "get-then-del", "compares and deletes in one step"},
		{NoLegalOrder, "get-then-del", "compares and deletes in one step"},
		{NeverWakes, "", "give the wait a timeout"},
		{NeverEnds, "", "give each reply a timeout"},
		{CheckFails, "", "take an error or a lost reply for a lock that is not held"},
		{OtherHarm, "", "after an error send the release"},
	} {
		f := Finding{Harm: c.harm, Lock: "lock:o", History: script(severalMistakes()...)}
		f.explain()
		require.Equal(t, c.mistake, f.Mistake, "%v", c.harm)
		require.Contains(t, f.Fix, c.fix)
	}
	f := Finding{Harm: ForEver, Lock: "lock:o", History: script("a SET lock:o x -> OK")}
	f.explain()
	require.Empty(t, f.Mistake)
	require.Contains(t, f.Reason, "nobody deletes it", "the doctor has no advice")
}

func TestAPictureHasTheTitleOfItsFinding(t *testing.T) {
	v, err := verdict.Judge(script(takes, deletes))
	require.NoError(t, err)
	draw := func(f Finding) string {
		var b strings.Builder
		v.Title = f.title(languages.English)
		require.NoError(t, v.SVG(&b))
		return b.String()
	}
	titles := map[string]bool{}
	for h := OtherHarm; h <= NeverEnds; h++ {
		f := Finding{Harm: h, Lock: "lock:o"}
		require.NotEqual(t, f.title(languages.English) == "", f.title(languages.English) != f.title(languages.Chinese))
		titles[f.title(languages.English)] = true
	}
	require.Len(t, titles, 6, "the verdict says what two harms are")
	require.Contains(t, draw(Finding{Harm: ForEver, Lock: "lock:o"}), "Nobody can ever take lock:o again")
	require.NotContains(t, draw(Finding{Harm: ForEver, Lock: "lock:o"}), "The locks were safe")
	require.Contains(t, draw(Finding{Harm: TwoHolders}), "The locks were safe", "the title is the verdict's")
}
