package server

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/reactor"
	"github.com/miniredisd/miniredisd/store"
)

// CONFIG GET parameter ... (config.c: configGetCommand)
func (s *Server) configGet(c *command.Call) error {
	patterns := make([]string, 0, len(c.Args)-2)
	for _, a := range c.Args[2:] {
		patterns = append(patterns, string(a))
	}
	pairs := s.cfg.Get(patterns, func(pattern, name string) bool {
		return store.Match([]byte(pattern), []byte(name), true)
	})
	c.Map(len(pairs) / 2)
	for _, v := range pairs {
		c.BulkString(v)
	}
	return nil
}

// CONFIG SET (parameter value) ... (config.c: configSetCommand)
func (s *Server) configSet(c *command.Call) error {
	if len(c.Args)%2 != 0 {
		return errSyntax
	}
	pairs := make([]string, 0, len(c.Args)-2)
	for _, a := range c.Args[2:] {
		pairs = append(pairs, string(a))
	}
	if f := s.ex.Following; f != nil && (f.Loading || f.Beside) {
		for i := 0; i < len(pairs); i += 2 {
			if config.Settled(pairs[i]) {
				return s.ex.ErrLoading()
			}
		}
	}
	if _, err := s.cfg.Set(pairs, c.Sess.Local, s.apply); err != nil {
		return err
	}
	for _, name := range s.cfg.Inert() {
		s.log('#', "The directive '%s' is accepted but has no effect here", name)
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
func (s *Server) apply(name string) error {
	switch name {
	case "maxclients":
		if want := s.cfg.MaxClients; !s.clients.fit() || s.cfg.MaxClients < want {
			return fmt.Errorf("The operating system is not able to handle the specified number of clients, try with %d",
				s.cfg.MaxClients)
		}
	case "maxmemory":
		if used := s.figures.usedMemory(); s.cfg.MaxMemory > 0 && int64(used) > s.cfg.MaxMemory {
			s.log('#', "WARNING: the new maxmemory value set via CONFIG SET (%d) is smaller than the current memory "+
				"usage (%d). This will result in key eviction and/or the inability to accept new write commands "+
				"depending on the maxmemory-policy.", s.cfg.MaxMemory, used)
		}
		s.evicting = true
	case "proto-max-bulk-len":
		for _, c := range s.clients.order {
			c.Parser.Limits.MaxBulk = int(s.cfg.ProtoMaxBulkLen)
		}
	case "tls-auth-clients":
		s.handshakes.setAuth()
	case "tls-cert-file", "tls-key-file", "tls-ca-cert-file", "tls-ca-cert-dir", "tls-protocols", "tls-ciphers",
		"tls-session-caching":
		if s.cfg.TLSPort != 0 && !s.handshakes.configure(true) {
			return errors.New(errTLSConfig)
		}
	case "port", "tls-port", "bind":
		if name == "tls-port" && !s.handshakes.configure(false) {
			return errors.New(errTLSConfig)
		}
		if err := s.listeners.relisten(); err != nil {
			s.log('#', "%v", err)
			if name == "bind" {
				return errors.New("Failed to bind to specified addresses.")
			}
			return errors.New("Unable to listen on this port. Check server logs.")
		}
	case "oom-score-adj", "oom-score-adj-values":
		if err := s.oomScore.apply(s.cfg); err != nil {
			s.log('#', "%v", err)
			return errors.New("Failed to set current oom_score_adj. Check server logs.")
		}
	case "requirepass":
		s.ex.Users.SetDefaultPassword(s.cfg.RequirePass)
	case "latency-tracking":
		if !s.cfg.LatencyTracking {
			s.ex.Table.ForgetLatencies()
		}
	}
	for _, fn := range s.parts.configured {
		if err := fn(name); err != nil {
			return err
		}
	}
	s.clients.setOutputTrigger()
	s.clients.setMemoryLimits()
	s.ex.Configure()
	if s.Reconfigured != nil {
		s.Reconfigured(s.cfg, name)
	}
	return nil
}

const errTLSConfig = "Unable to update TLS configuration. Check server logs."

// isDeaf reports whether somebody has ordered that the server refuses connections.
func (ls *listeners) isDeaf() bool { return ls.s.hooks.deaf != nil && ls.s.hooks.deaf() }

// relisten moves the TCP listeners to the addresses in the configuration. It closes the old ones
// first, because the new ones may have the same addresses. If this fails, CONFIG SET restores the
// old configuration and calls relisten again.
func (ls *listeners) relisten() error {
	if ls.s.bubble != nil {
		return nil // there is no TCP
	}
	var unixOnes []*listener
	for _, l := range ls.all {
		if l.unix {
			unixOnes = append(unixOnes, l)
			continue
		}
		ls.s.loop.Unwatch(l.fd, reactor.Readable)
		_ = unix.Close(l.fd)
	}
	ls.all = nil
	if ls.s.cfg.Port == 0 {
		ls.s.cfg.Port = -1 // port 0 means any port only at the start
	}
	var err error
	if ls.s.cfg.Port > 0 && !ls.isDeaf() {
		err = ls.openTCP(&ls.s.cfg.Port, false)
	}
	if ls.s.cfg.TLSPort > 0 && !ls.isDeaf() && err == nil {
		err = ls.openTLS()
	}
	for _, l := range ls.all {
		if err == nil {
			err = ls.watch(l)
		}
	}
	ls.all = append(ls.all, unixOnes...)
	return err
}

// CONFIG REWRITE (config.c: configRewriteCommand)
// It is refused for several masters: the file has room for the port of one master.
func (s *Server) configRewrite(c *command.Call) error { return s.rewrite(c, s.cfg.Rewrite) }

func (s *Server) rewrite(c *command.Call, write func(users []string) error) error {
	if s.nodeCount > 1 {
		what := "masters"
		if s.cfg.Replicas > 0 {
			what = "servers"
		}
		return errorf("ERR %d %s share the configuration file, so none of them can rewrite it", s.nodeCount, what)
	}
	var users []string
	if s.cfg.ACLFile == "" {
		users = s.ex.Users.Lines()
	}
	if err := write(users); err != nil {
		s.log('#', "CONFIG REWRITE failed: %v", err)
		return err
	}
	s.log('*', "CONFIG REWRITE executed with success.")
	c.OK()
	return nil
}

// CONFIG RESETSTAT (config.c: configResetStatCommand)
func (s *Server) configResetStat(c *command.Call) error {
	s.ex.ResetStats()
	s.stats, s.persist.forks = Stats{}, 0
	s.replicas.resetStats()
	s.figures.rates = rates{}
	s.figures.sample() // rates count from now on
	c.OK()
	return nil
}
