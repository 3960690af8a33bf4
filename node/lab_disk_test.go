package node_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/node"
)

// startDisk runs a server with a simulated disk, an append only file and a frozen clock.
func startDisk(t *testing.T, args ...string) (addr string, admin *redistest.Conn) {
	t.Helper()
	addr, admin = startLab(t, append([]string{"--lab-disk", "yes", "--appendonly", "yes"}, args...)...)
	ok(t, admin, "LAB", "LOG", "WATCH", "*")
	return addr, admin
}

// crashes is a LAB CRASH and a new connection.
func crashes(t *testing.T, addr string, c *redistest.Conn, args ...string) *redistest.Conn {
	t.Helper()
	crash(t, c, args...)
	return redistest.Dial(t, addr)
}

func TestLabDiskNeedsALab(t *testing.T) {
	for line, want := range map[string]string{
		"--lab-disk yes": "lab-disk needs --lab yes", "--lab yes --appendonly yes": "a lab needs --lab-disk yes",
	} {
		cfg, err := config.Parse(append(strings.Fields(line), "--port", "0"), nil)
		require.NoError(t, err)
		_, err = node.New(cfg, func(byte, string, ...any) {})
		require.ErrorContains(t, err, want)
	}
	_, c := startLab(t)
	require.Equal(t, "ERR LAB DISK: there is no simulated disk: start the server with --lab-disk yes",
		c.Do("LAB", "DISK", "FILES").Str)
	require.Equal(t, "ERR LAB CRASH: LOSE expects ALL or NOTHING, not 'UNSYNCED'",
		c.Do("LAB", "CRASH", "LOSE", "UNSYNCED").Str)
}

func TestLabDiskNamesTheArgumentThatIsWrong(t *testing.T) {
	_, c := startDisk(t)
	for _, bad := range [][2]string{
		{"DISK BURN", "ERR LAB DISK: expects TORN, REORDER, FAIL, SLOW, ROT, FILES, STATUS or HEAL, not 'BURN'"},
		{"DISK TORN x", "ERR LAB DISK TORN: bytes expects a number from 0 to 2147483647, not 'x'"},
		{"DISK FAIL READ EIO", "ERR LAB DISK FAIL: expects WRITE, FSYNC, RENAME or OPEN, not 'READ'"},
		{"DISK FAIL WRITE NTH 0 EIO", "ERR LAB DISK FAIL: NTH expects a number from 1 to 2147483647, not '0'"},
		{"DISK FAIL WRITE NTH 1", "ERR LAB DISK FAIL: expects ENOSPC, EIO or SHORT bytes"},
		{"DISK FAIL WRITE EPERM", "ERR LAB DISK FAIL: expects ENOSPC, EIO or SHORT bytes, not 'EPERM'"},
		{"DISK FAIL FSYNC SHORT 1", "ERR LAB DISK FAIL: only WRITE can be SHORT"},
		{"DISK SLOW OPEN 1", "ERR LAB DISK SLOW: expects WRITE or FSYNC, not 'OPEN'"},
		{"DISK ROT none 0", "ERR LAB DISK ROT: none: file does not exist"},
		{"DISK ROT appendonlydir/appendonly.aof.1.incr.aof 0",
			"ERR LAB DISK ROT: appendonlydir/appendonly.aof.1.incr.aof: the file has no such byte"},
		{"CRASH LOSE half", "ERR LAB CRASH: LOSE expects UNSYNCED, ALL or NOTHING, not 'half'"},
		{"SNAPSHOT RESTORE a",
			"ERR LAB SNAPSHOT RESTORE: not with appendonly yes: the append only file would not know of it"},
	} {
		ok(t, c, "LAB", "SNAPSHOT", "SAVE", "a")
		require.Equal(t, bad[1], c.Do(strings.Fields("LAB "+bad[0])...).Str)
	}
}

