package server

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What a pass has left must not wait for a timer.
func TestTheLoopDoesNotSleepBeforeWorkThatIsLeft(t *testing.T) {
	resumed, unwritten := &Server{}, &Server{}
	resumed.resumed = []*client{{}}
	unwritten.pendingWrites = []*client{{}}
	require.Zero(t, resumed.sleep())
	require.Zero(t, unwritten.sleep())
}
