package aof_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/persist/aof"
	"github.com/miniredisd/miniredisd/persist/disk"
	"github.com/miniredisd/miniredisd/resp"
)

// replay is what a file gave to its reader, in order.
type replay struct {
	steps []string
	fail  string // the command that is refused
}

// loading records what it gets. An RDB file here is its name and its length in one digit.
func (p *replay) loading() *aof.Loading {
	return &aof.Loading{
		Base: func(from io.Reader, size int64, path string) (int64, io.Reader, error) {
			head := make([]byte, 10)
			if _, err := io.ReadFull(from, head); err != nil {
				return 0, nil, fmt.Errorf("%s: a short RDB file", path)
			}
			p.steps = append(p.steps, "RDB "+string(head))
			return 10, from, nil
		},
		Command: func(argv [][]byte) error {
			text := make([]string, len(argv))
			for i, arg := range argv {
				text[i] = string(arg)
			}
			if text[0] == p.fail {
				return errors.New("Unknown command")
			}
			p.steps = append(p.steps, strings.Join(text, " "))
			return nil
		},
		Stamp: func(unix int64) { p.steps = append(p.steps, fmt.Sprint("#", unix)) },
		Part: func(part aof.Part, size int64) {
			p.steps = append(p.steps, fmt.Sprintf("%c %s %d", part.Type, part.Name, size))
		},
	}
}

// request is a command in a file.
func request(words ...string) string { return string(resp.AppendRequest(nil, words...)) }

