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
		s.labRow("snapshot", "(SAVE name:string | RESTORE name:string | DEL name:string | LIST)", -3, "O(N) with SAVE and RESTORE, where N is the number of keys, otherwise O(1)",
			"Keeps all keys, scripts and functions under a name, or puts them back.", s.labSnapshot),
	}
}

func (s *Server) labSnapshot(c *command.Call) error {
	verb, args := labVerb(c.Args[2]), c.Args[3:]
	want, known := map[string]int{"SAVE": 1, "RESTORE": 1, "DEL": 1, "LIST": 0}[verb]
	switch {
	case !known:
		return labError("snapshot", "wants SAVE, RESTORE, DEL or LIST, not '%s'", c.Args[2])
	case len(args) < want:
		return labError("snapshot "+verb, "the name is missing")
	case len(args) > want:
		return labError("snapshot "+verb, "'%s' is too much", args[want])
	case verb == "LIST":
		s.listSnapshots(c)
		return nil
	}
	name := string(args[0])
	saved := s.lab.snapshots[name]
	switch {
	case verb == "SAVE":
		if s.lab.snapshots == nil {
			s.lab.snapshots = map[string]*snapshot{}
		}
		s.lab.snapshots[name] = &snapshot{s.ks.Snapshot(), s.ex.Code(), c.Now}
	case saved == nil:
		return labError("snapshot "+verb, "no snapshot is named '%s'", name)
	case verb == "RESTORE":
		s.ex.ReplaceKeys(saved.keys)
		s.ex.LoadCode(saved.code)
		s.doctorLost()
		s.labEvent(lab.EventRestore, "")
	case verb == "DEL":
		delete(s.lab.snapshots, name)
	}
	c.OK()
	return nil
}

func (s *Server) listSnapshots(c *command.Call) {
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
}
