package main

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/persist/disk"
)

// checking runs the subcommand.
func checking(args ...string) (code int, out, errs string) {
	var o, e bytes.Buffer
	code = checkFile(args, &o, &e)
	return code, o.String(), e.String()
}

const (
	pingInFile = "*1\r\n$4\r\nPING\r\n"
	emptyRDB   = "REDIS0011\xff\x00\x00\x00\x00\x00\x00\x00\x00"
)

// write makes a file in a new folder.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestCheckSaysWhatAFileHas(t *testing.T) {
	const aux = "\xfa\x05ctime\xc2\x00\xf1\x53\x65"
	for _, c := range []struct{ name, text, want string }{
		{"dump.rdb", "REDIS0011" + aux + "\xf5\x15#!lua name=l\nreturn 1" +
			"\xfe\x02\xfc\x01\x00\x00\x00\x00\x00\x00\x00\x00\x01k\x01v\x00\x01l\x01v\x02\x01s\x01\x01m" +
			"\xff\x00\x00\x00\x00\x00\x00\x00\x00tail", "F: RDB file of version 11, 84 bytes\n" +
			"  ctime         1700000000 (2023-11-14 22:13:20 UTC)\n" +
			"  functions     lua name=l\n" +
			"  db2           keys 3, with an expiry 1, of them expired 1: string 2, set 1\n" +
			"  checksum      none: a changed byte in a value cannot be seen\n" +
			"  behind it     4 bytes, which no server reads\n"},
		{"appendonly.aof", "#TS:1700000000\r\n*1\r\n$5\r\nmulti\r\n" + pingInFile + "*1\r\n$4\r\nEXEC\r\n" + pingInFile +
			"#TS:1700000001\r\n", "F: commands, 89 bytes\n" +
			"  commands      4: PING 2, EXEC 1, MULTI 1\n" +
			"  transactions  1\n" +
			"  written       2023-11-14 22:13:20 UTC to 2023-11-14 22:13:21 UTC\n"},
		{"old.aof", strings.Replace(emptyRDB, "\xff", "\xfa\x0caof-preamble\xc0\x01\xff", 1) + pingInFile,
			"F: RDB file of version 11, 48 bytes\n" +
				"  aof-preamble  1\n" +
				"  checksum      none: a changed byte in a value cannot be seen\n" +
				"  commands      1: PING 1\n"},
		{"empty.aof", "", "F: commands, 0 bytes\n"},
		{"strange.aof", "*1\r\n$3\r\n\x1b[m\r\n", "F: commands, 13 bytes\n  commands      1: \\x1b[M 1\n"},
	} {
		path := write(t, c.name, c.text)
		code, out, errs := checking(path)
		require.Equal(t, strings.Replace(c.want, "F", path, 1)+"whole\n", out)
		require.Equal(t, exitWhole, code)
		require.Empty(t, errs)
	}
}

func TestCheckReadsTheFolderOfAServer(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	put("dump.rdb", emptyRDB)
	put("temp-7.rdb", "not looked at")
	put("redis.conf", "port 0")
	put("appendonlydir/a.aof.manifest", "file a.1 seq 1 type i\n")
	put("appendonlydir/temp-a.aof.manifest", "not looked at")
	put("appendonlydir/a.1", pingInFile)
	put("other/file", "not looked at")
	want := strings.ReplaceAll(`DIR/dump.rdb: RDB file of version 11, 18 bytes
  checksum      none: a changed byte in a value cannot be seen
whole
DIR/appendonlydir/a.aof.manifest: manifest of 1 files
DIR/appendonlydir/a.1: commands, 14 bytes
  commands      1: PING 1
whole
`, "DIR", dir)
	code, out, _ := checking(dir)
	require.Equal(t, exitWhole, code)
	require.Equal(t, want, out)
	put("appendonlydir/a.1", pingInFile+"*")
	code, out, _ = checking(dir, "--fix")
	require.Equal(t, exitDamaged, code)
	require.Contains(t, out, "whole\n")
	require.Contains(t, out, "copy: "+dir+"/appendonlydir/a.1.fixed, without the last 1 bytes.\n")
}

