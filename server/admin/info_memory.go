package admin

import "github.com/miniredisd/miniredisd/server"

func (a *State) infoMemory(r *server.Report) {
	used := a.s.Figures.UsedMemory()
	a.s.Figures.PeakMem = max(a.s.Figures.PeakMem, used)
	resident := a.s.Figures.ResidentMemory()
	objects, total := server.HeapMemory()
	overhead := a.s.Ex.KS.Overhead
	dataset := used - overhead

	r.Memory("used_memory", used)
	r.Memory("used_memory_rss", resident)
	r.Memory("used_memory_peak", a.s.Figures.PeakMem)
	r.Decimal("used_memory_peak_perc", percent(used, a.s.Figures.PeakMem), 2, "%")
	r.Fields("used_memory_overhead", overhead, "used_memory_startup", server.StartupMemory, "used_memory_dataset", dataset)
	r.Decimal("used_memory_dataset_perc", percent(dataset, used-server.StartupMemory), 2, "%")
	r.Fields("allocator_allocated", objects, "allocator_active", total, "allocator_resident", resident)
	r.Memory("total_system_memory", a.s.Figures.Process.Memory)
	scripts, kept, interpreter := a.s.Ex.Scripts.Memory()
	libraries, functions, functionBytes, forFunctions := a.s.Ex.Scripts.FunctionMemory()
	r.Fields("used_memory_lua", interpreter, "used_memory_vm_eval", interpreter)
	r.Human("used_memory_lua", interpreter)
	r.Fields("used_memory_scripts_eval", kept,
		"number_of_cached_scripts", scripts, "number_of_functions", functions, "number_of_libraries", libraries,
		"used_memory_vm_functions", forFunctions,
		"used_memory_vm_total", interpreter+forFunctions)
	r.Human("used_memory_vm_total", interpreter+forFunctions)
	r.Fields("used_memory_functions", functionBytes)
	r.Memory("used_memory_scripts", kept+functionBytes)
	r.Memory("maxmemory", int(a.s.Cfg.MaxMemory))
	r.Fields("maxmemory_policy", a.s.Cfg.MaxMemoryPolicy)
	ratio := func(ratio, difference string, a, b int) {
		r.Decimal(ratio, float64(a)/float64(max(b, 1)), 2, "")
		r.Fields(difference, a-b)
	}
	ratio("allocator_frag_ratio", "allocator_frag_bytes", total, objects)
	ratio("allocator_rss_ratio", "allocator_rss_bytes", resident, total)
	ratio("rss_overhead_ratio", "rss_overhead_bytes", resident, resident)
	ratio("mem_fragmentation_ratio", "mem_fragmentation_bytes", resident, used)
	backlog, behind := a.s.Parts.Figure("mem_replication_backlog"), a.s.Parts.Figure("mem_clients_slaves")
	r.Fields("mem_not_counted_for_evict", behind, "mem_replication_backlog", backlog,
		"mem_total_replication_buffers", backlog+behind, "mem_clients_slaves", behind,
		"mem_clients_normal", a.s.Figures.ClientMemory(), "mem_cluster_links", 0, "mem_aof_buffer", 0, "mem_allocator", "go",
		"active_defrag_running", 0, "lazyfree_pending_objects", 0, "lazyfreed_objects", a.s.KS.Stats.LazyFreed)
}

func percent(part, whole int) float64 { return 100 * float64(part) / float64(max(whole, 1)) }
