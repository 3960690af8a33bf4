package server

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/miniredisd/miniredisd/internal/config"
)

const oomScoreFile = "/proc/self/oom_score_adj"

// oomScore adjusts the score of the process. When memory runs out, the kernel ends the process with the
// highest score (server.c: setOOMScoreAdj).
type oomScore struct {
	adjusted bool
	base     int // the score before the first adjustment
}

// Apply sets the score that the configuration asks for. Of oom-score-adj-values only the first value
// counts, which is for masters.
func (o *oomScore) Apply(cfg *config.Config) error {
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