func TestTheLogOfAServerNamesWhatLooksAtADamagedFile(t *testing.T) {
	dir := t.TempDir()
	appends := filepath.Join(dir, "appendonlydir")
	require.NoError(t, os.Mkdir(appends, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "dump.rdb"), []byte("RADIS"), 0o600))
	manifest := filepath.Join(appends, "appendonly.aof.manifest")
	require.NoError(t, os.WriteFile(manifest, []byte("file a.1 seq 1 type i\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(appends, "a.1"), []byte("broken"), 0o600))
	for option, want := range map[string]string{
		"no":  "# miniredisd check " + dir + "/dump.rdb says what the file has, and where it is damaged\n",
		"yes": "# miniredisd check --fix " + appends + " says what is whole, and writes it to a copy\n",
	} {
		p := startIn(t, dir, "miniredisd", "", "--port", "0", "--bind", "127.0.0.1", "--appendonly", option)
		require.Equal(t, 1, p.exit())
		require.Contains(t, p.out.String(), want)
	}
}

func TestCheckNamesTheDamage(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"dump.rdb", "RADIS0011\xff", "F: byte 0: no RDB file: it does not begin with REDIS\nAn RDB file cannot be cut: "},
		{"dump.rdb", "", "F: byte 0: no RDB file"},
		{"dump", "REDIS0011", "F: byte 9: the end mark is missing: "},
		{"a.aof", pingInFile + "*1\r\n", "F: byte 14: the file ends in the middle of a command\n" +
			"The first 14 of 18 bytes are whole commands and transactions.\n--fix writes them to a copy.\n"},
		{"a.aof", pingInFile + "*1\r\n$5\r\nMULTI\r\n" + pingInFile + "PING", "F: byte 43: a command begins with '*', and " +
			"here is 'P'\nThe first 14 of 47 bytes are whole "},
		{"a.manifest", "", "F: byte 0: Found an empty AOF manifest\nOnly the last file of commands can be cut: "},
	} {
		path := write(t, c.name, c.text)
		code, out, errs := checking(path)
		require.Contains(t, out, "damaged: "+strings.Replace(c.want, "F", path, 1))
		require.Equal(t, exitDamaged, code)
		require.Empty(t, errs)
	}
}

func TestCheckReadsAFolder(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	put("a.aof.manifest", "file a.base.rdb seq 1 type b\nfile a.0 seq 1 type h\n"+
		"file a.1 seq 1 type i\nfile a.2 seq 2 type i\n")
	put("temp-a.aof.manifest", "not looked at")
	put("a.base.rdb", emptyRDB+pingInFile)
	put("a.1", pingInFile)
	put("a.2", pingInFile+"*")
	code, out, _ := checking(dir)
	require.Equal(t, exitDamaged, code)
	require.Equal(t, strings.ReplaceAll(`DIR/a.aof.manifest: manifest of 3 files
  a.0           history, which no server loads
DIR/a.base.rdb: RDB file of version 11, 32 bytes
  checksum      none: a changed byte in a value cannot be seen
  commands      1: PING 1
DIR/a.1: commands, 14 bytes
  commands      1: PING 1
DIR/a.2: commands, 15 bytes
  commands      1: PING 1
damaged: DIR/a.2: byte 14: the file ends in the middle of a command
The first 14 of 15 bytes are whole commands and transactions.
--fix writes them to a copy.
`, "DIR", dir), out)

	const onlyLast = "Only the last file of commands can be cut: what follows the others builds on them.\n"
	put("a.1", pingInFile+"*")
	code, out, _ = checking("--fix", dir)
	require.Equal(t, exitDamaged, code)
	require.Contains(t, out,
		"a.1: byte 14: the file ends in the middle of a command, and it is not the last file\n"+onlyLast)
	put("a.1", "")
	require.NoError(t, os.Remove(filepath.Join(dir, "a.2")))
	code, out, _ = checking(filepath.Join(dir, "a.aof.manifest"), "--fix")
	require.Equal(t, exitDamaged, code)
	require.Contains(t, out, "a.2: byte 0: the manifest names a.2 and there is none: No such file or directory\n"+onlyLast)
	put("a.2", pingInFile)
	code, _, _ = checking(dir)
	require.Equal(t, exitWhole, code)
}

