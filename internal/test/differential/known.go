package differential

import (
	"slices"
	"strings"

	"github.com/miniredisd/miniredisd/resp"
)

// knownDifference reports whether the two replies differ because the oracle is older than Redis 7.2.
func knownDifference(c command, want, got resp.Value) bool {
	return slices.ContainsFunc(known(), func(k func(command, resp.Value, resp.Value) bool) bool {
		return k(c, want, got)
	})
}

// known lists the differences that a reply shows. The table avoids cases in which the data of the
// servers would differ from then on:
//
//   - XSETID to an ID below the highest deleted one: 7.2 refuses it.
//   - Fractions that are not a multiple of a power of two: 7.2 writes the shortest form, 7.0 writes 17
//     digits.
func known() []func(c command, want, got resp.Value) bool {
	return []func(c command, want, got resp.Value) bool{
		// 7.2 keeps small sets of strings and short lists in a listpack.
		func(c command, want, got resp.Value) bool {
			return c.args[0] == "OBJECT" && got.Str == "listpack" &&
				(want.Str == "hashtable" || want.Str == "quicklist")
		},
		// 7.2 makes a sorted set that is large enough for all members that a command names, even twice.
		func(c command, want, got resp.Value) bool {
			return c.args[0] == "OBJECT" && want.Str == "listpack" && got.Str == "skiplist"
		},
		// In 7.2 ZRANK and ZREVRANK have an option. So one more argument is a syntax error, not a wrong arity.
		func(c command, want, got resp.Value) bool {
			return strings.HasSuffix(c.args[0], "RANK") && len(c.args) > 3 && got.Str == "ERR syntax error" &&
				wrongArity(want)
		},
		// 7.2 checks the highest deleted ID first.
		func(c command, want, got resp.Value) bool {
			return c.args[0] == "XSETID" && want.Kind == '-' &&
				strings.HasSuffix(got.Str, "smaller than current max_deleted_entry_id")
		},
		// The error text of 7.2 names the command.
		func(c command, want, got resp.Value) bool {
			return strings.HasPrefix(want.Str, "ERR Unbalanced XREAD list") &&
				strings.HasPrefix(got.Str, "ERR Unbalanced '"+strings.ToLower(c.args[0])+"' list")
		},
		// 7.2 creates a consumer that asks for entries even if there are none.
		func(c command, want, got resp.Value) bool {
			return c.isSubcommand("XGROUP", "CREATECONSUMER") && want.Int == 1 && got.Int == 0 && got.Kind == ':'
		},
		func(c command, want, got resp.Value) bool {
			return c.isSubcommand("XINFO", "GROUPS") &&
				canonical(withoutConsumers(want), ' ') == canonical(withoutConsumers(got), ' ')
		},
	}
}

// collated reports whether two replies to SORT ALPHA differ because Redis compares with strcoll, which stops at
// a zero byte. With STORE it compares all bytes.
func collated(c command, want, got resp.Value) bool {
	return strings.HasPrefix(c.args[0], "SORT") && strings.Contains(want.String(), "\\x00") &&
		canonical(want, '~') == canonical(got, '~')
}

func (c command) isSubcommand(name, sub string) bool {
	return c.args[0] == name && len(c.args) > 1 && strings.EqualFold(c.args[1], sub)
}

// withoutConsumers returns a reply of XINFO GROUPS without the numbers of consumers.
func withoutConsumers(v resp.Value) resp.Value {
	v.Elems = slices.Clone(v.Elems)
	for i := range v.Elems {
		if len(v.Elems[i].Elems) > 3 {
			v.Elems[i].Elems = slices.Delete(slices.Clone(v.Elems[i].Elems), 2, 4)
		}
	}
	return v
}

func wrongArity(v resp.Value) bool {
	return strings.HasPrefix(v.Str, "ERR wrong number of arguments for ")
}
