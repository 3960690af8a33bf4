package server

func (a *Admin) infoMemory(r *Report) {
	used := a.s.Figures.UsedMemory()
	a.s.Figures.PeakMem = max(a.s.Figures.PeakMem, used)
	resident := a.s.Figures.residentMemory()
	objects, total := heapMemory()
	overhead := a.s.Ex.KS.Overhead
	dataset := used - overhead

	r.memory("used_memory", used)
	r.memory("used_memory_rss", resident)
	r.memory("used_memory_peak", a.s.Figures.PeakMem)
	r.decimal("used_memory_peak_perc", percent(used, a.s.Figures.PeakMem), 2, "%")
	r.Fields("used_memory_overhead", overhead, "used_memory_startup", startupMemory, "used_memory_dataset", dataset)
	r.decimal("used_memory_dataset_perc", percent(dataset, used-startupMemory), 2, "%")
	r.Fields("allocator_allocated", objects, "allocator_active", total, "allocator_resident", resident)
	r.memory("total_system_memory", a.s.Figures.process.memory)
	scripts, kept, interpreter := a.s.Ex.Scripts.Memory()
	libraries, functions, functionBytes, forFunctions := a.s.Ex.Scripts.FunctionMemory()
	r.Fields("used_memory_lua", interpreter, "used_memory_vm_eval", interpreter)
	r.human("used_memory_lua", interpreter)
	r.Fields("used_memory_scripts_eval", kept,
		"number_of_cached_scripts", scripts, "number_of_functions", functions, "number_of_libraries", libraries,
		"used_memory_vm_functions", forFunctions,
		"used_memory_vm_total", interpreter+forFunctions)
	r.human("used_memory_vm_total", interpreter+forFunctions)
	r.Fields("used_memory_functions", functionBytes)
	r.memory("used_memory_scripts", kept+functionBytes)
	r.memory("maxmemory", int(a.s.Cfg.MaxMemory))
	r.Fields("maxmemory_policy", a.s.Cfg.MaxMemoryPolicy)
	ratio := func(ratio, difference string, a, b int) {
		r.decimal(ratio, float64(a)/float64(max(b, 1)), 2, "")
		r.Fields(difference, a-b)
	}
	ratio("allocator_frag_ratio", "allocator_frag_bytes", total, objects)
	ratio("allocator_rss_ratio", "allocator_rss_bytes", resident, total)
	ratio("rss_overhead_ratio", "rss_overhead_bytes", resident, resident)
	ratio("mem_fragmentation_ratio", "mem_fragmentation_bytes", resident, used)
	backlog, behind := a.s.Parts.figure("mem_replication_backlog"), a.s.Parts.figure("mem_clients_slaves")
	r.Fields("mem_not_counted_for_evict", behind, "mem_replication_backlog", backlog,
		"mem_total_replication_buffers", backlog+behind, "mem_clients_slaves", behind,
		"mem_clients_normal", a.s.Figures.clientMemory(), "mem_cluster_links", 0, "mem_aof_buffer", 0, "mem_allocator", "go",
		"active_defrag_running", 0, "lazyfree_pending_objects", 0, "lazyfreed_objects", a.s.KS.Stats.LazyFreed)
}

func percent(part, whole int) float64 { return 100 * float64(part) / float64(max(whole, 1)) }
