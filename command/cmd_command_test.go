package command

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCommandDescribesWhatCommandInfoDescribes(t *testing.T) {
	d := newDriver()
	info := "COMMAND INFO"
	for _, cmd := range d.ex.Table.All() {
		info += " " + cmd.Name
	}
	for _, proto := range []int{2, 3, 2} {
		d.s.Proto = proto
		for range 2 {
			require.Equal(t, d.do(t, info), d.do(t, "COMMAND"), proto)
		}
	}
}

func TestCommandFollowsRenames(t *testing.T) {
	d := newDriver()
	before := d.do(t, "COMMAND")
	require.NoError(t, d.ex.Table.Rename("flushall", ""))
	after := d.do(t, "COMMAND")
	require.Len(t, after.Elems, len(before.Elems)-1)
	require.Contains(t, before.String(), "flushall")
	require.False(t, strings.Contains(after.String(), "flushall"))
}