func TestACrashLosesWhatWasNotSynced(t *testing.T) {
	for _, test := range []struct {
		policy string
		lose   []string
		kept   []string
	}{
		{"always", nil, []string{"old", "new"}},
		{"everysec", nil, []string{"old"}},
		{"everysec", []string{"LOSE", "UNSYNCED"}, []string{"old"}},
		{"everysec", []string{"LOSE", "NOTHING"}, []string{"old", "new"}},
		{"everysec", []string{"LOSE", "ALL"}, nil},
		{"no", nil, nil},
		{"always", []string{"LOSE", "ALL"}, nil},
	} {
		addr, c := startDisk(t, "--appendfsync", test.policy)
		for range 3 {
			ok(t, c, "SET", "old", "v")
			c.Do("LAB", "CLOCK", "ADVANCE", "1000")
			ok(t, c, "SET", "new", "v")
			c = crashes(t, addr, c, test.lose...)
			for _, key := range []string{"old", "new"} {
				want := strings.Count(strings.Join(test.kept, " "), key)
				require.Equal(t, int64(want), c.Do("EXISTS", key).Int, "%v %s", test, key)
			}
			ok(t, c, "FLUSHALL")
		}
	}
}

// The fsync of a second happens at its time on the way of one LAB CLOCK ADVANCE.
func TestEverysecRunsOnTheClockOfTheLab(t *testing.T) {
	addr, c := startDisk(t)
	waits := redistest.Dial(t, addr)
	sendPending(t, c, waits, "BLPOP", "q", "5")
	ok(t, c, "SET", "a", "v")
	advance(t, c, 900)
	require.Positive(t, c.Do("LAB", "DISK", "STATUS").Elems[3].Int)
	advance(t, c, 100)
	require.Zero(t, c.Do("LAB", "DISK", "STATUS").Elems[3].Int)
	ok(t, c, "SET", "b", "v")
	ok(t, c, "LAB", "CLOCK", "SET", "1000") // back: the next fsync is due all the same
	advance(t, c, 1000)
	require.Zero(t, c.Do("LAB", "DISK", "STATUS").Elems[3].Int)
}

func TestASlowFsyncPostponesWritesAndLosesMore(t *testing.T) {
	addr, c := startDisk(t)
	ok(t, c, "LAB", "DISK", "SLOW", "FSYNC", "5000")
	ok(t, c, "SET", "a", "v")
	advance(t, c, 1000) // its fsync begins
	ok(t, c, "SET", "b", "v")
	advance(t, c, 1999) // b waits for that fsync
	require.Equal(t, "0", infoField(c, "aof_delayed_fsync"))
	advance(t, c, 2)
	require.Equal(t, "1", infoField(c, "aof_delayed_fsync"))
	c = crashes(t, addr, c)
	require.Zero(t, c.Do("DBSIZE").Int, "nothing of the last three seconds is on disk")

	begin := labNow(c)
	ok(t, c, "CONFIG", "SET", "appendfsync", "always")
	ok(t, c, "SET", "c", "v")
	require.Equal(t, begin+5000, labNow(c), "the loop stood still for an fsync")
	ok(t, c, "LAB", "DISK", "HEAL")
	ok(t, c, "SET", "d", "v")
	require.Equal(t, begin+5000, labNow(c))
}

func TestDownLoadsTheFilesWhenTheServerIsUpAgain(t *testing.T) {
	m := startMasters(t, 2, "--lab-disk", "yes", "--appendonly", "yes", "--appendfsync", "always")
	admin, c := dialMaster(t, m, 2), dialMaster(t, m, 1)
	admin.Do("LAB", "ALL", "CLOCK", "FREEZE")
	ok(t, c, "SET", "short", "v", "PX", "1000")
	ok(t, c, "SET", "long", "v", "PX", "3000")
	ok(t, admin, "LAB", "MASTER", "1", "CRASH", "DOWN", "2000")
	admin.Do("LAB", "ALL", "CLOCK", "ADVANCE", "2000")
	c = dialMaster(t, m, 1)
	require.Equal(t, int64(1), c.Do("DBSIZE").Int)
	require.Equal(t, int64(1000), c.Do("PTTL", "long").Int)
}

func TestBGSAVEIsOverInThePassOnASimulatedDisk(t *testing.T) {
	addr, c := startLab(t, "--lab-disk", "yes")
	ok(t, c, "SET", "lock", "v", "PX", "60000")
	c.Do("BGSAVE")
	require.Equal(t, "0", infoField(c, "rdb_bgsave_in_progress"))
	require.Equal(t, "ok", infoField(c, "rdb_last_bgsave_status"))
	c.Do("DEL", "lock")
	c = crashes(t, addr, c)
	require.Equal(t, int64(60000), c.Do("PTTL", "lock").Int, "the lock is back")
	ok(t, c, "CONFIG", "SET", "save", "60 1")
	ok(t, c, "SET", "k", "v")
	advance(t, c, 61000)
	c = crashes(t, addr, c)
	require.Equal(t, "v", c.Do("GET", "k").Str, "the save point was reached on the way")
}

