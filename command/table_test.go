package command

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestExecutorsShareCommandsButNeitherNamesNorCounters(t *testing.T) {
	shared := NewCommands()
	renamed, plain := newTable(shared), newTable(shared)
	require.NoError(t, renamed.Rename("get", "fetch"))
	require.NoError(t, renamed.Rename("del", ""))
	for name, known := range map[string][2]bool{
		"get": {false, true}, "fetch": {true, false}, "del": {false, true}, "set": {true, true},
	} {
		args := [][]byte{[]byte(name)}
		require.Equal(t, known, [2]bool{renamed.Lookup(args) != nil, plain.Lookup(args) != nil}, name)
	}
	fetch, get := renamed.Find("fetch"), plain.Find("get")
	require.Equal(t, "get", fetch.Name, "INFO and COMMAND show the old name")
	renamed.Calls(fetch).Count = 3
	require.Zero(t, plain.Calls(get).Count)
	require.EqualValues(t, 3, renamed.Calls(get).Count, "a name does not count")
}

func TestArgumentsNameKeySpecificationsThatExist(t *testing.T) {
	for _, rows := range groups() {
		for _, row := range rows {
			specs := 0
			if row.Args != nil {
				specs = len(row.Args.Keys)
			}
			var check func(args []Argument)
			check = func(args []Argument) {
				for _, a := range args {
					require.True(t, a.KeySpec == 0 || a.KeySpec < specs, "%s of %s", a.Name, row.Name)
					check(a.Args)
				}
			}
			check(ParseSyntax(row.Syntax))
		}
	}
}
