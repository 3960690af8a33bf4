package server

import "github.com/miniredisd/miniredisd/command"

func (s *Server) labClockRows() []command.Row {
	return []command.Row{
		s.labRow("clock", "", 2, "O(1)", "Tells the time of the lab.", s.labClock),
	}
}

func (s *Server) labClock(c *command.Call) error {
	c.Map(3)
	c.BulkString("unix-ms")
	c.Int(c.Now)
	c.BulkString("frozen")
	c.Int(0)
	c.BulkString("rate")
	c.Double(1)
	return nil
}
