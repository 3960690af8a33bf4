package node

import (
	"errors"

	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/internal/dialect"
	"github.com/miniredisd/miniredisd/server"
	"github.com/miniredisd/miniredisd/server/admin"
	"github.com/miniredisd/miniredisd/server/lab"
	"github.com/miniredisd/miniredisd/server/persist"
	"github.com/miniredisd/miniredisd/server/sentinel"
)

// checkSentinels refuses what Sentinels cannot work with.
func checkSentinels(cfg *config.Config) error {
	switch {
	case cfg.Sentinels == 0:
		return nil
	case !cfg.Lab:
		return errors.New("sentinels needs --lab yes: these Sentinels hear nodes of this process by the lab")
	case cfg.TLSPort != 0 && cfg.Port == 0:
		return errors.New("sentinels needs a port without TLS")
	}
	return nil
}

// newSentinels makes the Sentinels of the process. own returns the configuration of the server with a number.
func newSentinels(
	cfg *config.Config, log func(node int) server.Log, own func(number int) *config.Config,
) ([]*node, error) {
	if cfg.Sentinels == 0 {
		return nil, nil
	}
	commands := sentinel.Commands(dialect.Named(dialect.Default), admin.Rows(), persist.Rows(), lab.Rows(),
		sentinel.Rows())
	var all []*node
	for n := cfg.Nodes() + 1; n <= cfg.Servers(); n++ {
		mine := own(n)
		keepNothing(mine)
		s, err := startNode(mine, log(n), n, cfg.Nodes(), commands)
		if err != nil {
			discard(all)
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// keepNothing takes away what a database needs, and a Sentinel does not have.
func keepNothing(own *config.Config) {
	own.ReplicaOf, own.Save, own.AppendOnly, own.SystemFiles = "", "", false, false
	own.LabDisk, own.LabMaint = false, false
	own.Watch, own.Users, own.ACLFile, own.Renames, own.Dialect = "", nil, "", nil, dialect.Default
}

// introduceSentinels lets Sentinels know the nodes, and each other.
func introduceSentinels(nodes, sentinels []*node) {
	var all []*sentinel.State
	for _, n := range sentinels {
		n.lab.All = nodes[0].lab.All
		all = append(all, n.sentry)
	}
	sentinel.Introduce(all)
}
