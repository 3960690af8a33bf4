package server_test

import (
	"flag"
	"strings"
	"testing"

	"github.com/miniredisd/miniredisd/internal/test/differential"
	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

var (
	seed   = flag.Uint64("differential.seed", 1, "what the random commands follow from")
	count  = flag.Int("differential.count", 80000, "how many commands are compared")
	groups = flag.String("differential.groups", "", "only these groups of commands, comma-separated")
)

func TestDifferential(t *testing.T) {
	oracle := redistest.Start(t)
	o := differential.Options{Seed: *seed, Count: *count}
	if *groups != "" {
		o.Groups = strings.Split(*groups, ",")
	}
	differential.Run(t, start(t, differential.Args()), oracle, o)
}
