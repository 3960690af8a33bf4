package lab

import (
	"maps"
	"slices"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/store"
)

// snapshot is everything that clients had stored at one time. It shares no memory with the keyspace,
// so it can be restored any number of times.
type snapshot struct {
	keys  store.Snapshot
	code  command.Code
	taken int64 // unix ms
}

func snapshotRows() []command.Row {
	return []command.Row{
		wordsRow("snapshot", "(SAVE name:string | RESTORE name:string | DEL name:string | LIST)",
			-2, "O(N) with SAVE and RESTORE, where N is the number of keys, otherwise O(1)",
			"Saves or restores all keys, scripts and functions under a name.",
			labWord{"SAVE", 1, 1, 0, (*State).snapshotSave}, // inside a script it would save half of the script's changes
			labWord{"RESTORE", 1, 1, 0, (*State).snapshotRestore},
			labWord{"DEL", 1, 1, command.AllowBusy, (*State).snapshotDel},
			labWord{"LIST", 0, 0, command.AllowBusy, (*State).snapshotList}),
	}
}

func (l *State) snapshotSave(c *command.Call, args [][]byte) error {
	if l.IsLoading() {
		return c.Ex.Table.ErrLoading()
	}
	if l.snapshots == nil {
		l.snapshots = map[string]*snapshot{}
	}
	l.snapshots[string(args[0])] = &snapshot{l.KS.Snapshot(), l.Ex.Scripts.Code(), c.Now}
	c.OK()
	return nil
}

func (l *State) snapshotRestore(c *command.Call, args [][]byte) error {
	if l.IsLoading() {
		return c.Ex.Table.ErrLoading()
	}
	saved := l.snapshots[string(args[0])]
	if saved == nil {
		return errNoSnapshot("restore", args[0])
	}
	if l.Cfg.AppendOnly {
		return labError("snapshot restore", "not with appendonly yes: the append only file would not know of it")
	}
	l.Ex.ReplaceKeys(saved.keys)
	l.Ex.Scripts.LoadCode(saved.code)
	l.Follow.Diverge()
	l.doctor.Restreams()
	l.doctorLost()
	l.logEvent(lab.EventRestore, "")
	c.OK()
	return nil
}

func (l *State) snapshotDel(c *command.Call, args [][]byte) error {
	name := string(args[0])
	if l.snapshots[name] == nil {
		return errNoSnapshot("del", args[0])
	}
	delete(l.snapshots, name)
	c.OK()
	return nil
}

func errNoSnapshot(verb string, name []byte) error {
	return labError("snapshot "+verb, "no snapshot is named '%s'", name)
}

func (l *State) snapshotList(c *command.Call, _ [][]byte) error {
	c.Array(len(l.snapshots))
	for _, name := range slices.Sorted(maps.Keys(l.snapshots)) {
		saved := l.snapshots[name]
		c.Map(3)
		c.BulkString("name")
		c.BulkString(name)
		c.BulkString("unix-ms")
		c.Int(saved.taken)
		c.BulkString("keys")
		c.Int(int64(saved.keys.Len()))
	}
	return nil
}
