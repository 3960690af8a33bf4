package command

import "github.com/miniredisd/miniredisd/store"

// ahead says which keys of a command are loaded before it runs: see Executor.Prefetch.
type ahead uint8

const (
	noKeys      ahead = iota // no argument is a key, or only a search finds it
	oneKey                   // one key at a fixed place
	severalKeys              // ranges of keys at places that follow from the number of arguments or from numkeys
)

// fewKeys is the greatest number of keys of a command that Executor.Prefetch loads. A command with more keys
// loads them itself.
const fewKeys = 4

// loads returns which keys of a command with these specifications are loaded before it runs.
func loads(specs []KeySpec) ahead {
	for i := range specs {
		if k := &specs[i]; k.Find != nil || k.Keyword != "" || k.Flags&NotKey != 0 {
			return noKeys
		}
	}
	switch {
	case len(specs) == 0:
		return noKeys
	case len(specs) == 1 && specs[0].Last == 0 && !specs[0].NumKeys:
		return oneKey
	}
	return severalKeys
}

// Prefetch loads the keys of requests that are about to run in a database: store.DB.Prefetch has the reason.
// Each request has at least two words. Prefetch leaves out commands with more than fewKeys keys.
func (ex *Executor) Prefetch(db int, requests [][][]byte) {
	var room [store.PrefetchMax][][]byte
	wanted := room[:0]
	for _, args := range requests {
		if len(wanted)+fewKeys > cap(wanted) {
			ex.KS.DBs[db].Prefetch(wanted)
			wanted = wanted[:0]
		}
		wanted = ex.Table.appendWanted(wanted, args)
	}
	ex.KS.DBs[db].Prefetch(wanted)
}

// appendWanted appends up to fewKeys keys of a request. The words after the only key of a command may name
// an element.
func (t *Table) appendWanted(wanted [][][]byte, args [][]byte) [][][]byte {
	if len(args) == 2 { // the other word is a key, or the command has none
		return append(wanted, args[1:])
	}
	cmd := t.lookup(args[0])
	if cmd == nil {
		return wanted
	}
	switch cmd.ahead {
	case oneKey:
		if at := cmd.Keys[0].Index; at < len(args) {
			return append(wanted, args[at:])
		}
	case severalKeys:
		if n := cmd.countKeys(args); n == 0 || n > fewKeys {
			return wanted
		}
		for i := range cmd.Keys {
			k := &cmd.Keys[i]
			first, last, step := k.span(args, k.Index)
			for at := first; at <= last; at += step {
				wanted = append(wanted, args[at:at+1])
			}
		}
	}
	return wanted
}

// prefetchMany loads the keys of a command with severalKeys if they are more than fewKeys, because Prefetch
// has left them out.
func (c *Call) prefetchMany() {
	if c.Cmd.countKeys(c.Args) <= fewKeys {
		return
	}
	for i := range c.Cmd.Keys {
		k := &c.Cmd.Keys[i]
		if first, last, step := k.span(c.Args, k.Index); first <= last {
			c.DB.PrefetchKeys(c.Args[first:last+1], step)
		}
	}
}

// countKeys returns the number of keys of a request for a command with severalKeys. It returns 0 if the
// command will refuse the arguments.
func (c *Command) countKeys(args [][]byte) (n int) {
	for i := range c.Keys {
		k := &c.Keys[i]
		first, last, step := k.span(args, k.Index)
		if last >= len(args) {
			return 0
		}
		n += max(0, (last-first)/step+1)
	}
	return n
}
