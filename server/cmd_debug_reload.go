package server

import (
	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/store"
)

const (
	errReloadOption store.Error = "ERR DEBUG RELOAD only supports the MERGE, NOFLUSH and NOSAVE options."
	errReload       store.Error = "ERR Error trying to load the RDB dump, check server logs."
)

// debugReload saves and loads the data as Redis does, but in memory, not in a file. NOSAVE loads
// what the last RELOAD saved.
func (s *Server) debugReload(c *command.Call, options [][]byte) error {
	if c.Ex.Scripts.Running() { // reloading would delete the running function
		return store.Error("ERR DEBUG RELOAD is not allowed from scripts")
	}
	save, flush, merge := true, true, false
	for _, option := range options {
		switch {
		case is(option, "merge"):
			merge = true
		case is(option, "noflush"):
			flush = false
		case is(option, "nosave"):
			save = false
		default:
			return errReloadOption
		}
	}
	if save {
		s.image = c.Ex.Image()
	}
	if s.image == nil {
		s.log('#', "DEBUG RELOAD NOSAVE: no earlier RELOAD has saved anything")
		return errReload
	}
	if flush {
		c.Ex.Empty()
	}
	if err := c.Ex.Load(s.image, merge); err != nil {
		s.log('#', "DEBUG RELOAD: %v", err)
		return errReload
	}
	s.log('*', "DB reloaded by DEBUG RELOAD")
	c.OK()
	return nil
}
