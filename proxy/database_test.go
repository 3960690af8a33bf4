package proxy

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What a client touches is known by its database, and a SELECT that fails chooses none.
func TestASelectThatFailsChoosesNoDatabase(t *testing.T) {
	own, real := ownWorld(t), realWorld(t)
	for _, step := range []string{
		"LAB RESET", "LAB LOG WATCH lock:*", "a: SELECT 3", "a: SELECT 99", "a: SET lock:1 x", "a: SELECT x", "a: SELECT -1",
		"a: SELECT", "a: DISCARD", "a: PEXPIRE lock:1 30000",
		"LAB FAULT ADD no CMD select NTH 1 ACTION ERROR 'ERR no'", "a: SELECT 5", "a: SET lock:2 x", "LAB FAULT CLEAR",
		"LAB FAULT ADD late CMD select NTH 1 ACTION DELAY-REPLY 1", "a: SELECT 99", "a: SET lock:3 x", "LAB FAULT CLEAR",
		"a: MULTI", "a: SELECT 5", "a: DISCARD", "a: SET lock:4 x",
		"a: MULTI", "a: SELECT 5", "a: NOPE", "a: EXEC", "a: SET lock:5 x",
		"b: WATCH lock:5", "b: MULTI", "b: SELECT 5", "a: DEL lock:5", "b: EXEC", "b: SET lock:6 x",
		"b: MULTI", "b: PING", "b: SELECT 5", "b: SET lock:7 x", "b: EXEC", "b: SET lock:8 x", "b: RESET", "b: SET lock:9 x",
		"a: MULTI x", "a: SET lock:a x", "LAB FAULT ADD no CMD multi NTH 1 ACTION ERROR 'ERR no'", "a: MULTI",
		"a: SET lock:b x", "LAB FAULT CLEAR",
		"LAB FAULT ADD no CMD exec NTH 1 ACTION ERROR 'ERR no'", "a: MULTI", "a: MULTI", "a: SET lock:c x", "a: SELECT 7",
		"a: EXEC", "LAB FAULT CLEAR", "a: SELECT 6", "a: SET lock:d x", "a: EXEC", "a: SET lock:e x",
	} {
		require.Equal(t, own.does(step), real.does(step), step)
	}
	require.Equal(t, own.entries(), real.entries())
	require.Equal(t, databases(own.lab), databases(real.lab))
	real.does("a: MULTI")
	real.does("a: SELECT 99")
	require.Contains(t, real.does("a: EXEC"), "-ERR DB index is out of range")
	real.does("a: DEL lock:1")
	all := databases(real.lab)
	require.Equal(t, "6", all[len(all)-1])
}

func TestAPipelineIsLoggedWithItsDatabasesInAnyOrder(t *testing.T) {
	real := realWorld(t)
	free := startWith(t, Config{Upstreams: []string{real.proxy.proxy.upstreams[0].name}, Free: true})
	c := free.client()
	c.send("SELECT 3", "SELECT 99", "SELECT 98", "MULTI", "SELECT 7", "SELECT 97", "EXEC")
	for range 7 {
		c.read()
	}
	require.Equal(t, "+OK", c.do("LAB FAULT ADD seen CMD get ACTION DELAY-REPLY 1"))
	c.send("GET a", "SELECT 4", "GET b", "SELECT 96", "PING")
	for range 5 {
		c.read()
	}
	c.do("GET c")
	require.Equal(t, []string{"7", "4", "4"}, databases(c))
}

// databases returns those of the entries of the log.
func databases(c conn) (all []string) {
	v, err := c.Do("LAB", "LOG")
	require.NoError(c.t, err)
	for _, e := range v.Elems {
		for i := 0; i < len(e.Elems); i += 2 {
			if e.Elems[i].Str == "db" {
				all = append(all, e.Elems[i+1].String()[1:])
			}
		}
	}
	return all
}
