package admin

import (
	"errors"
	"fmt"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/server"
	"github.com/miniredisd/miniredisd/store"
)

// CONFIG GET parameter ... (config.c: configGetCommand)
func (a *State) configGet(c *command.Call) error {
	patterns := make([]string, 0, len(c.Args)-2)
	for _, a := range c.Args[2:] {
		patterns = append(patterns, string(a))
	}
	pairs := a.s.Cfg.Get(patterns, func(pattern, name string) bool {
		return store.Match([]byte(pattern), []byte(name), true)
	})
	c.Map(len(pairs) / 2)
	for _, v := range pairs {
		c.BulkString(v)
	}
	return nil
}

// CONFIG SET (parameter value) ... (config.c: configSetCommand)
func (a *State) configSet(c *command.Call) error {
	if len(c.Args)%2 != 0 {
		return server.ErrSyntax
	}
	pairs := make([]string, 0, len(c.Args)-2)
	for _, a := range c.Args[2:] {
		pairs = append(pairs, string(a))
	}
	if a.s.Ex.Refusals.Has(command.Loads | command.LoadsAside) {
		for i := 0; i < len(pairs); i += 2 {
			if config.Settled(pairs[i]) {
				return a.s.Ex.Table.ErrLoading()
			}
		}
	}
	if _, err := a.s.Cfg.Set(pairs, c.Sess.Local, a.apply); err != nil {
		return err
	}
	for _, name := range a.s.Cfg.Inert() {
		a.s.Log('#', "The directive '%s' is accepted but has no effect here", name)
	}
	c.OK()
	return nil
}

// configSecrets returns the values of directives that are passwords.
func configSecrets(args [][]byte) (secrets []int) {
	for i := 2; i+1 < len(args); i += 2 {
		if config.Sensitive(string(args[i])) {
			secrets = append(secrets, i+1)
		}
	}
	return secrets
}

// apply puts a directive into effect after CONFIG SET.
func (a *State) apply(name string) error {
	switch name {
	case "maxclients":
		if want := a.s.Cfg.MaxClients; !a.s.Clients.Fit() || a.s.Cfg.MaxClients < want {
			return fmt.Errorf("The operating system is not able to handle the specified number of clients, try with %d",
				a.s.Cfg.MaxClients)
		}
	case "maxmemory":
		if used := a.s.Figures.UsedMemory(); a.s.Cfg.MaxMemory > 0 && int64(used) > a.s.Cfg.MaxMemory {
			a.s.Log('#', "WARNING: the new maxmemory value set via CONFIG SET (%d) is smaller than the current memory "+
				"usage (%d). This will result in key eviction and/or the inability to accept new write commands "+
				"depending on the maxmemory-policy.", a.s.Cfg.MaxMemory, used)
		}
		a.s.Evicting = true
	case "proto-max-bulk-len":
		for _, c := range a.s.Clients.Order {
			c.Parser.Limits.MaxBulk = int(a.s.Cfg.ProtoMaxBulkLen)
		}
	case "tls-auth-clients":
		a.s.Handshakes.SetAuth()
	case "tls-cert-file", "tls-key-file", "tls-ca-cert-file", "tls-ca-cert-dir", "tls-protocols", "tls-ciphers",
		"tls-session-caching":
		if a.s.Cfg.TLSPort != 0 && !a.s.Handshakes.Configure(true) {
			return errors.New(server.ErrTLSConfig)
		}
	case "port", "tls-port", "bind":
		if name == "tls-port" && !a.s.Handshakes.Configure(false) {
			return errors.New(server.ErrTLSConfig)
		}
		if err := a.s.Listeners.Relisten(); err != nil {
			a.s.Log('#', "%v", err)
			if name == "bind" {
				return errors.New("Failed to bind to specified addresses.")
			}
			return errors.New("Unable to listen on this port. Check server logs.")
		}
	case "oom-score-adj", "oom-score-adj-values":
		if err := a.s.OOMScore.Apply(a.s.Cfg); err != nil {
			a.s.Log('#', "%v", err)
			return errors.New("Failed to set current oom_score_adj. Check server logs.")
		}
	case "requirepass":
		a.s.Ex.Users.SetDefaultPassword(a.s.Cfg.RequirePass)
	case "latency-tracking":
		if !a.s.Cfg.LatencyTracking {
			a.s.Ex.Table.ForgetLatencies()
		}
	}
	for _, fn := range a.s.Parts.Configured {
		if err := fn(name); err != nil {
			return err
		}
	}
	a.s.Clients.SetOutputTrigger()
	a.s.Clients.SetMemoryLimits()
	a.s.Ex.Configure()
	if a.s.Reconfigured != nil {
		a.s.Reconfigured(a.s.Cfg, name)
	}
	return nil
}

// CONFIG REWRITE (config.c: configRewriteCommand)
// It is refused for several masters: the file has room for the port of one master.
func (a *State) configRewrite(c *command.Call) error { return a.rewrite(c, a.s.Cfg.Rewrite) }

func (a *State) rewrite(c *command.Call, write func(users []string) error) error {
	if a.s.NodeCount > 1 {
		what := "masters"
		if a.s.Cfg.Replicas > 0 {
			what = "servers"
		}
		return store.Errorf("ERR %d %s share the configuration file, so none of them can rewrite it", a.s.NodeCount, what)
	}
	var users []string
	if a.s.Cfg.ACLFile == "" {
		users = a.s.Ex.Users.Lines()
	}
	if err := write(users); err != nil {
		a.s.Log('#', "CONFIG REWRITE failed: %v", err)
		return err
	}
	a.s.Log('*', "CONFIG REWRITE executed with success.")
	c.OK()
	return nil
}

// CONFIG RESETSTAT (config.c: configResetStatCommand)
func (a *State) configResetStat(c *command.Call) error {
	a.s.Ex.ResetStats()
	a.s.Stats = server.Stats{}
	a.s.Figures.Rates = server.Rates{}
	a.s.Figures.Sample() // rates count from now on
	c.OK()
	return nil
}
