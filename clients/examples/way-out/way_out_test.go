// Package wayout has scripts that move data and clients to Redis or Valkey and back. The test runs them.
package wayout

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

// Each script checks itself. Its workers have to go on, and no lock may have two holders.
func TestTheWaysOutLeadThereAndBack(t *testing.T) {
	redistest.Need(t, "redis-cli")
	server := filepath.Join(t.TempDir(), "miniredisd")
	out, err := exec.Command("go", "build", "-o", server, "../../../cmd/miniredisd").CombinedOutput()
	require.NoError(t, err, "%s", out)
	for _, to := range []string{"valkey-server", "redis-server"} {
		for _, way := range []string{"single", "sentinel", "cluster"} {
			t.Run(way+" to "+to, func(t *testing.T) {
				redistest.Need(t, to)
				if to == "redis-server" {
					if v := redistest.Start(t).Version; redistest.Older(v, "7.2") {
						t.Skipf("redis-server %s reads no RDB version 11, so it cannot be a replica", v)
					}
				}
				t.Parallel()
				script := exec.Command("./" + way + ".sh")
				script.Env = append(script.Environ(), "MINIREDISD="+server, "TO="+to)
				out, err := script.CombinedOutput()
				require.NoError(t, err, "%s", out)
				require.Regexp(t, `\d+ locks, none had two holders, nothing confirmed is lost\n$`, string(out))
				require.Equal(t, 2, strings.Count(string(out), "the lock that was held has its holder"))
			})
		}
	}
}
