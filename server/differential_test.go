package server_test

import (
	"flag"
	"strings"
	"testing"

	"github.com/miniredisd/miniredisd/internal/test/differential"
	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

var (
	seed       = flag.Uint64("differential.seed", 1, "what the random commands follow from")
	count      = flag.Int("differential.count", 80000, "how many commands are compared")
	fieldCount = flag.Int("differential.fields", 20000, "how many commands of fields that expire are compared")
	groups     = flag.String("differential.groups", "", "only these groups of commands, comma-separated")
)

func TestDifferential(t *testing.T) {
	oracle := redistest.Start(t)
	o := differential.Options{Seed: *seed, Count: *count}
	if *groups != "" {
		o.Groups = strings.Split(*groups, ",")
	}
	differential.Run(t, start(t, differential.Args()), oracle, o)
}

// Hash fields that expire are compared with a valkey-server, because no redis-server of the tests has them.
func TestDifferentialOfFieldsThatExpire(t *testing.T) {
	oracle := redistest.StartValkey(t)
	if redistest.Older(oracle.Version, "9.1") {
		t.Skipf("valkey-server is %s, and 9.1 is compared", oracle.Version)
	}
	addr := start(t, append(differential.Args(), "--dialect", "valkey-9.1"))
	differential.Run(t, addr, oracle, differential.FieldTTLs(*seed, *fieldCount))
}
