package trials

import (
	"context"
	"strconv"
	"strings"

	"github.com/miniredisd/miniredisd/course/stage"
	"github.com/miniredisd/miniredisd/lab/explore"
	"github.com/miniredisd/miniredisd/resp"
)

// servers are those of a trial: a stage, or foreign ones.
type servers interface {
	// Do executes a command on a master, over no connection that a rule of the lab meets.
	Do(ctx context.Context, master int, words ...string) (resp.Value, error)
}

// newStage starts servers for a trial.
func (d *driver) newStage() (*stage.Stage, error) {
	args := append([]string{"--masters", strconv.Itoa(max(d.Masters, 1))}, d.Server()...)
	if d.Port > 0 {
		args = append(args, "--port", strconv.Itoa(d.Port))
	}
	if d.Dialect != "" {
		args = append(args, "--dialect", d.Dialect)
	}
	begin := stage.New
	if d.Guests {
		begin = stage.NewForGuests
	}
	return begin(max(d.Seed, 1), args...)
}

// addrs returns the addresses of the masters. Replicas come after them, and then Sentinels.
func (t *trial) addrs() []string { return t.all[:max(t.Masters, 1)] }

// nodes counts the servers that have keys: with replicas, and without Sentinels.
func (t *trial) nodes() int {
	if t.Sentinels {
		return t.Nodes()
	}
	return len(t.all)
}

// environment tells a program where the servers are.
func (t *trial) environment() []string {
	env := environment(t.addrs())
	if t.Sentinels {
		all := strings.Join(t.all[t.nodes():], ",")
		env = append(env, "REDIS_SENTINELS="+all, "REDIS_SENTINEL_MASTER="+explore.SentinelMaster)
	}
	return env
}
