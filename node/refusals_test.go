package node_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/node"
	"github.com/miniredisd/miniredisd/resp"
)

// states are pairs of commands: what brings a server into a state that refuses something, and back.
var states = [][2]string{
	{"CONFIG SET save 900\t1 dbfilename folder|BGSAVE", "CONFIG SET save \"\" dbfilename dump.rdb|SAVE"},
	{"CONFIG SET maxmemory 1", "CONFIG SET maxmemory 0"},
	{"CONFIG SET replica-ignore-maxmemory no", "CONFIG SET replica-ignore-maxmemory yes"},
	{"CONFIG SET min-replicas-to-write 1", "CONFIG SET min-replicas-to-write 0"},
	{"CONFIG SET replica-serve-stale-data no", "CONFIG SET replica-serve-stale-data yes"},
	{"CONFIG SET replica-read-only no", "CONFIG SET replica-read-only yes"},
	{"REPLICAOF 127.0.0.1 1", "REPLICAOF NO ONE"},
}

// refusable are requests that meet each kind of refusal. A tab in a word stands for a space.
const refusable = `SET k v|GET k|PING|DEL k|INCR n|BLPOP none 0.01|PUBLISH c m|SWAPDB 1 2|CONFIG GET hz|TYPE k|` +
	`NONE|GET|MULTI|MULTI|EXEC|EXEC|DISCARD|WATCH k|` +
	`SUBSCRIBE d|UNSUBSCRIBE d|RESET|REPLICAOF 127.0.0.1 1|REPLICAOF NO ONE|` +
	`CONFIG SET stop-writes-on-bgsave-error no|EVAL return(1) 0|EVAL return(redis.call('SET','k','x')) 0|` +
	`EVAL_RO return(redis.pcall('SET','k','x').err) 0|EVAL return(redis.pcall('PING')) 0|FCALL one 0|` +
	"EVAL #!lua\nreturn(redis.pcall('SET','k','x')) 0|EVAL #!lua\tflags=no-writes\nreturn(redis.pcall('GET','k')) 0|" +
	"EVAL #!lua\tflags=allow-stale,no-writes\nreturn(redis.pcall('GET','k')) 0|" +
	"EVAL #!lua\tflags=allow-oom,allow-stale\nreturn({redis.pcall('DEL','n'),redis.pcall('APPEND','k','x')}) 0"

const refusalsFile = "testdata/refusals.txt"

// A client of a server in several states that refuse something hears of the same one as in Redis. The file has what
// redis-server 7.2 says: it writes the file with -update.
func TestRefusalsComeInTheOrderOfRedis(t *testing.T) {
	plays := func(addr string) string {
		var all strings.Builder
		for seed := range uint64(100) {
			fmt.Fprintln(&all, "seed", seed)
			for _, line := range refusals(t, addr, rand.New(rand.NewPCG(seed, 1))) {
				fmt.Fprintln(&all, line)
			}
		}
		return all.String()
	}
	protected := []string{"--enable-protected-configs", "yes"}
	if *node.Update {
		oracle := redistest.Start(t, protected...)
		require.False(t, redistest.Older(oracle.Version, "7.2"), "7.2 has changed which errors come first")
		require.NoError(t, os.WriteFile(refusalsFile, []byte(plays(oracle.Addr)), 0o644))
	}
	want, err := os.ReadFile(refusalsFile)
	require.NoError(t, err)
	require.Equal(t, string(want), plays(born(t, t.TempDir(), protected...).addr))
}

// told is a reply on a line.
func told(v resp.Value) string {
	switch {
	case v.Null:
		return "nil"
	case v.Elems != nil:
		var parts []string
		for _, e := range v.Elems {
			parts = append(parts, told(e))
		}
		return string(v.Kind) + "[" + strings.Join(parts, " ") + "]"
	}
	return fmt.Sprintf("%c%d %q", v.Kind, v.Int, v.Str)
}

// refusals puts a server into some states and sends some requests.
func refusals(t *testing.T, addr string, r *rand.Rand) (said []string) {
	operator, client := redistest.Dial(t, addr), redistest.Dial(t, addr)
	run := func(c *redistest.Conn, line string) {
		for _, request := range strings.Split(line, "|") {
			args := strings.Split(request, " ")
			for i, word := range args {
				args[i] = strings.Trim(strings.ReplaceAll(word, "\t", " "), `"`)
			}
			said = append(said, told(c.Do(args...)))
		}
	}
	folder := filepath.Join(operator.Do("CONFIG", "GET", "dir").Elems[1].Str, "folder", "file")
	require.NoError(t, os.MkdirAll(folder, 0o700))
	run(operator, "FLUSHALL|SET k v|CONFIG SET stop-writes-on-bgsave-error yes")
	run(client, []string{"PING", "PING", "MULTI", "SUBSCRIBE c", "HELLO 9"}[r.IntN(5)])
	var back []string
	for _, state := range states {
		if r.IntN(2) == 0 {
			continue
		}
		run(operator, state[0])
		back = append(back, state[1])
		operator.Until(func() bool { return infoText(operator, "persistence", "rdb_bgsave_in_progress") == "0" })
	}
	requests := strings.Split(refusable, "|")
	for range 3 + r.IntN(8) {
		request := requests[r.IntN(len(requests))]
		said = append(said, fmt.Sprintf("> %q", request))
		run(client, request)
	}
	run(operator, strings.Join(append(back, "REPLICAOF NO ONE"), "|"))
	return said
}
