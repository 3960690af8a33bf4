package server

// features are what stands beside the pass. Each attaches itself by parts.go and hooks.go.
type features struct {
	admin    admin       // cmd_*.go
	persist  persistence // persist_*.go
	replicas replicas    // repl_master*.go
	follow   following   // repl_follow*.go
	failover failover    // repl_failover.go
	stopping stopping    // persist_shutdown.go
	link     linkHooks   // repl_hooks.go
	lab      *labState   // nil unless the directive lab is on
	glass    *glassState // nil unless the directive watch is set
	peers    []*Server   // all servers of the process, with this one
}
