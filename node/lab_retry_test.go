package node_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/node"
)

// A folder takes the place of the socket while the server is down. The minute passes in a bubble.
func TestAServerWhosePlaceIsTakenSaysSoOnceAndTriesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var lines []string
		cfg := config.Default()
		cfg.Lab, cfg.Bubble, cfg.Seed, cfg.MaxClients = true, true, 1, 50
		s, err := node.New(cfg, func(_ byte, format string, args ...any) {
			mu.Lock()
			defer mu.Unlock()
			lines = append(lines, fmt.Sprintf(format, args...))
		})
		require.NoError(t, err)
		ended := make(chan error)
		go func() { ended <- s.Run() }()
		defer func() { require.NoError(t, <-ended) }()
		defer s.Stop()
		said := func() (n int) {
			mu.Lock()
			defer mu.Unlock()
			for _, line := range lines {
				if strings.Contains(line, "Listening again") {
					n++
				}
			}
			return n
		}
		do := func(args ...string) string {
			v, err := s.Do(t.Context(), args...)
			require.NoError(t, err)
			return v.Str
		}
		_, run, _ := strings.Cut(do("INFO", "server"), "run_id:")
		place := filepath.Join(os.TempDir(), "miniredisd-"+run[:16])
		do("LAB", "CRASH", "DOWN", "1000")
		require.NoError(t, os.MkdirAll(filepath.Join(place, "taken"), 0o700))
		defer os.RemoveAll(place)
		time.Sleep(time.Minute + 50*time.Millisecond) // the server tries again 50 ms later, not while the place becomes free
		require.Equal(t, 1, said())
		_, err = s.Dial()
		require.Error(t, err)
		require.NoError(t, os.RemoveAll(place))
		time.Sleep(time.Second)
		require.Equal(t, 2, said(), "once that it cannot, once that it can")
		c, err := s.Dial()
		require.NoError(t, err)
		require.NoError(t, c.Close())
	})
}
