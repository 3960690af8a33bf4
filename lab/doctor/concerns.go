package doctor

import "github.com/miniredisd/miniredisd/lab/holders"

// Concerns reports whether Command would look at a command. It is fast, and most commands have
// nothing to do with a lock.
func (d *Doctor) Concerns(command string, db int, args [][]byte, by string) bool {
	if len(command) == 3 && len(args) <= 3 && by == "" && d.knowsNone() { // GET, SET, DEL, TTL: most commands
		return false
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

func (d *Doctor) knowsNone() bool {
	return d.stream == nil && !d.replica && (d.ledger == nil || !d.ledger.astray.Load()) &&
		d.grants.Len()+d.past.Len()+d.back.Len()+d.taken.Len() == 0
}

// knows reports whether a key of the command is a lock or was one until its holder lost it.
func (d *Doctor) knows(command string, m *meaning, db int, args [][]byte) bool {
	switch {
	case d.knowsNone():
		return false
	case d.stream != nil || d.replica || d.ledger != nil && d.ledger.astray.Load(): // locks of other nodes count, too
		return true
	}
	var room [8]int
	for _, i := range m.keysOf(room[:0], command, len(args), func(i int) string { return string(args[i]) }) {
		if d.knowsKey(holders.Key{DB: db, Name: string(args[i])}) {
			return true
		}
	}
	return false
}

func (d *Doctor) knowsKey(k holders.Key) bool {
	return d.grants.Get(k) != nil || d.past.Get(k) != nil || d.back.Get(k) != nil || d.taken.Get(k)
}