func TestCheckRefusesWrongArguments(t *testing.T) {
	empty, several := t.TempDir(), t.TempDir()
	for _, name := range []string{"a.manifest", "b.manifest"} {
		require.NoError(t, os.WriteFile(filepath.Join(several, name), []byte("#\n"), 0o600))
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "name one RDB file, append only file, or folder of a server"},
		{[]string{"a", "b"}, "name one RDB file"},
		{[]string{"--fix"}, "name one RDB file"},
		{[]string{"--repair", "a"}, "there is no option --repair: the only one is --fix"},
		{[]string{filepath.Join(empty, "a")}, "no such file or directory"},
		{[]string{empty}, "has no RDB file, no append only file and no appendonlydir"},
		{[]string{several}, "has several manifests: name one of them"},
		{[]string{os.DevNull}, "not a regular file"},
	} {
		code, out, errs := checking(c.args...)
		require.Equal(t, exitNoFile, code)
		require.Empty(t, out)
		require.Contains(t, errs, "check: ")
		require.Contains(t, errs, c.want)
	}
}

func TestTheCopyIsWholeAndTheFileStaysAsItIs(t *testing.T) {
	const text = pingInFile + "*1\r\n$5\r\nMULTI\r\n" + pingInFile
	path := write(t, "a.aof", text)
	code, out, _ := checking(path, "--fix")
	require.Equal(t, exitDamaged, code)
	require.Contains(t, out, "copy: "+path+".fixed, without the last 29 bytes.\nStop the server before")
	fixed, err := os.ReadFile(path + ".fixed")
	require.NoError(t, err)
	require.Equal(t, pingInFile, string(fixed))
	kept, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, text, string(kept))

	require.NoError(t, os.WriteFile(path+".fixed", []byte("mine"), 0o600))
	code, _, errs := checking(path, "--fix")
	require.Equal(t, exitNoFile, code)
	require.Contains(t, errs, "the copy cannot be written: open "+path+".fixed: file exists")
	fixed, err = os.ReadFile(path + ".fixed")
	require.NoError(t, err)
	require.Equal(t, "mine", string(fixed))

	whole := write(t, "a.aof", pingInFile)
	code, _, _ = checking(whole, "--fix")
	require.Equal(t, exitWhole, code)
	require.NoFileExists(t, whole+".fixed")
}

func TestACopyThatFailsIsRemoved(t *testing.T) {
	for nth := range 9 {
		for _, fault := range []disk.Fault{disk.NoSpace, disk.Failure, disk.Short} {
			on := disk.NewSim(1)
			f, err := on.Create("f")
			require.NoError(t, err)
			_, err = io.WriteString(f, "0123456789")
			require.NoError(t, err)
			on.Fail(nth, fault)
			if copyBeginning(on, "f", "copy", 5) != nil {
				_, err = on.Open("copy")
				require.ErrorContains(t, err, "not exist", "operation %d", nth)
				continue
			}
			on.Crash()
			f, err = on.Open("copy")
			require.NoError(t, err)
			b, err := io.ReadAll(f)
			require.NoError(t, err)
			require.Equal(t, "01234", string(b))
		}
	}
}

// realFiles are those of a redis-server: dump.rdb, and the parts in appendonlydir.
func realFiles(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	c := redistest.Dial(t, redistest.Start(t, "--dir", dir, "--appendonly", "yes", "--appendfsync", "always").Addr)
	c.Do("SET", "k", strings.Repeat("v", 300))
	c.Do("RPUSH", "l", "a", "b")
	c.Do("SADD", "s", "1", "2")
	c.Do("ZADD", "z", "1", "a")
	c.Do("HSET", "h", "f", "v")
	c.Do("XADD", "x", "1-1", "f", "v")
	c.Do("PEXPIRE", "k", "100000000")
	c.Do("FUNCTION", "LOAD", "#!lua name=lib\nredis.register_function('one', function() return 1 end)")
	require.Equal(t, "OK", c.Do("SAVE").Str)
	c.Do("BGREWRITEAOF")
	redistest.Until(t, func() bool {
		info := c.Do("INFO", "persistence").Str
		return strings.Contains(info, "aof_rewrite_in_progress:0") && strings.Contains(info, "aof_rewrite_scheduled:0")
	})
	c.Do("SET", "after", "v")
	c.Do("MULTI")
	c.Do("INCR", "n")
	c.Do("INCR", "n")
	c.Do("EXEC")
	c.Do("DEL", "l")
	return dir
}

// theirs is the exit code and the output of a tool of Redis.
func theirs(t *testing.T, tool, path string) (code int, out string) {
	t.Helper()
	b, err := exec.Command(tool, path).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), string(b)
	}
	require.NoError(t, err)
	return 0, string(b)
}

