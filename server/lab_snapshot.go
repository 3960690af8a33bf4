package server

import (
	"maps"
	"slices"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/store"
)

// snapshot is all that clients have stored, at one time. Nothing in it is shared with the
// keyspace, so that it can be put back any number of times.
type snapshot struct {
	keys  store.Snapshot
	code  command.Code
	taken int64 // unix ms
}

func (s *Server) labSnapshotRows() []command.Row {
	return []command.Row{
		s.labWordsRow("snapshot", "(SAVE name:string | RESTORE name:string | DEL name:string | LIST)", -2, "O(N) with SAVE and RESTORE, where N is the number of keys, otherwise O(1)",
			"Keeps all keys, scripts and functions under a name, or puts them back.",
			labWord{"SAVE", 1, 1, 0, s.labSnapshotSave}, // in the middle of a script it would keep half of what that does
			labWord{"RESTORE", 1, 1, 0, s.labSnapshotRestore},
			labWord{"DEL", 1, 1, command.AllowBusy, s.labSnapshotDel},
			labWord{"LIST", 0, 0, command.AllowBusy, s.labSnapshotList}),
	}
}

func (s *Server) labSnapshotSave(c *command.Call, args [][]byte) error {
	if s.lab.snapshots == nil {
		s.lab.snapshots = map[string]*snapshot{}
	}
	s.lab.snapshots[string(args[0])] = &snapshot{s.ks.Snapshot(), s.ex.Code(), c.Now}
	c.OK()
	return nil
}

func (s *Server) labSnapshotRestore(c *command.Call, args [][]byte) error {
	saved := s.lab.snapshots[string(args[0])]
	if saved == nil {
		return errNoSnapshot("restore", args[0])
	}
	s.ex.ReplaceKeys(saved.keys)
	s.ex.LoadCode(saved.code)
	s.doctorLost()
	s.labEvent(lab.EventRestore, "")
	c.OK()
	return nil
}

func (s *Server) labSnapshotDel(c *command.Call, args [][]byte) error {
	name := string(args[0])
	if s.lab.snapshots[name] == nil {
		return errNoSnapshot("del", args[0])
	}
	delete(s.lab.snapshots, name)
	c.OK()
	return nil
}

func errNoSnapshot(verb string, name []byte) error {
	return labError("snapshot "+verb, "no snapshot is named '%s'", name)
}

func (s *Server) labSnapshotList(c *command.Call, _ [][]byte) error {
	c.Array(len(s.lab.snapshots))
	for _, name := range slices.Sorted(maps.Keys(s.lab.snapshots)) {
		saved := s.lab.snapshots[name]
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
