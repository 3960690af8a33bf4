package node_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

// commandStats returns INFO commandstats without the times, sorted by name.
func commandStats(c *redistest.Conn) []string {
	times := regexp.MustCompile(`,usec[^,]*,usec_per_call[^,]*`)
	lines := strings.Split(strings.TrimSpace(times.ReplaceAllString(c.Do("INFO", "commandstats").Str, "")), "\r\n")
	lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "cmdstat_info:") })
	slices.Sort(lines)
	return lines
}

// An error counts for the command that raised it, and for the script that returns it.
func TestCommandsOfScriptsAreCountedAsRedisCountsThem(t *testing.T) {
	redistest.Require(t)
	ours, theirs := redistest.Dial(t, start(t, nil)), redistest.Dial(t, redistest.Start(t).Addr)
	for _, script := range []string{
		`redis.call('incr', 'k') redis.call('incr', 'k') return 1`,
		`return redis.call('lpush', 'k', 1)`,
		`return redis.pcall('lpush', 'k', 1)`,
		`redis.pcall('lpush', 'k', 1) return 1`,
		`local e = redis.pcall('lpush', 'k', 1) return {e, e, {err='MY own'}, {err='MY own'}}`,
		`local e = redis.pcall('lpush', 'k', 1) error(e)`,
		`local e = redis.pcall('lpush', 'k', 1) error(e.err)`,
		`return redis.call('nosuch')`,
		`return redis.call('get')`,
		`return redis.call('watch', 'x')`,
		`return redis.pcall('watch', 'x')`,
		`return redis.error_reply('MY error')`,
		`return {1, {err='A b'}, {err='A c'}}`,
		`error('own')`,
		`return x`,
		`pcall(error, 'own') return 1`,
		`return (`,
	} {
		for _, command := range []string{"EVAL", "EVAL_RO"} {
			for _, c := range []*redistest.Conn{ours, theirs} {
				c.Do("SET", "k", "1")
				c.Do("CONFIG", "RESETSTAT")
				c.Do(command, script, "0")
			}
			require.Equal(t, commandStats(theirs), commandStats(ours), "%s %s", command, script)
			require.Equal(t, theirs.Do("INFO", "errorstats").Str, ours.Do("INFO", "errorstats").Str, "%s %s", command, script)
		}
	}
}
