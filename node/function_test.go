package node_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

// library returns the code of a library that registers the function name. Comments pad the code to
// the given length.
func library(name string, length int) string {
	code := "#!lua name=lib_" + name + "\nredis.register_function('" + name + "', function() return '" + name + "' end)\n"
	for i := 0; len(code) < length; i++ {
		code += "-- " + strings.Repeat(name, i%17) + "\n"
	}
	return code
}

// Each server restores what the other dumps: short libraries, and libraries that Redis compresses.
func TestFunctionPayloadsAreExchangedWithRedis(t *testing.T) {
	ours, theirs := redistest.Dial(t, start(t, nil)), redistest.Dial(t, redistest.Start(t).Addr)
	for _, c := range []struct{ from, to *redistest.Conn }{{ours, theirs}, {theirs, ours}} {
		lengths := map[string]int{"a": 0, "b": 60, "c": 300, "d": 16300, "e": 16400, "f": 100000}
		c.from.Do("FUNCTION", "FLUSH")
		for name, length := range lengths {
			require.Equal(t, byte('$'), c.from.Do("FUNCTION", "LOAD", library(name, length)).Kind)
		}
		payload := c.from.Do("FUNCTION", "DUMP")
		require.Equal(t, byte('+'), c.to.Do("FUNCTION", "RESTORE", payload.Str, "FLUSH").Kind)
		for name := range lengths {
			require.Equal(t, name, c.to.Do("FCALL", name, "0").Str)
			list := []string{"FUNCTION", "LIST", "LIBRARYNAME", "lib_" + name, "WITHCODE"}
			require.Equal(t, c.from.Do(list...), c.to.Do(list...))
		}
	}
}

func TestInfoCountsLibrariesAndFunctions(t *testing.T) {
	c := redistest.Dial(t, start(t, nil))
	require.Equal(t, 0, info(t, c, "number_of_functions"))
	c.Do("FUNCTION", "LOAD", "#!lua name=two\n"+
		"redis.register_function('f', function() end)\nredis.register_function('g', function() end)")
	c.Do("FUNCTION", "LOAD", library("a", 0))
	require.Equal(t, 2, info(t, c, "number_of_libraries"))
	require.Equal(t, 3, info(t, c, "number_of_functions"))
	require.Positive(t, info(t, c, "used_memory_functions"))
	c.Do("FUNCTION", "FLUSH")
	require.Equal(t, 0, info(t, c, "number_of_libraries"))
}
