package server

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/miniredisd/miniredisd/internal/config"
)

const oomScoreFile = "/proc/self/oom_score_adj"

// oomScore is what the process has asked of the kernel, which ends the process with the
// highest score when memory runs out (server.c: setOOMScoreAdj).
type oomScore struct {
	adjusted bool
	base     int // the score before the first adjustment
}

// apply brings the score of the process to what the configuration says. A server is always
// a master: only the first value counts.
func (o *oomScore) apply(cfg *config.Config) error {
	on := cfg.OOMScoreAdj != "no"
	if !on && !o.adjusted {
		return nil
	}
	if on && !o.adjusted {
		text, err := os.ReadFile(oomScoreFile)
		if err != nil {
			return fmt.Errorf("Unable to read oom_score_adj: %s", config.ErrorText(err))
		}
		o.base, _ = strconv.Atoi(strings.TrimSpace(string(text)))
	}
	o.adjusted = on
	score := o.base
	switch cfg.OOMScoreAdj {
	case "yes":
		score += cfg.OOMScoreAdjValues[0]
	case "absolute":
		score = cfg.OOMScoreAdjValues[0]
	}
	score = min(max(score, -1000), 1000)
	if err := os.WriteFile(oomScoreFile, []byte(strconv.Itoa(score)+"\n"), 0); err != nil {
		return fmt.Errorf("Unable to write oom_score_adj: %s", config.ErrorText(err))
	}
	return nil
}