func TestCheckReadsAFileOfRedis(t *testing.T) {
	code, out, _ := checking(filepath.Join(realFiles(t), "dump.rdb"))
	require.Equal(t, exitWhole, code, out)
	require.Contains(t, out, "keys 6, with an expiry 1, of them expired 0: "+
		"hash 1, list 1, set 1, stream 1, string 1, zset 1\n")
	require.Contains(t, out, "functions     lua name=lib\n")
}

// The file is always the same one: there are damaged files with which redis-check-rdb never ends. No flipped bit is in
// the version: Redis takes 001! for version 1, which has no checksum.
func TestCheckJudgesRDBFilesAsRedisDoes(t *testing.T) {
	redistest.Need(t, "redis-check-rdb")
	text, err := os.ReadFile(filepath.Join("testdata", "redis-7.0.15.rdb"))
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "dump.rdb")
	r := rand.New(rand.NewPCG(1, 5))
	for i := range 120 {
		b := slices.Clone(text)
		switch {
		case i == 0:
		case i%2 == 0:
			b = b[:r.IntN(len(b))]
		default:
			b[9+r.IntN(len(b)-9)] ^= 1 << r.IntN(8)
		}
		require.NoError(t, os.WriteFile(path, b, 0o600))
		want, _ := theirs(t, "redis-check-rdb", path)
		got, out, _ := checking(path)
		require.Equal(t, want, got, "%q: %s", b, out)
		require.Equal(t, i == 0, got == exitWhole, out)
	}
}

// Each folder is damaged in its last part: cut anywhere, also in a transaction, or one bit is another.
func TestCheckJudgesFoldersAsRedisDoes(t *testing.T) {
	redistest.Need(t, "redis-check-aof")
	dir := filepath.Join(realFiles(t), "appendonlydir")
	manifest := filepath.Join(dir, "appendonly.aof.manifest")
	path := filepath.Join(dir, "appendonly.aof.2.incr.aof")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	code, out, _ := checking(dir)
	require.Equal(t, exitWhole, code, out)
	require.Contains(t, out, "transactions  1\n")
	inside := bytes.Index(text, []byte("MULTI")) + 20

	r := rand.New(rand.NewPCG(1, 6))
	for i := range 60 {
		b := slices.Clone(text)
		switch {
		case i == 0:
			b = b[:inside]
		case i%2 == 0:
			b = b[:r.IntN(len(b))]
		default:
			b[r.IntN(len(b))] ^= 1 << r.IntN(7)
		}
		require.NoError(t, os.WriteFile(path, b, 0o600))
		want, said := theirs(t, "redis-check-aof", manifest)
		got, out, _ := checking(dir, "--fix")
		require.Equal(t, want, got, "%q", b)
		if found := regexp.MustCompile(`ok_up_to=(\d+)`).FindAllStringSubmatch(said, -1); got != 0 && i%2 == 0 {
			require.Contains(t, out, "The first "+found[len(found)-1][1]+" of ")
		}
		if got != 0 {
			require.Contains(t, out, "copy: "+path+".fixed, ")
			again, said := theirs(t, "redis-check-aof", path+".fixed")
			require.Zero(t, again, said)
			require.NoError(t, os.Remove(path+".fixed"))
		}
	}
}

func TestRedisLoadsTheCopy(t *testing.T) {
	dir := realFiles(t)
	path := filepath.Join(dir, "appendonlydir", "appendonly.aof.2.incr.aof")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, text[:bytes.Index(text, []byte("EXEC"))], 0o600))
	p := start(t, "miniredisd", "", "check", filepath.Dir(path), "--fix")
	require.Equal(t, exitDamaged, p.exit(), p.errs.String())
	require.NoError(t, os.Rename(path+".fixed", path))
	p = start(t, "miniredisd", "", "check", filepath.Dir(path))
	require.Equal(t, exitWhole, p.exit(), p.errs.String())
	c := redistest.Dial(t, redistest.Start(t, "--dir", dir, "--appendonly", "yes", "--aof-load-truncated", "no").Addr)
	require.Equal(t, "v", c.Do("GET", "after").Str)
	require.Equal(t, int64(0), c.Do("EXISTS", "n").Int, "the transaction was not whole")
	require.Equal(t, int64(2), c.Do("LLEN", "l").Int)
}
