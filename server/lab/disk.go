package lab

import (
	"math"
	"path/filepath"
	"syscall"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/persist/disk"
	"github.com/miniredisd/miniredisd/server"
)

func diskRows() []command.Row {
	return []command.Row{
		wordsRow("disk", "(TORN bytes:integer | REORDER | FAIL (WRITE | FSYNC | RENAME | OPEN) [NTH n:integer] "+
			"(ENOSPC | EIO | SHORT bytes:integer) | SLOW (WRITE | FSYNC) milliseconds | ROT file:string offset:integer | "+
			"FILES | STATUS | HEAL)",
			-2, "O(N) with FILES and STATUS, where N is the number of files, otherwise O(1)",
			"Damages the simulated disk, makes it fail or slow, and shows its files.",
			onDisk("TORN", 1, 1, (*State).diskTorn),
			onDisk("REORDER", 0, 0, (*State).diskReorder),
			onDisk("FAIL", 2, 5, (*State).diskFail),
			onDisk("SLOW", 2, 2, (*State).diskSlow),
			onDisk("ROT", 2, 2, (*State).diskRot),
			onDisk("FILES", 0, 0, (*State).diskFiles),
			onDisk("STATUS", 0, 0, (*State).diskStatus),
			onDisk("HEAL", 0, 0, (*State).diskHeal)),
	}
}

// onDisk makes a word that needs a simulated disk.
func onDisk(name string, least, most int, do func(l *State, c *command.Call, args [][]byte) error) labWord {
	return labWord{name, least, most, 0, func(l *State, c *command.Call, args [][]byte) error {
		if l.disk == nil {
			return labError("disk", "there is no simulated disk: start the server with --lab-disk yes")
		}
		return do(l, c, args)
	}}
}

// diskTorn and diskReorder are about the next LAB CRASH that loses what was not fsynced. The later one counts.
func (l *State) diskTorn(c *command.Call, args [][]byte) error {
	n, err := diskNumber("disk torn", "bytes", args[0], math.MaxInt32)
	if err != nil {
		return err
	}
	l.outage = outage{torn: int(n)}
	c.OK()
	return nil
}

func (l *State) diskReorder(c *command.Call, _ [][]byte) error {
	l.outage = outage{reorder: true}
	c.OK()
	return nil
}

// diskFail lets every operation of a kind fail until HEAL, or with NTH one of them.
func (l *State) diskFail(c *command.Call, args [][]byte) error {
	r := disk.Rule{On: disk.Op(labVerb(args[0]))}
	switch r.On {
	case disk.OpWrite, disk.OpFsync, disk.OpRename, disk.OpOpen:
	default:
		return labError("disk fail", "expects WRITE, FSYNC, RENAME or OPEN, not '%s'", printable(args[0]))
	}
	args = args[1:]
	if ascii.EqualFold(args[0], "nth") && len(args) > 1 {
		n, err := diskNumber("disk fail", "n", args[1], math.MaxInt32)
		if err != nil || n == 0 {
			return labError("disk fail", "NTH expects a number from 1 to %d, not '%s'", math.MaxInt32, printable(args[1]))
		}
		r.Nth, args = int(n), args[2:]
	}
	const how = "expects ENOSPC, EIO or SHORT bytes"
	switch {
	case len(args) == 1 && ascii.EqualFold(args[0], "enospc"):
		r.Why = syscall.ENOSPC
	case len(args) == 1 && ascii.EqualFold(args[0], "eio"):
		r.Why = syscall.EIO
	case len(args) == 2 && ascii.EqualFold(args[0], "short") && r.On != disk.OpWrite:
		return labError("disk fail", "only WRITE can be SHORT")
	case len(args) == 2 && ascii.EqualFold(args[0], "short"):
		n, err := diskNumber("disk fail", "SHORT", args[1], math.MaxInt32)
		if err != nil {
			return err
		}
		r.Why, r.Short = syscall.ENOSPC, int(n)
	case len(args) == 0:
		return labError("disk fail", how)
	default:
		return labError("disk fail", how+", not '%s'", lab.Line(lab.Words(args)))
	}
	l.disk.Refuse(r)
	c.OK()
	return nil
}

