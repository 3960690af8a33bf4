package server

import (
	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/store"
)

const (
	errReloadOption store.Error = "ERR DEBUG RELOAD only supports the MERGE, NOFLUSH and NOSAVE options."
	errReload       store.Error = "ERR Error trying to load the RDB dump, check server logs."
	errPlain        store.Error = "ERR"
)

// reload saves the data, deletes them and loads them again (debug.c: debugCommand). NOSAVE loads what is there.
func (p *persistence) reload(c *command.Call, options [][]byte) error {
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
	if p.aof.isOn() && (!save || !flush || merge) { // the append only file would not know of what the RDB file has
		return store.Error("ERR DEBUG RELOAD with options is not supported by miniredisd with appendonly yes")
	}
	c.NotAsItCame()
	for p.aof.isOn() && !p.s.ks.ExpireDue() { // it would not know of what expires while loading
	}
	p.abortBackground() // Redis lets it go on, and then its file replaces the newer one
	if save && p.save() != nil {
		return errPlain
	}
	if found, err := p.exists(); !found {
		p.s.log('#', "DEBUG RELOAD: there is no file %s (%v)", p.path(), err)
		return errReload
	}
	if flush {
		c.Ex.Empty()
	}
	if err := p.load(merge); err != nil {
		p.s.log('#', "DEBUG RELOAD: %v", err)
		return errReload
	}
	p.s.log('*', "DB reloaded by DEBUG RELOAD")
	c.OK()
	return nil
}
