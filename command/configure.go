package command

import (
	"math"
	"strings"

	"github.com/miniredisd/miniredisd/store"
)

// Configure applies the configuration to the executor and the keyspace. The server calls it after
// every CONFIG SET.
func (ex *Executor) Configure() {
	cfg, ks := ex.Cfg, ex.KS
	ex.Refusals.apply()
	ks.Policy = store.ParsePolicy(cfg.MaxMemoryPolicy)
	ks.LFU = strings.HasSuffix(cfg.MaxMemoryPolicy, "-lfu")
	ks.LFULogFactor, ks.LFUDecayTime = cfg.LFULogFactor, cfg.LFUDecayTime
	ex.slow = math.MaxInt64
	if us := cfg.SlowlogSlowerThan; us >= 0 && us < math.MaxInt64/1000 {
		ex.slow = us * 1e3
	}
	if ms := cfg.LatencyMonitorThreshold; ms > 0 && ms < math.MaxInt64/1_000_000 {
		ex.slow = min(ex.slow, ms*1e6)
	}
	ex.logs.configure()
	ex.events.wanted = parseClasses(cfg.NotifyEvents)
	ex.events.listen()
	ex.Users.PubSubDefault = cfg.ACLPubSubDefault == "allchannels"
	ks.Limits = store.Limits{
		HashMaxListpackEntries: cfg.HashMaxListpackEntries,
		HashMaxListpackValue:   cfg.HashMaxListpackValue,
		SetMaxIntsetEntries:    cfg.SetMaxIntsetEntries,
		SetMaxListpackEntries:  cfg.SetMaxListpackEntries,
		SetMaxListpackValue:    cfg.SetMaxListpackValue,
		ZSetMaxListpackEntries: cfg.ZSetMaxListpackEntries,
		ZSetMaxListpackValue:   cfg.ZSetMaxListpackValue,
		ListMaxListpackSize:    cfg.ListMaxListpackSize,
		ListCompressDepth:      cfg.ListCompressDepth,
		StreamNodeMaxBytes:     cfg.StreamNodeMaxBytes,
		StreamNodeMaxEntries:   cfg.StreamNodeMaxEntries,
	}
}
