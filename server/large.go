package server

// How a command keeps a large argument instead of a copy of it (networking.c: processMultibulkBuffer makes
// querybuf the object). ioworkers/large.go has the other half. A reader can skip both.
//
//	giveLarge   Executor.Given = the argument that fills the input buffer
//	a command   Call.keep takes it: Given is nil from then on. Replaced is the memory of the old value
//	leaveLarge  c gets a new input buffer, and Replaced becomes the buffer of a later command

// lent is the large argument of a client, nil for none. outer is that of the command around it: a slow
// script lets other clients run meanwhile.
type lent struct{ arg, outer []byte }

// giveLarge lets the next command of c keep its large argument, if it has one.
func (s *Server) giveLarge(c *Client) lent {
	given := lent{c.LargeArg(), s.Ex.Given}
	s.Ex.Given = given.arg
	return given
}

// leaveLarge leaves the input buffer of c to the command, if the command has kept the argument.
func (s *Server) leaveLarge(c *Client, given lent) {
	if given.arg != nil && s.Ex.Given == nil {
		c.LeaveInput()
		s.Pool.Keep(s.Ex.Replaced) // jemalloc would give it to the next large command, too
		s.Ex.Replaced = nil
	}
	s.Ex.Given = given.outer
}