func put(t testing.TB, on disk.FS, name, text string) {
	t.Helper()
	f, err := on.Create(name)
	require.NoError(t, err)
	_, err = io.WriteString(f, text)
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

func TestCommandsComeInTheirOrder(t *testing.T) {
	for _, c := range []struct {
		file string
		want []string
	}{
		{"", nil},
		{request("SELECT", "0") + request("SET", "k", "a\r\nb"), []string{"SELECT 0", "SET k a\r\nb"}},
		{request("SET", "k", ""), []string{"SET k "}},
		{"#TS:1700000000\r\n" + request("PING"), []string{"#1700000000", "PING"}},
		{"#TS:x\r\n# a note of somebody\n" + request("PING"), []string{"PING"}},
		{request("MULTI") + request("DEL", "k") + request("EXEC"), []string{"MULTI", "DEL k", "EXEC"}},
		{"REDIS0011\xff" + request("PING"), []string{"RDB REDIS0011\xff", "PING"}},
		{"VALKEY080\xff", []string{"RDB VALKEY080\xff"}},
		{request("SET", "k", strings.Repeat("v", 200_000)) + request("PING"),
			[]string{"SET k " + strings.Repeat("v", 200_000), "PING"}},
	} {
		var p replay
		require.NoError(t, p.loading().Read(strings.NewReader(c.file), int64(len(c.file)), "f"))
		require.Equal(t, c.want, p.steps)
	}
}

// A tail is truncated if the file would be whole with more bytes behind it.
func TestATruncatedTailHasTheOffsetOfTheLastWholeTransaction(t *testing.T) {
	const ts = "#TS:1700000000\r\n"
	file := request("SELECT", "0") + ts + request("SET", "k", "12345") + request("MULTI") + request("INCR", "n") +
		request("EXEC") + request("DEL", "k")
	whole := map[int]bool{0: true}
	at := 0
	for _, unit := range []string{request("SELECT", "0"), ts, request("SET", "k", "12345"),
		request("MULTI") + request("INCR", "n") + request("EXEC"), request("DEL", "k")} {
		at += len(unit)
		whole[at] = true
	}
	last := 0
	for n := range len(file) + 1 {
		err := new(replay).loading().Read(strings.NewReader(file), int64(n), "f")
		if whole[n] {
			require.NoError(t, err, "%d bytes", n)
			last = n
			continue
		}
		var damage *aof.DamageError
		require.ErrorAs(t, err, &damage, "%d bytes", n)
		require.True(t, damage.Truncated, "%d bytes", n)
		require.Equal(t, int64(last), damage.Whole, "%d bytes", n)
		require.Contains(t, damage.Error(), "the file ends in the middle of a")
	}
}

func TestDamageIsRefusedWithPlaceAndReason(t *testing.T) {
	ping, multi, exec := request("PING"), request("MULTI"), request("EXEC")
	for _, c := range []struct {
		file  string
		whole int // the bytes that can be kept
		want  string
	}{
		{ping + "PING\r\n", 14, `f: byte 14: a command begins with '*', and here is 'P'`},
		{ping + "*0\r\n" + ping, 14, "f: byte 14: a command of 0 arguments"},
		{"*-1\r\n", 0, "f: byte 0: a command of -1 arguments"},
		{"*x\r\n", 0, `f: byte 0: no number with \r\n at its end: "*x\r\n"`},
		{"*1\n$4\r\nPING\r\n", 0, `f: byte 0: no number with \r\n at its end: "*1\n"`},
		{"*01\r\n$4\r\nPING\r\n", 0, "f: byte 0: no number"},
		{"*99999999999999999999\r\n", 0, "f: byte 0: no number"},
		{"*" + strings.Repeat("1", 200), 0, "f: byte 0: the line has no end: "},
		{"#" + strings.Repeat("x", 2000), 0, "f: byte 0: the line has no end: "},
		{ping + "*1\r\n:4\r\n", 14, "f: byte 14: '$' is expected here, and there is ':'"},
		{"*1\r\n$-1\r\n", 0, "f: byte 0: an argument of -1 bytes"},
		{"*1\r\n$3\r\nPING\r\n", 0, `f: byte 0: an argument of 3 bytes has no \r\n behind it`},
		{ping + multi + ping + multi, 14, "f: byte 43: MULTI inside MULTI"},
		{ping + exec, 14, "f: byte 14: EXEC without MULTI"},
		{ping + multi + ping + "x", 14, `f: byte 43: a command begins with '*', and here is 'x'`},
		{ping + request("WRONG") + ping, 14, "f: byte 14: Unknown command"},
		{"REDIS", 0, "f: a short RDB file"},
	} {
		p := replay{fail: "WRONG"}
		err := p.loading().Read(strings.NewReader(c.file), int64(len(c.file)), "f")
		require.ErrorContains(t, err, c.want, "%q", c.file)
		var damage *aof.DamageError
		if errors.As(err, &damage) {
			require.False(t, damage.Truncated, "%q", c.file)
			require.Equal(t, int64(c.whole), damage.Whole, "%q", c.file)
		}
	}
}

func TestPartsAreLoadedInTheirOrder(t *testing.T) {
	on := disk.NewSim(1)
	put(t, on, "/d/a.manifest", "file a.2.base.rdb seq 2 type b\nfile a.1.incr.aof seq 1 type h\n"+
		"file a.2.incr.aof seq 2 type i\nfile a.3.incr.aof seq 3 type i\n")
	put(t, on, "/d/a.2.base.rdb", "REDIS0011\xff")
	put(t, on, "/d/a.2.incr.aof", "")
	put(t, on, "/d/a.3.incr.aof", request("PING"))
	m, err := aof.ReadManifest(on, "/d/a.manifest")
	require.NoError(t, err)
	require.Equal(t, []aof.Part{{Name: "a.1.incr.aof", Seq: 1, Type: aof.History}}, m.History)
	var p replay
	require.NoError(t, p.loading().Load(on, "/d", m))
	require.Equal(t, []string{"b a.2.base.rdb 10", "RDB REDIS0011\xff", "i a.2.incr.aof 0", "i a.3.incr.aof 14", "PING"},
		p.steps)
}

// A power cut that comes when a rewrite has just begun tears the old part, and the new one is empty.
func TestATornPartBeforeEmptyOnesIsTheEnd(t *testing.T) {
	for behind, torn := range map[string]bool{"": true, request("PING"): false} {
		on := disk.NewSim(1)
		put(t, on, "/d/a.manifest", "file a.1.incr.aof seq 1 type i\nfile a.2.incr.aof seq 2 type i\n"+
			"file a.3.incr.aof seq 3 type i\n")
		put(t, on, "/d/a.1.incr.aof", request("PING")+"*1\r\n$4\r\nPI")
		put(t, on, "/d/a.2.incr.aof", "")
		put(t, on, "/d/a.3.incr.aof", behind)
		m, err := aof.ReadManifest(on, "/d/a.manifest")
		require.NoError(t, err)
		var p replay
		var damage *aof.DamageError
		require.ErrorAs(t, p.loading().Load(on, "/d", m), &damage)
		require.Equal(t, torn, damage.Torn)
		require.False(t, damage.Truncated)
		require.Equal(t, int64(14), damage.Whole)
	}
}

func TestOnlyTheLastPartMayBeTruncated(t *testing.T) {
	for cut, why := range []string{
		"/d/a.1.incr.aof: byte 14: the file ends in the middle of a command, and it is not the last file",
		"/d/a.2.incr.aof: byte 14: the file ends in the middle of a command",
	} {
		on := disk.NewSim(1)
		put(t, on, "/d/a.manifest", "file a.1.incr.aof seq 1 type i\nfile a.2.incr.aof seq 2 type i\n")
		for i, name := range []string{"/d/a.1.incr.aof", "/d/a.2.incr.aof"} {
			text := request("PING") + request("DEL", "k")
			if i == cut {
				text = text[:len(text)-1]
			}
			put(t, on, name, text)
		}
		m, err := aof.ReadManifest(on, "/d/a.manifest")
		require.NoError(t, err)
		var damage *aof.DamageError
		require.ErrorAs(t, new(replay).loading().Load(on, "/d", m), &damage)
		require.EqualError(t, damage, why)
		require.Equal(t, cut == 1, damage.Truncated)
		require.Equal(t, int64(14), damage.Whole)
	}
}

func TestAPartThatIsMissingIsDamage(t *testing.T) {
	on := disk.NewSim(1)
	put(t, on, "/d/a.manifest", "file gone seq 1 type i\n")
	m, err := aof.ReadManifest(on, "/d/a.manifest")
	require.NoError(t, err)
	err = new(replay).loading().Load(on, "/d", m)
	require.EqualError(t, err, filepath.Join("/d", "gone")+": byte 0: the manifest names gone and there is none: "+
		"No such file or directory")
	require.NotErrorIs(t, err, fs.ErrNotExist)
	require.ErrorIs(t, new(replay).loading().LoadFile(on, "/d/gone"), fs.ErrNotExist)
	_, err = aof.ReadManifest(on, "/d/no.manifest")
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func TestAnErrorOfTheDiskIsNoTruncatedTail(t *testing.T) {
	on := disk.NewSim(1)
	put(t, on, "/f", request("SET", "k", strings.Repeat("v", 1<<20)))
	on.Fail(3, disk.Failure) // after open, size and the first bytes
	err := new(replay).loading().LoadFile(on, "/f")
	var damage *aof.DamageError
	require.ErrorAs(t, err, &damage)
	require.False(t, damage.Truncated)
	require.EqualError(t, err, "/f: byte 0: input/output error")

	short := request("PING")
	err = new(replay).loading().Read(strings.NewReader(short[:6]), int64(len(short)), "f")
	require.EqualError(t, err, "f: byte 0: the file became shorter while it was read")
}

// A torn tail is what a full disk has left.
func TestATornTailIsCutOffOnAFullDisk(t *testing.T) {
	d := disk.NewSim(1)
	f := &aof.Folder{On: d, Path: "/d/aof", Name: "a"}
	part, m, err := f.Begin(nil, func(path string) error {
		_, err := d.Create(path)
		return err
	})
	require.NoError(t, err)
	_, err = io.WriteString(part, request("PING")+"*1\r\n$4")
	require.NoError(t, err)
	d.Refuse(disk.Rule{On: disk.OpWrite, Why: syscall.ENOSPC})
	d.Refuse(disk.Rule{On: disk.OpOpen, Why: syscall.ENOSPC, Nth: 2}) // only the part is opened
	part, _, err = f.Cut(m, int64(len(request("PING"))))
	require.NoError(t, err)
	size, err := part.Size()
	require.NoError(t, err)
	require.Equal(t, int64(len(request("PING"))), size)
	_, _, err = f.Cut(&aof.Manifest{Incr: []aof.Part{{Name: "none", Seq: 1, Type: aof.Incr}}}, 0)
	require.ErrorIs(t, err, fs.ErrNotExist)
}
