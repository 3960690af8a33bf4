package server

import "sync"

// names are those of connections to come. The page of package glasshttp opens connections on which
// every byte is its reader's, so it cannot send CLIENT SETNAME.
type names struct {
	mu sync.Mutex
	of map[string]string // by the address of the client
}

// NameClient names the next client from addr, as CLIENT SETNAME would. Any goroutine may call it.
func (s *Server) NameClient(addr, name string) {
	s.names.mu.Lock()
	defer s.names.mu.Unlock()
	if s.names.of == nil {
		s.names.of = map[string]string{}
	}
	s.names.of[addr] = name
}

// take returns the name for a new client, "" for none.
func (n *names) take(addr string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	name := n.of[addr]
	delete(n.of, addr)
	return name
}
