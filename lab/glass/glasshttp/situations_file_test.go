package glasshttp

// fileSituations have an append only file on a simulated disk.
func fileSituations() []situation {
	on := func(policy string) []string {
		return []string{"--lab-disk", "yes", "--appendonly", "yes", "--appendfsync", policy}
	}
	return []situation{
		{name: "append only file, always", clients: 1, args: on("always"), play: each("SET k v", "GET k", "MULTI",
			"INCR a", "INCR a", "EXEC")},
		{name: "append only file, everysec", clients: 1, args: on("everysec"), play: func(p *player) {
			p.do(1, "SET k v")
			p.do(1, "SET k w")
			p.lab("CLOCK ADVANCE 1001")
		}},
		{name: "append only file, no", clients: 1, args: on("no"), play: each("SET k v")},
		{name: "append only file, crash", clients: 1, args: on("always"), play: func(p *player) {
			p.do(1, "SET k v")
			p.lab("CRASH")
			p.gone(1)
		}},
		{name: "append only file, disk full", clients: 1, args: on("everysec"), play: func(p *player) {
			p.lab("DISK FAIL WRITE ENOSPC")
			p.do(1, "SET k v")
			p.do(1, "SET k w")
		}},
	}
}
