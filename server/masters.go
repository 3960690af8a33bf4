package server

import (
	"context"
	"errors"
	"fmt"
	random "math/rand/v2"
	"slices"
	"sync"

	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/resp"
)

// Masters are independent servers in one process, as Redlock needs them. Each has its own loop,
// goroutine, keyspace and configuration. With the directive replicas, each master has replicas, which stand behind
// the masters. They follow it by the protocol of replication (masters_replicas.go). Otherwise only the lab reaches
// from one to another: it posts to the other's loop (internal_request.go), and its doctors share one ledger of
// locks, which has a mutex.
//
//	--masters 3 --port 7001
//
//	   7001            7002            7003
//	Server.Run      Server.Run      Server.Run      a goroutine each
//	    └── Post ──────>└── Post ──────>┘           the lab's only way between them
//
// SHUTDOWN ends the master that gets it. Run returns when all have ended.
type Masters []*Server

// NewMasters makes as many servers as cfg asks for: the masters, the replicas of the first, and so on. All of them
// listen, or none does. Each gets the next port and the next seed. With port 0 each finds a free port, and cfg gets the
// first one's. log returns the log of a server, counted from 1.
func NewMasters(cfg *config.Config, log func(master int) Log) (Masters, error) {
	if cfg.Nodes() <= 1 {
		s, err := New(cfg, log(1))
		return Masters{s}, err
	}
	if err := checkMasters(cfg); err != nil {
		return nil, err
	}
	if err := writeLabTLS(cfg); err != nil {
		return nil, err
	}
	if cfg.Seed == 0 {
		cfg.Seed = newSeed()
	}
	var all Masters
	for n := 1; n <= cfg.Nodes(); n++ {
		own := cfg.Clone()
		if cfg.Replicas > 0 {
			prepareToReplicate(own, n)
		}
		own.Seed += uint64(n - 1)
		if cfg.Port > 0 {
			own.Port += n - 1
		}
		if cfg.TLSPort > 0 {
			own.TLSPort += n - 1
		}
		s, err := newServer(own, log(n), n, cfg.Nodes())
		if err != nil {
			all.discard()
			return nil, err
		}
		all = append(all, s)
		cfg.MaxClients = own.MaxClients // what the first has found out, the others need not complain of
	}
	for _, s := range all {
		s.peers = all
	}
	cfg.Port, cfg.TLSPort = all[0].cfg.Port, all[0].cfg.TLSPort
	all.shareLedger()
	all.becomeNeighbours()
	if err := all.follow(); err != nil {
		all.discard()
		return nil, err
	}
	return all, nil
}

// newSeed returns a seed that clients cannot guess, because they choose the keys.
func newSeed() uint64 { return 1 + random.Uint64N(1<<53) }

// checkMasters refuses what several masters cannot share.
func checkMasters(cfg *config.Config) error {
	n, what := cfg.Nodes(), "masters"
	if cfg.Replicas > 0 {
		what = "servers"
	}
	switch {
	case cfg.UnixSocket != "":
		return fmt.Errorf("unixsocket is one socket and cannot be shared by %d %s", n, what)
	case cfg.Trace != "":
		return fmt.Errorf("trace records one server, not %d %s: use DEBUG TRACE on the one to look at", n, what)
	case max(cfg.Port, cfg.TLSPort)+n-1 > maxPort:
		return fmt.Errorf("%d %s from port %d on would need ports above %d", n, what, max(cfg.Port, cfg.TLSPort), maxPort)
	case n > mostNodes:
		return fmt.Errorf("%d masters with %d replicas each are more than %d servers", cfg.Masters, cfg.Replicas, mostNodes)
	}
	return nil
}

const mostNodes = 1000 // servers of a process

// discard closes servers that were never run.
func (m Masters) discard() {
	for _, s := range m {
		s.listeners.close()
		s.persist.end()
		s.loop.Close()
	}
}

// Run serves until all masters have ended. The first one runs in the calling goroutine, so a single
// server needs no other. If a loop fails, all masters end.
func (m Masters) Run() error {
	if len(m) == 1 {
		return m[0].Run()
	}
	errs := make([]error, len(m))
	run := func(i int) {
		if errs[i] = m[i].Run(); errs[i] != nil {
			m.Stop()
		}
		m[i].log('*', "This %s has ended", m[i].kind())
	}
	var others sync.WaitGroup
	for i := 1; i < len(m); i++ {
		others.Add(1)
		go func() {
			defer others.Done()
			run(i)
		}()
	}
	run(0)
	others.Wait()
	return errors.Join(errs...)
}

// Stop ends Run: every master ends after its pass. Any goroutine may call it.
func (m Masters) Stop() {
	for _, s := range m {
		s.Stop()
	}
}

// Terminate is Terminate of every master.
func (m Masters) Terminate(interrupt bool) {
	for _, s := range m {
		s.Terminate(interrupt)
	}
}

// Terminates reports whether Terminate has asked for an end that is still to come: it waits, and nobody has aborted it.
// Any goroutine may call it.
func (m Masters) Terminates() bool {
	return slices.ContainsFunc(m, func(s *Server) bool { return s.stopping.asked.Load() })
}

// Addrs returns the addresses of all masters in order. Call it before Run.
func (m Masters) Addrs() []string {
	var addrs []string
	for _, s := range m {
		addrs = append(addrs, s.Addrs()...)
	}
	return addrs
}

// TLSAddrs is Addrs for the tls-port.
func (m Masters) TLSAddrs() []string {
	var addrs []string
	for _, s := range m {
		addrs = append(addrs, s.TLSAddrs()...)
	}
	return addrs
}

// MasterOf returns the place of the master to which a server belonged at the start. That of a master is its own.
func (m Masters) MasterOf(i int) int { return m[i].group - 1 }

// Do is Server.Do of master n, counted from 1. For 0 it takes a master that has not ended.
func (m Masters) Do(ctx context.Context, n int, args ...string) (resp.Value, error) {
	if n > 0 {
		return m[n-1].Do(ctx, args...)
	}
	runs := m[0]
	for _, s := range m {
		if !s.inbox.hasEnded() {
			runs = s
			break
		}
	}
	return runs.Do(ctx, args...)
}
