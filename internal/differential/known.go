package differential

import (
	"slices"

	"github.com/miniredisd/miniredisd/resp"
)

// knownDifference says whether redis 7.2, whose answers miniredisd gives, is known to differ
// here from the older redis-server it is compared with.
func knownDifference(c command, want, got resp.Value) bool {
	return slices.ContainsFunc(known(), func(k func(command, resp.Value, resp.Value) bool) bool { return k(c, want, got) })
}

func known() []func(c command, want, got resp.Value) bool {
	return []func(c command, want, got resp.Value) bool{
		// 7.2 keeps small sets of strings and short lists in a listpack.
		func(c command, want, got resp.Value) bool {
			return c.args[0] == "OBJECT" && got.Str == "listpack" && (want.Str == "hashtable" || want.Str == "quicklist")
		},
	}
}
