package command

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The figures are those of redis-server 7.2.6. With a factor of 0, each access counts.
func TestTouchCountsAnAccessUnderNoTouchButNotInAScript(t *testing.T) {
	d := newDriver()
	d.ex.Cfg.MaxMemoryPolicy, d.ex.Cfg.LFULogFactor = "allkeys-lfu", 0
	d.ex.Configure()
	d.do(t, "SET k v")
	d.do(t, "CLIENT NO-TOUCH on")
	for _, step := range []struct {
		line string
		freq int64
	}{
		{"GET k", 5}, {"TOUCH k", 6}, {"GET k", 6},
		{"MULTI", 0}, {"TOUCH k", 0}, {"GET k", 0}, {"EXEC", 7},
		{"EVAL redis.call('touch',KEYS[1]) 1 k", 7},
	} {
		d.do(t, step.line)
		if step.freq != 0 {
			require.Equal(t, step.freq, d.do(t, "OBJECT FREQ k").Int, step.line)
		}
	}
}
