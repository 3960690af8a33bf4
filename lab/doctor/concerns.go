package doctor

import "github.com/miniredisd/miniredisd/lab/holders"

// Concerns reports whether Command would look at a command. It is fast, and most commands have
// nothing to do with a lock.
func (d *Doctor) Concerns(command string, db int, args [][]byte, by string) bool {
	if len(command) == 3 && len(args) <= 3 && by == "" && d.isAlone() && !d.names.hasAny(args[1:]) {
		return false // GET, SET, DEL, TTL: most commands
	}
	return d.concerns(d.meaning(command), command, db, args, by)
}

func (d *Doctor) concerns(m *meaning, command string, db int, args [][]byte, by string) bool {
	switch {
	case m.does == 0:
		return false
	case command == "setnx" || m.does.has(runs|steers|clears):
		return true
	case m.does.has(publishes):
		return by != ""
	case d.shifted && command == "zadd":
		return true
	case by == Exec && m.does.has(reads|looks|counts|uncounts):
		return d.knows(command, m, db, args)
	case by != "" && !m.does.has(damages|moves):
		return true
	}
	tries := (command == "set" || command == "msetex") && len(args) > 3 && hasOption(args, "nx")
	return tries || d.knows(command, m, db, args)
}

// isAlone reports whether locks of other nodes are none of this doctor's.
func (d *Doctor) isAlone() bool {
	return d.stream == nil && !d.replica && (d.ledger == nil || !d.ledger.astray.Load())
}

// knows reports whether a key of the command is a lock or was one until its holder lost it.
func (d *Doctor) knows(command string, m *meaning, db int, args [][]byte) bool {
	if !d.isAlone() {
		return true
	}
	var room [8]int
	for _, i := range m.keysOf(room[:0], command, len(args), func(i int) string { return string(args[i]) }) {
		if d.names.has(args[i]) && d.knowsKey(holders.Key{DB: db, Name: cut(args[i])}) {
			return true
		}
	}
	return false
}

func (d *Doctor) knowsKey(k holders.Key) bool {
	return d.grants.Get(k) != nil || d.past.Get(k) != nil || d.back.Get(k) != nil || d.taken.Get(k)
}

// names is a set that other names may seem to be in, too. It has every lock that was granted.
type names struct {
	bits [16]uint64
	some bool // it has a name
	long bool // it has the name of a lock that was cut
}

// place returns the bit of a name.
func (n *names) place(name []byte) (word, bit uint) {
	if len(name) == 0 {
		return 0, 0
	}
	first, middle, last := uint(name[0]), uint(name[len(name)/2]), uint(name[len(name)-1])
	at := uint(len(name)) + 3*first + 31*middle + 131*last
	return at / 64 % uint(len(n.bits)), at % 64
}

func (n *names) add(name string) {
	word, bit := n.place([]byte(name))
	n.bits[word] |= 1 << bit
	n.some, n.long = true, n.long || len(name) > keptOfArg
}

func (n *names) has(name []byte) bool {
	word, bit := n.place(name)
	return n.bits[word]>>bit&1 == 1 || n.long && len(name) > maxArg
}

func (n *names) hasAny(all [][]byte) bool {
	if !n.some {
		return false
	}
	for _, name := range all {
		if n.has(name) {
			return true
		}
	}
	return false
}
