package command

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/acl"
	"github.com/miniredisd/miniredisd/resp"
)

func TestAPermissionIsCheckedWithoutAllocating(t *testing.T) {
	d := newDriver()
	staged, err := d.ex.Users.Stage("u", []string{"+@all", "-del", "~k*", "%R~r*", "&c"})
	require.NoError(t, err)
	d.ex.Users.Commit(staged)
	d.s.User = d.ex.Users.Get([]byte("u"))
	for _, line := range []string{"get k1", "mget k1 k2 r1", "set k1 v", "zunionstore k1 2 r1 r2", "publish c hello"} {
		args, w := words(line), &resp.Writer{Proto: 2, Buf: make([]byte, 0, 4096)}
		cmd := d.ex.Table.Lookup(args)
		require.NoError(t, d.ex.permissions.check(&d.s, cmd, args, fromClient), line)
		require.Zero(t, testing.AllocsPerRun(100, func() { _ = d.ex.permissions.check(&d.s, cmd, args, fromClient) }), line)
		d.ex.Do(&d.s, args, w)
		require.NotContains(t, string(w.Buf), "NOPERM", line)
	}
}

// What a command does with a key is what its specification says; no row may have keys
// that no permission is asked for.
func TestEveryKeySpecificationSaysWhatIsDone(t *testing.T) {
	d := newDriver()
	for _, cmd := range append([]*Command{}, d.ex.Table.All()...) {
		for _, each := range append([]*Command{cmd}, cmd.SubCommands()...) {
			for _, k := range each.Keys {
				switch {
				case k.Flags&NotKey != 0:
				case k.Flags&(RW|OW|RM) != 0: // PFCOUNT changes no more than what it remembers
					require.NotZero(t, k.Flags.use(), each.Name)
				default:
					require.NotZero(t, k.Flags&RO, each.Name)
					require.Zero(t, k.Flags.use()&acl.WriteKey, each.Name)
				}
			}
		}
	}
}