// diskSlow makes operations take longer by the lab's clock. While the loop waits for one, it stands still, and the
// clock moves on. The fsync of everysec ends later, and the loop continues.
func (l *State) diskSlow(c *command.Call, args [][]byte) error {
	on := disk.Op(labVerb(args[0]))
	if on != disk.OpWrite && on != disk.OpFsync {
		return labError("disk slow", "expects WRITE or FSYNC, not '%s'", printable(args[0]))
	}
	ms, err := diskNumber("disk slow", "milliseconds", args[1], lab.MaxMillis)
	if err != nil {
		return err
	}
	l.disk.Slow(on, ms)
	l.repace()
	c.OK()
	return nil
}

func (l *State) repace() {
	if w := l.Persist.AOF.Writer; w != nil {
		l.pace(w)
	}
}

func (l *State) diskRot(c *command.Call, args [][]byte) error {
	offset, err := diskNumber("disk rot", "offset", args[1], math.MaxInt64)
	if err != nil {
		return err
	}
	if err := l.disk.Rot(filepath.Join(l.Persist.Folder(), string(args[0])), offset); err != nil {
		return labError("disk rot", "%s: %v", printable(args[0]), err)
	}
	c.OK()
	return nil
}

func (l *State) diskFiles(c *command.Call, _ [][]byte) error {
	files := l.disk.Files(l.Persist.Folder())
	c.Array(len(files))
	for _, f := range files {
		c.Map(4)
		c.BulkString("file")
		c.BulkString(lab.Printable(f.Name))
		c.BulkString("bytes")
		c.Int(f.Size)
		c.BulkString("fsynced")
		c.Int(f.Synced)
		c.BulkString("name-fsynced")
		c.Int(server.OneIf(f.Named))
	}
	return nil
}

func (l *State) diskStatus(c *command.Call, _ [][]byte) error {
	unsynced := int64(0)
	for _, f := range l.disk.Files(l.Persist.Folder()) {
		unsynced += f.Size - f.Synced
	}
	if w := l.Persist.AOF.Writer; w != nil {
		unsynced += int64(w.State().Buffered)
	}
	rules := l.disk.Rules()
	c.Map(7)
	for _, field := range []struct {
		name string
		is   int64
	}{
		{"operations", int64(l.disk.Ops())}, {"unsynced-bytes", unsynced},
		{"torn", int64(l.outage.torn)}, {"reorder", server.OneIf(l.outage.reorder)},
		{"slow-write-ms", l.disk.SlowBy(disk.OpWrite)}, {"slow-fsync-ms", l.disk.SlowBy(disk.OpFsync)},
	} {
		c.BulkString(field.name)
		c.Int(field.is)
	}
	c.BulkString("fails")
	c.Array(len(rules))
	for _, r := range rules {
		c.BulkString(r.String())
	}
	return nil
}

func (l *State) diskHeal(c *command.Call, _ [][]byte) error {
	l.heal()
	c.OK()
	return nil
}

// heal ends what LAB DISK has begun, except what is lost. The end of the pass sets a new timer for the next fsync:
// LAB RESET fires every timer that there is.
func (l *State) heal() {
	if l.disk != nil {
		l.endSync()
		l.Persist.StopTimer()
		l.disk.Heal()
		l.outage = outage{}
		l.repace()
	}
}

// diskNumber reads a number from 0 to most.
func diskNumber(verb, what string, arg []byte, most int64) (int64, error) {
	n, ok := ascii.ParseInt(arg)
	if !ok || n < 0 || n > most {
		return 0, labError(verb, "%s expects a number from 0 to %d, not '%s'", what, most, printable(arg))
	}
	return n, nil
}
