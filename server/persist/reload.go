package persist

import (
	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/server"
	"github.com/miniredisd/miniredisd/store"
)

const (
	errReloadOption store.Error = "ERR DEBUG RELOAD only supports the MERGE, NOFLUSH and NOSAVE options."
	errReload       store.Error = "ERR Error trying to load the RDB dump, check server logs."
	errPlain        store.Error = "ERR"
)

// reload saves the data, deletes them and loads them again (debug.c: debugCommand). NOSAVE loads what is there. Other
// clients are served meanwhile, unless DEBUG RELOAD is in a transaction.
func (p *Files) reload(c *command.Call, options [][]byte) error {
	if c.Ex.Scripts.Running() { // reloading would delete the running function
		return store.Error("ERR DEBUG RELOAD is not allowed from scripts")
	}
	if p.s.IsLoading() { // the file would get a part of the keys
		return c.Ex.Table.ErrLoading()
	}
	save, flush, merge := true, true, false
	for _, option := range options {
		switch {
		case ascii.EqualFold(option, "merge"):
			merge = true
		case ascii.EqualFold(option, "noflush"):
			flush = false
		case ascii.EqualFold(option, "nosave"):
			save = false
		default:
			return errReloadOption
		}
	}
	if p.AOF.IsOn() && (!save || !flush || merge) { // the append only file would not know of what the RDB file has
		return store.Error("ERR DEBUG RELOAD with options is not supported by miniredisd with appendonly yes")
	}
	c.NotAsItCame()
	load := func() error { return p.saveAndLoad(save, flush, merge) }
	if c.Ex.Depth == 0 {
		p.loadFor(c, load)
		return nil
	}
	if err := load(); err != nil {
		return err
	}
	c.OK()
	return nil
}

func (p *Files) saveAndLoad(save, flush, merge bool) error {
	listens := p.s.Ex.Propagation.IsOn() && p.s.Cfg.ReplicaOf == ""
	for listens && !p.s.KS.ExpireDue() { // nobody would hear of what expires while loading
	}
	p.AbortBackground() // Redis lets it go on, and then its file replaces the newer one
	if save && p.save() != nil {
		return errPlain
	}
	if found, err := p.exists(); !found {
		p.s.Log('#', "DEBUG RELOAD: there is no file %s (%v)", p.Path(), err)
		return errReload
	}
	if flush {
		p.s.Ex.Empty()
	}
	if err := p.load(merge); err != nil {
		p.s.Log('#', "DEBUG RELOAD: %v", err)
		return errReload
	}
	p.s.Log('*', "DB reloaded by DEBUG RELOAD")
	return nil
}

// loadFor makes the client of a command wait for load, which begins when the commands of the pass are executed.
func (p *Files) loadFor(c *command.Call, load func() error) {
	w, ex := server.Waiter{By: p.s.Running, Request: c.Sess.Commands}, p.s.Ex
	c.Await(func(out *resp.Writer) { out.Error(errGivenUp.Error()) })
	answer := func(err error) {
		if !w.IsOn() {
			return
		}
		p.s.Ex.Answer(&w.By.Sess, func(out *resp.Writer) {
			if err != nil {
				out.Error(err.Error())
				return
			}
			out.Status("OK")
		})
	}
	p.s.Deferred = append(p.s.Deferred, func() {
		switch {
		case p.s.Ex != ex: // LAB CRASH has come first: these are other keys
			answer(errGivenUp)
		case p.Loads():
			answer(p.s.Ex.Table.ErrLoading())
		case p.s.LoadsInRun:
			p.loadBeside(load, answer)
		default:
			answer(load())
		}
	})
}
