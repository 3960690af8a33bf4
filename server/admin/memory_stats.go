package admin

import (
	"fmt"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/server"
)

// fieldList is the reply of MEMORY STATS while it is written.
type fieldList struct {
	*command.Call
	n int // fields written
}

func (st *fieldList) num(name string, v int) {
	st.IntField(name, int64(v))
	st.n++
}

func (st *fieldList) ratio(name string, v float64) {
	st.BulkString(name)
	st.Double(v)
	st.n++
}

// MEMORY STATS (object.c: memoryCommand)
// The fields are those of Redis. Those of features that are missing here are 0.
func (a *State) memoryStats(c *command.Call) error {
	used := a.s.Figures.UsedMemory()
	a.s.Figures.PeakMem = max(a.s.Figures.PeakMem, used)
	st := fieldList{Call: c}
	m := c.Defer()
	st.num("peak.allocated", a.s.Figures.PeakMem)
	st.num("total.allocated", used)
	st.num("startup.allocated", server.StartupMemory)
	st.num("replication.backlog", a.s.Parts.Figure("mem_replication_backlog"))
	st.num("clients.slaves", a.s.Parts.Figure("mem_clients_slaves"))
	st.num("clients.normal", a.s.Figures.ClientMemory())
	st.num("cluster.links", 0)
	st.num("aof.buffer", 0)
	_, kept, _ := a.s.Ex.Scripts.Memory()
	st.num("lua.caches", kept)
	_, _, functions, _ := a.s.Ex.Scripts.FunctionMemory()
	st.num("functions.caches", functions)
	keys := a.tableStats(&st)
	dataset := used - a.s.Ex.KS.Overhead
	st.num("overhead.total", a.s.Ex.KS.Overhead)
	st.num("keys.count", keys)
	st.num("keys.bytes-per-key", dataset/max(keys, 1))
	st.num("dataset.bytes", dataset)
	st.ratio("dataset.percentage", percent(dataset, used-server.StartupMemory))
	st.ratio("peak.percentage", percent(used, a.s.Figures.PeakMem))
	a.allocatorStats(&st, used)
	c.EndMap(m, st.n)
	return nil
}

// tableStats writes a field for each database that holds keys, and returns the number of keys.
func (a *State) tableStats(st *fieldList) (keys int) {
	for _, db := range a.s.KS.DBs {
		if db.Len() == 0 {
			continue
		}
		keys += db.Len()
		st.BulkString(fmt.Sprintf("db.%d", db.ID))
		st.n++
		st.Map(3)
		st.IntField("overhead.hashtable.main", int64(db.TableBytes()))
		st.IntField("overhead.hashtable.expires", 0)
		st.IntField("overhead.hashtable.slot-to-keys", 0)
	}
	return keys
}

func (a *State) allocatorStats(st *fieldList, used int) {
	resident := a.s.Figures.ResidentMemory()
	objects, total := server.HeapMemory()
	st.num("allocator.allocated", objects)
	st.num("allocator.active", total)
	st.num("allocator.resident", resident)
	st.ratio("allocator-fragmentation.ratio", float64(total)/float64(max(objects, 1)))
	st.num("allocator-fragmentation.bytes", total-objects)
	st.ratio("allocator-rss.ratio", float64(resident)/float64(max(total, 1)))
	st.num("allocator-rss.bytes", resident-total)
	st.ratio("rss-overhead.ratio", 1)
	st.num("rss-overhead.bytes", 0)
	st.ratio("fragmentation", float64(resident)/float64(max(used, 1)))
	st.num("fragmentation.bytes", resident-used)
}
