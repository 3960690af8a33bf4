package aof_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/persist/aof"
	"github.com/miniredisd/miniredisd/persist/disk"
	"github.com/miniredisd/miniredisd/persist/rdb"
)

// written lets a redis-server write an append only file with a rewrite in its middle. It returns the folder.
func written(t *testing.T, args ...string) string {
	t.Helper()
	dir := t.TempDir()
	c := redistest.Dial(t, redistest.Start(t, append([]string{"--dir", dir, "--appendonly", "yes",
		"--appendfsync", "always", "--aof-timestamp-enabled", "yes", "--aof-disable-auto-gc", "yes"}, args...)...).Addr)
	c.Do("SET", "k", "before")
	c.Do("HSET", "h", "f", "v")
	c.Do("BGREWRITEAOF")
	redistest.Until(t, func() bool {
		info := c.Do("INFO", "persistence").Str
		return strings.Contains(info, "aof_rewrite_in_progress:0") && strings.Contains(info, "aof_rewrite_scheduled:0")
	})
	c.Do("SELECT", "3")
	c.Do("SET", "k", "a\r\nb")
	c.Do("MULTI")
	c.Do("RPUSH", "l", "1", "2")
	c.Do("LPOP", "l")
	c.Do("EXEC")
	c.Do("DEL", "k")
	return filepath.Join(dir, "appendonlydir")
}

// after is what the commands behind the rewrite are in a file.
func after() []string {
	return []string{"SELECT 3", "SET k a\r\nb", "MULTI", "RPUSH l 1 2", "LPOP l", "EXEC", "DEL k"}
}

func TestRedissFolderIsRead(t *testing.T) {
	for _, preamble := range []string{"yes", "no"} {
		dir := written(t, "--aof-use-rdb-preamble", preamble)
		m, err := aof.ReadManifest(disk.System{}, filepath.Join(dir, "appendonly.aof.manifest"))
		require.NoError(t, err)
		require.Equal(t, int64(2), m.Base.Seq)
		require.Len(t, m.Incr, 1)
		require.Len(t, m.History, 2, "the first base and the first incr")
		var p, old replay
		require.NoError(t, p.surveying().Load(disk.System{}, dir, m))
		last := slices.Index(p.steps, "SELECT 3")
		steps := slices.DeleteFunc(slices.Clone(p.steps[last:]), func(step string) bool { return step[0] == '#' })
		require.Equal(t, after(), steps)
		if preamble == "yes" {
			require.Contains(t, p.steps, "map[hash:1 string:1]")
		} else {
			require.Regexp(t, `^#\d{10}$`, p.steps[1], "the base begins with its time")
			require.Subset(t, p.steps[:last], []string{"SET k before", "HMSET h f v"})
		}
		require.NoError(t, old.surveying().LoadFile(disk.System{}, filepath.Join(dir, "appendonly.aof.1.incr.aof")))
		require.Subset(t, old.steps, []string{"SELECT 0", "SET k before"})
	}
}

// surveying reads real RDB files.
func (p *replay) surveying() *aof.Loading {
	l := p.loading()
	l.Base = func(from io.Reader, size int64, path string) (int64, io.Reader, error) {
		var s rdb.Survey
		err := s.Read(from, size, path)
		for _, db := range s.DBs {
			p.steps = append(p.steps, fmt.Sprint(db.Types))
		}
		return s.Bytes, s.Rest, err
	}
	return l
}

// checked returns what redis-check-aof says of a file: whole or not, and up to where. It is -1 if it does not say.
func checked(t *testing.T, path string) (whole bool, upTo int64) {
	t.Helper()
	out, err := exec.Command("redis-check-aof", path).Output()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	found := regexp.MustCompile(`ok_up_to=(\d+)`).FindSubmatch(out)
	if found == nil {
		return err == nil, -1
	}
	upTo, _ = strconv.ParseInt(string(found[1]), 10, 64)
	return err == nil, upTo
}

const annotation = "#TS:1700000000\r\n"

// oldStyle is the single file of versions before 7.0: an RDB file and commands behind it.
func oldStyle(t *testing.T) (text []byte, preamble int) {
	t.Helper()
	dir := written(t)
	base, err := os.ReadFile(filepath.Join(dir, "appendonly.aof.2.base.rdb"))
	require.NoError(t, err)
	incr, err := os.ReadFile(filepath.Join(dir, "appendonly.aof.2.incr.aof"))
	require.NoError(t, err)
	return slices.Concat(base, []byte(annotation), incr), len(base)
}