func TestTornBytesAreCutOffAndRotIsRefused(t *testing.T) {
	addr, c := startDisk(t)
	ok(t, c, "SET", "a", "v")
	advance(t, c, 1000)
	ok(t, c, "SET", "b", "v")
	ok(t, c, "LAB", "DISK", "TORN", "10")
	c = crashes(t, addr, c)
	require.Equal(t, "v", c.Do("GET", "a").Str)
	require.Zero(t, c.Do("EXISTS", "b").Int)
}

func TestOneFaultOfTheDisk(t *testing.T) {
	addr, c := startDisk(t)
	ok(t, c, "LAB", "DISK", "FAIL", "WRITE", "ENOSPC")
	ok(t, c, "SET", "lock", "v")
	require.Regexp(t, "^MISCONF Errors writing to the AOF file: No space left on device$", c.Do("DEL", "lock").Str)
	require.Equal(t, "WRITE ENOSPC", c.Do("LAB", "DISK", "STATUS").Elems[13].Elems[0].Str)
	ok(t, c, "LAB", "DISK", "HEAL")
	advance(t, c, 1000)
	require.Equal(t, int64(1), c.Do("DEL", "lock").Int)
	ok(t, c, "LAB", "DISK", "FAIL", "FSYNC", "NTH", "1", "EIO")
	ok(t, c, "SET", "k", "v")
	advance(t, c, 1000)
	require.Regexp(t, "^MISCONF", c.Do("SET", "k", "w").Str)
	require.Equal(t, "v", c.Do("GET", "k").Str, "reads serve what is not on disk")
	require.Empty(t, c.Do("LAB", "DISK", "STATUS").Elems[13].Elems)
	advance(t, c, 1000)
	ok(t, c, "SET", "k", "w") // a rewrite has made the file whole
	advance(t, c, 1000)
	c = crashes(t, addr, c)
	require.Equal(t, "w", c.Do("GET", "k").Str)
}

func TestLabResetHealsTheDiskAndKeepsItsFiles(t *testing.T) {
	addr, c := startDisk(t)
	ok(t, c, "LAB", "DISK", "FAIL", "WRITE", "NTH", "9", "EIO")
	ok(t, c, "LAB", "DISK", "SLOW", "FSYNC", "5000")
	ok(t, c, "SET", "a", "v")
	advance(t, c, 1000)
	ok(t, c, "SET", "b", "v")
	ok(t, c, "LAB", "RESET")
	require.Empty(t, c.Do("LAB", "DISK", "STATUS").Elems[13].Elems)
	ok(t, c, "LAB", "CLOCK", "FREEZE")
	ok(t, c, "SET", "c", "v")
	advance(t, c, 2000)
	ok(t, c, "LAB", "RESET", "AT", "1000")
	ok(t, c, "SET", "d", "v")
	advance(t, c, 1000)
	c = crashes(t, addr, c)
	require.Equal(t, int64(4), c.Do("DBSIZE").Int)
}

// How long the server lived before its clock was set is not what a test sees.
func TestASecondOfTheDiskBeginsWhenTheClockIsSetBack(t *testing.T) {
	for _, lived := range []string{"0", "100", "500", "999", "1500"} {
		addr, c := startDisk(t)
		c.Do("LAB", "CLOCK", "ADVANCE", lived)
		c.Do("LAB", "CLOCK", "SET", "1600000000000")
		ok(t, c, "SET", "stock", "10")
		c.Do("LAB", "CLOCK", "ADVANCE", "1000")
		c.Do("LAB", "CLOCK", "ADVANCE", "900")
		ok(t, c, "SET", "lock", "a")
		c = crashes(t, addr, c)
		require.Equal(t, "10", c.Do("GET", "stock").Str, lived)
		require.True(t, c.Do("GET", "lock").Null, lived)
	}
}
