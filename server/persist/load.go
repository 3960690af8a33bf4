package persist

import (
	"errors"
	"io"
	"path/filepath"

	"github.com/miniredisd/miniredisd/persist/aof"
	"github.com/miniredisd/miniredisd/persist/rdb"
)

// loading returns where the content of an append only file goes: keys of a base to the keyspace, and commands to do.
func (a *appendOnly) loading(do func(args [][]byte) error) *aof.Loading {
	p := a.p
	return &aof.Loading{
		Command: func(args [][]byte) error {
			if err := do(args); err != nil {
				return err
			}
			return p.loadedCommand()
		},
		Stamp: func(int64) {},
		Part: func(part aof.Part, size int64) {
			p.s.Log('*', "Loading %s: %d bytes", part.Name, size)
			p.Progress.Total = max(p.Progress.Total, size)
		},
		Base: func(from io.Reader, size int64, path string) (int64, io.Reader, error) {
			p.s.Log('*', "Reading RDB base file on AOF loading...")
			l := p.RDBLoading(false)
			n, rest, err := l.ReadBase(from, size, path)
			p.Loaded, p.Expired = l.Loaded, l.Expired
			return n, rest, err
		},
	}
}

// RDBLoading returns where the content of an RDB file goes.
func (p *Files) RDBLoading(merge bool) *rdb.Loading {
	l := &rdb.Loading{
		Keys: p.s.KS, Merge: merge, Checksum: p.s.Cfg.RDBChecksum && !p.s.Ex.AnyChecksum, Log: p.s.Log, Each: p.loadedKey,
		Library: func(code []byte) error { return p.s.Ex.Scripts.LoadLibrary(code, merge) },
	}
	p.Progress.RDB = l
	return l
}

// advise says which program looks at a damaged file. Redis names its redis-check-aof and redis-check-rdb.
func (p *Files) advise(err error) {
	var commands *aof.DamageError
	var keys *rdb.DamageError
	switch {
	case !p.s.Cfg.SystemFiles:
	case errors.As(err, &commands):
		path := commands.File
		if filepath.Dir(path) == p.AOF.folder.Path {
			path = p.AOF.folder.Path
		}
		p.s.Log('#', "miniredisd check --fix %s says what is whole, and writes it to a copy", absolute(path))
	case errors.As(err, &keys):
		p.s.Log('#', "miniredisd check %s says what the file has, and where it is damaged", absolute(keys.File))
	}
}

func absolute(path string) string {
	if whole, err := filepath.Abs(path); err == nil {
		return whole
	}
	return path
}
