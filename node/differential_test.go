package node_test

import (
	"flag"
	"strings"
	"testing"

	"github.com/miniredisd/miniredisd/internal/test/differential"
	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

var (
	seed        = flag.Uint64("differential.seed", 1, "what the random commands follow from")
	count       = flag.Int("differential.count", 80000, "how many commands are compared")
	newerCount  = flag.Int("differential.newer", 20000, "how many commands that Redis 7.2 lacks are compared")
	valkeyCount = flag.Int("differential.valkey", 40000, "how many commands of Valkey are compared")
	duration    = flag.Duration("differential.for", 0, "how long, instead of how many; differences do not end the test")
	groups      = flag.String("differential.groups", "", "only these groups of commands, comma-separated")
)

func TestDifferential(t *testing.T) {
	t.Parallel()
	oracle := redistest.Start(t)
	o := differential.Options{Seed: *seed, Count: *count, For: *duration}
	if *groups != "" {
		o.Groups = strings.Split(*groups, ",")
	}
	differential.Run(t, start(t, differential.Args()), oracle, o)
}

// What Redis 7.2 lacks is compared with a valkey-server.
func TestDifferentialOfNewerCommands(t *testing.T) {
	addr, oracle := besideValkey(t)
	o := differential.Newer(*seed, *newerCount)
	o.For = *duration
	differential.Run(t, addr, oracle, o)
}

func TestDifferentialOfValkey(t *testing.T) {
	t.Parallel()
	addr, oracle := besideValkey(t)
	o := differential.AllOfValkey(*seed, *valkeyCount)
	o.For = *duration
	differential.Run(t, addr, oracle, o)
}

// besideValkey starts a server that plays Valkey, and the real one.
func besideValkey(t *testing.T) (addr string, oracle *redistest.Server) {
	t.Helper()
	oracle = redistest.StartValkey(t)
	if redistest.Older(oracle.Version, "9.1") {
		t.Skipf("valkey-server is %s, and 9.1 is compared", oracle.Version)
	}
	return start(t, append(differential.Args(), "--dialect", "valkey-9.1")), oracle
}
