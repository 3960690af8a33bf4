package miniredistest

import (
	"testing"
	"time"

	"github.com/miniredisd/miniredisd/lab/explore"
)

// JudgeHistory is AssertOneHolder for a history without a server.
func JudgeHistory(t testing.TB, history, glob string) { assertOneHolder(t, "", history, glob) }

// Explored returns the report of Explore.
func Explored(t *testing.T, test func(*Trial), opts ...Option) *explore.Report {
	r, _ := explored(t, test, opts)
	return r
}

// MostReal is how long a trial in a bubble may take in real time.
func MostReal(d time.Duration) Option {
	return exploreOption("MostReal", func(e *exploring) { e.mostReal = d })
}
