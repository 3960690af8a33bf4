package persist

import (
	"errors"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/persist/aof"
	"github.com/miniredisd/miniredisd/store"
)

// configured follows CONFIG SET.
func (p *Files) configured(name string) error {
	switch name {
	case "appendonly":
		return p.AOF.setAppendOnly()
	case "rdb-key-save-delay":
		p.saveDelay.Set(p.s.Cfg.RDBKeySaveDelay)
	case "aof-disable-auto-gc":
		p.AOF.clean()
	case "appendfsync":
		p.AOF.configure(p.s.Cfg)
	}
	return nil
}

// setAppendOnly follows CONFIG SET appendonly (config.c: updateAppendonly).
func (a *appendOnly) setAppendOnly() error {
	switch on := a.p.s.Cfg.AppendOnly; {
	case on && !a.IsOn():
		return a.switchOn()
	case !on && a.IsOn():
		a.switchOff()
	}
	return nil
}

// IsOn reports whether there is an append only file, or will be one with the first base.
func (a *appendOnly) IsOn() bool { return a.Writer != nil || a.waits }

// switchOn begins with a base of what the keyspace is now. Until it is complete, nothing of the file counts (aof.c:
// startAppendOnly).
func (a *appendOnly) switchOn() error {
	p := a.p
	if err := a.ready(); err != nil {
		p.s.Log('#', "The append only file cannot begin: %v", err)
		return errors.New("Unable to turn on AOF. Check server logs.")
	}
	a.waits = true
	switch {
	case p.Background.snapshot != nil:
		a.rewrite.isWanted = true
		p.s.Log('*', "AOF was enabled but there is already another background operation. An AOF background was scheduled to "+
			"start when possible.")
		return nil
	case p.s.Ex.Depth > 0:
		a.rewrite.isWanted = true
		p.s.Log('*', "AOF was enabled during a transaction. An AOF background was scheduled to start when possible.")
		return nil
	}
	a.abortRewrite() // it has no part for the commands from now on
	if a.beginRewrite() != nil {
		a.waits = false
		return errors.New("Unable to turn on AOF. Check server logs.")
	}
	return nil
}

// switchOff leaves the file as it is (aof.c: stopAppendOnly).
func (a *appendOnly) switchOff() {
	a.abortRewrite()
	a.waits, a.rewrite.isWanted = false, false
	if a.Writer != nil {
		if err := a.Writer.Close(); err != nil {
			a.p.s.Log('#', "Fail to fsync the AOF file: %v", err)
		}
	}
	a.unlisten()
}

// Restart begins anew with all keys, which a master has sent (replication.c: restartAOFAfterSYNC).
func (a *appendOnly) Restart() error {
	if !a.IsOn() {
		return nil
	}
	a.switchOff()
	return a.switchOn()
}

// loadAgain deletes all keys and loads the append only file (debug.c: DEBUG LOADAOF). Other clients are served
// meanwhile.
func (a *appendOnly) loadAgain(c *command.Call, _ [][]byte) error {
	if c.Ex.Scripts.Running() || c.Ex.Depth > 0 { // loading would end what runs
		return store.Error("ERR DEBUG LOADAOF is not allowed from scripts and transactions")
	}
	if a.p.s.IsLoading() {
		return c.Ex.Table.ErrLoading()
	}
	c.NotAsItCame()
	a.p.loadFor(c, a.drainAndLoad)
	return nil
}

func (a *appendOnly) drainAndLoad() error {
	err := a.ready()
	if err == nil && a.Writer != nil && !a.Writer.Broken() {
		err = a.Writer.Drain(a.p.Now())
	}
	var m *aof.Manifest
	if err == nil {
		m, err = aof.ReadManifest(a.folder.On, a.folder.ManifestPath())
	}
	if err == nil {
		err = a.loadInPlace(m)
	}
	if err != nil {
		a.p.s.Log('#', "DEBUG LOADAOF: %v", err)
		return store.Error("ERR Error trying to load the AOF files, check server logs.")
	}
	a.p.s.KS.Stats.Dirty = 0
	a.p.s.Log('*', "Append Only File loaded by DEBUG LOADAOF")
	return nil
}

// loadInPlace loads without appending what it executes.
func (a *appendOnly) loadInPlace(m *aof.Manifest) error {
	ex := a.p.s.Ex
	ex.Propagation.Listen(nil)
	ex.Empty()
	_, err := a.load(func(l *aof.Loading) error { return a.loadParts(l, m) })
	if a.Writer != nil {
		a.feed()
	}
	return err
}
