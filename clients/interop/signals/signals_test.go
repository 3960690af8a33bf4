package signals

import (
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAToolEndsWhenItsOutputHasNoReader(t *testing.T) {
	r, w := pipe(t)
	ctx, stop := Context(w)
	defer stop()
	require.True(t, hasReader(w))
	require.NoError(t, r.Close())
	_, err := w.WriteString("a line\n")
	require.ErrorIs(t, err, syscall.EPIPE)
	<-ctx.Done()
}

func TestAToolGoesOnWhenAClientHasEnded(t *testing.T) {
	r, w := pipe(t)
	obeys := func(signal os.Signal) (ends bool) {
		signals := make(chan os.Signal, 1)
		signals <- signal
		close(signals)
		obey(signals, w, func() { ends = true })
		return ends
	}
	require.False(t, obeys(syscall.SIGPIPE))
	require.NoError(t, r.Close())
	require.True(t, obeys(syscall.SIGPIPE))
}

func TestAToolEndsWhenItsUserWantsThat(t *testing.T) {
	ctx, stop := Context(os.Stdout)
	defer stop()
	require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGTERM))
	<-ctx.Done()
}

func pipe(t *testing.T) (r, w *os.File) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { _, _ = r.Close(), w.Close() })
	return r, w
}
