package server

func (r *report) infoMemory() {
	used := r.s.figures.usedMemory()
	r.s.figures.peakMem = max(r.s.figures.peakMem, used)
	resident := r.s.figures.residentMemory()
	objects, total := heapMemory()
	overhead := r.s.ex.KS.Overhead
	dataset := used - overhead

	r.memory("used_memory", used)
	r.memory("used_memory_rss", resident)
	r.memory("used_memory_peak", r.s.figures.peakMem)
	r.decimal("used_memory_peak_perc", percent(used, r.s.figures.peakMem), 2, "%")
	r.fields("used_memory_overhead", overhead, "used_memory_startup", startupMemory, "used_memory_dataset", dataset)
	r.decimal("used_memory_dataset_perc", percent(dataset, used-startupMemory), 2, "%")
	r.fields("allocator_allocated", objects, "allocator_active", total, "allocator_resident", resident)
	r.memory("total_system_memory", r.s.figures.process.memory)
	scripts, kept, interpreter := r.s.ex.Scripts.Memory()
	libraries, functions, functionBytes, forFunctions := r.s.ex.Scripts.FunctionMemory()
	r.fields("used_memory_lua", interpreter, "used_memory_vm_eval", interpreter)
	r.human("used_memory_lua", interpreter)
	r.fields("used_memory_scripts_eval", kept,
		"number_of_cached_scripts", scripts, "number_of_functions", functions, "number_of_libraries", libraries,
		"used_memory_vm_functions", forFunctions,
		"used_memory_vm_total", interpreter+forFunctions)
	r.human("used_memory_vm_total", interpreter+forFunctions)
	r.fields("used_memory_functions", functionBytes)
	r.memory("used_memory_scripts", kept+functionBytes)
	r.memory("maxmemory", int(r.s.cfg.MaxMemory))
	r.fields("maxmemory_policy", r.s.cfg.MaxMemoryPolicy)
	ratio := func(ratio, difference string, a, b int) {
		r.decimal(ratio, float64(a)/float64(max(b, 1)), 2, "")
		r.fields(difference, a-b)
	}
	ratio("allocator_frag_ratio", "allocator_frag_bytes", total, objects)
	ratio("allocator_rss_ratio", "allocator_rss_bytes", resident, total)
	ratio("rss_overhead_ratio", "rss_overhead_bytes", resident, resident)
	ratio("mem_fragmentation_ratio", "mem_fragmentation_bytes", resident, used)
	stream, behind := r.s.replicas.memory()
	r.fields("mem_not_counted_for_evict", behind, "mem_replication_backlog", stream-behind,
		"mem_total_replication_buffers", stream, "mem_clients_slaves", behind,
		"mem_clients_normal", r.s.figures.clientMemory(), "mem_cluster_links", 0, "mem_aof_buffer", 0, "mem_allocator", "go",
		"active_defrag_running", 0, "lazyfree_pending_objects", 0, "lazyfreed_objects", r.s.ks.Stats.LazyFreed)
}

func percent(part, whole int) float64 { return 100 * float64(part) / float64(max(whole, 1)) }
