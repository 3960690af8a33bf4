package miniredistest

import (
	"testing"

	"github.com/miniredisd/miniredisd/lab/explore"
)

// topology completes the options for a cluster or for Sentinels. Each master has a replica there, which is not behind.
func (o *options) topology(t *testing.T, asked *explore.Options) {
	t.Helper()
	cfg, e := o.config(t), &o.explore
	asked.Cluster, asked.Sentinels = cfg.Cluster, cfg.Sentinels > 0
	switch {
	case !asked.Cluster && !asked.Sentinels:
		return
	case asked.Cluster && asked.Sentinels:
		t.Fatal("miniredistest: a cluster has no Sentinels. Explore takes one of the options")
	case asked.Sentinels && cfg.Sentinels != 3:
		t.Fatalf("miniredistest: Explore plays Sentinels(3), not Sentinels(%d)", cfg.Sentinels)
	case asked.Sentinels && e.masters > 1:
		t.Fatal("miniredistest: in Explore, Sentinels watch one master. OnMasters does not go with them")
	case asked.Cluster && e.masters == 0:
		e.masters = 3
	case asked.Cluster && e.masters < 3:
		t.Fatal("miniredistest: a cluster needs three masters or more: two cannot agree on a failover")
	}
	asked.Replica = false // of Replicas(1)
	if cfg.Replicas == 0 {
		Replicas(1)(o)
	}
}

// isTopology reports whether clients have to find the node that serves them.
func (m Masters) isTopology() bool {
	cfg := m[0].s.Cfg
	return cfg.Cluster || cfg.Sentinels > 0
}

// leads reports whether a node is a master.
func (s *Server) leads() bool {
	role, err := s.Try("ROLE")
	return err == nil && role.Elems[0].Str == "master"
}

const noKey = -2 // what PTTL replies

// ttl returns the TTL of a key on a node. Where clients have to find the master, so has this.
func (m Masters) ttl(master, db int, key string) int64 {
	of, most := m[master-1:master], int64(noKey)
	anywhere := m.isTopology()
	if anywhere {
		of = m
	}
	for _, s := range of {
		v, err := s.DB(db).Try("PTTL", key)
		if err == nil && (!anywhere || s.leads()) {
			most = longer(most, v.Int)
		}
	}
	return most
}

// longer returns the longer of two TTLs.
func longer(a, b int64) int64 {
	if min(a, b) == -1 { // it has no end
		return -1
	}
	return max(a, b)
}

// slot returns the slot of a key, and the number of the node that serves it, 0 for none.
func (m Masters) slot(key string) (slot, owner int) {
	v, err := m[0].Try("CLUSTER", "KEYSLOT", key)
	if err != nil {
		return 0, 0
	}
	slots, err := m[0].Try("CLUSTER", "SLOTS")
	if err != nil {
		return int(v.Int), 0
	}
	if s := m[0].serves(int(v.Int), slots); s != nil {
		owner = s.place + 1
	}
	return int(v.Int), owner
}