// Redis calls a file whole whose last line is the beginning of an annotation. Here it is a truncated tail: what Redis
// appends to it makes the file unreadable.
func TestACutFileIsJudgedAsByRedis(t *testing.T) {
	redistest.Need(t, "redis-check-aof")
	text, preamble := oldStyle(t)
	path := filepath.Join(t.TempDir(), "appendonly.aof")
	same, annotations := 0, 0
	for n := len(text); n > preamble-40; n-- {
		require.NoError(t, os.WriteFile(path, text[:n], 0o600))
		whole, upTo := checked(t, path)
		err := new(replay).surveying().LoadFile(disk.System{}, path)
		var damage *aof.DamageError
		if errors.As(err, &damage) && whole {
			annotations++
			require.True(t, damage.Truncated)
			require.Equal(t, byte('#'), text[damage.Whole], "%d bytes", n)
			continue
		}
		same++
		require.Equal(t, whole, err == nil, "%d bytes: %v", n, err)
		if damage != nil {
			require.True(t, damage.Truncated)
			require.Equal(t, upTo, damage.Whole, "%d bytes", n)
		}
	}
	require.NotZero(t, annotations)
	require.Zero(t, annotations%(len(annotation)-1), "the beginnings of one annotation, or of several")
	require.Greater(t, same, 100)
}

// A flipped bit in a value cannot be seen, in what surrounds it it is.
func TestAFlippedBitIsJudgedAsByRedis(t *testing.T) {
	redistest.Need(t, "redis-check-aof")
	text, preamble := oldStyle(t)
	path := filepath.Join(t.TempDir(), "appendonly.aof")
	unseen := 0
	for i := preamble - 8; i < len(text); i++ { // from the checksum of the RDB file on
		b := slices.Clone(text)
		b[i] ^= 1 << (i % 7)
		require.NoError(t, os.WriteFile(path, b, 0o600))
		whole, _ := checked(t, path)
		err := new(replay).surveying().LoadFile(disk.System{}, path)
		require.Equal(t, whole, err == nil, "byte %d, %q: %v", i, b[max(i-10, 0):min(i+10, len(b))], err)
		if whole {
			unseen++
		}
	}
	require.NotZero(t, unseen)
	require.Less(t, unseen, len(text)-preamble)
}

func TestRedisRefusesTheSameManifests(t *testing.T) {
	redistest.Require(t)
	for text, want := range badManifests() {
		dir := t.TempDir()
		require.NoError(t, os.Mkdir(filepath.Join(dir, "appendonlydir"), 0o700))
		name := filepath.Join(dir, "appendonlydir", "appendonly.aof.manifest")
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
		ctx, cancel := context.WithTimeout(t.Context(), redistest.Limit)
		out, err := exec.CommandContext(ctx, "redis-server", "--port", "0", "--unixsocket", filepath.Join(dir, "socket"),
			"--dir", dir, "--appendonly", "yes").Output()
		cancel()
		require.Error(t, err, "%q", text)
		reason := want[strings.LastIndex(want, ": ")+2:]
		require.Contains(t, string(out), reason, "%q", text)
	}
}

func TestRedisNamesAPartThatIsMissing(t *testing.T) {
	redistest.Need(t, "redis-check-aof")
	dir := written(t)
	name := filepath.Join(dir, "appendonly.aof.manifest")
	whole, _ := checked(t, name)
	require.True(t, whole)
	require.NoError(t, os.Remove(filepath.Join(dir, "appendonly.aof.1.incr.aof")))
	whole, _ = checked(t, name)
	require.True(t, whole, "history does not count")
	require.NoError(t, os.Remove(filepath.Join(dir, "appendonly.aof.2.incr.aof")))
	whole, _ = checked(t, name)
	require.False(t, whole)
	m, err := aof.ReadManifest(disk.System{}, name)
	require.NoError(t, err)
	require.ErrorContains(t, new(replay).surveying().Load(disk.System{}, dir, m),
		m.Incr[0].Name+": byte 0: the manifest names")
}
