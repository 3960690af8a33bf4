package watch

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTheEndOfSlowMotionEndsADelay(t *testing.T) {
	r := newRig(t)
	r.w.Slow(time.Hour)
	done := r.pass(get(7, "k")...)
	require.Equal(t, WhySlow, r.stop().Why)
	r.w.Slow(0)
	<-done
}

func TestSlowMotionLetsAStopStand(t *testing.T) {
	r := newRig(t)
	r.w.Pause()
	done := r.pass(get(7, "k")...)
	r.stop()
	r.w.Slow(0)
	require.Equal(t, "stopped", r.w.State().State)
	r.w.Continue()
	<-done
}
