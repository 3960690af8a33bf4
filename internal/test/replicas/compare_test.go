package replicas

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/resp"
)

const (
	databases = 4
	patience  = 5 * time.Minute // a full synchronization on a busy machine
)

// settled waits until all links are up and all servers are at the same byte of the same history.
func (c *campaign) settled() {
	c.t.Helper()
	pace := time.NewTicker(20 * time.Millisecond)
	defer pace.Stop()
	for end := time.Now().Add(patience); ; <-pace.C {
		states := []string{c.top.info("master_replid") + " " + c.top.info("master_repl_offset")}
		areUp := true
		for _, n := range c.nodes {
			if n != c.top {
				areUp = areUp && n.info("master_link_status") == "up"
				states = append(states, n.info("master_replid")+" "+n.info("master_repl_offset"))
			}
		}
		if areUp && len(slices.Compact(slices.Clone(states))) == 1 {
			return
		}
		if time.Now().After(end) {
			c.fail("links do not settle: up %v, %q", areUp, states)
		}
	}
}

// requireEqual compares all data, the times of keys, the groups of streams, and the functions.
func (c *campaign) requireEqual(when string) {
	c.t.Helper()
	c.settled()
	require.Equal(c.t, "OK", c.top.admin.Do("DEBUG", "SET-ACTIVE-EXPIRE", "0").Str)
	for db := range databases {
		c.compareAll(when, db, "PEXPIRETIME", func(n *node, v resp.Value) string {
			if v.Int > time.Now().Add(10*time.Second).UnixMilli() {
				return v.String()
			}
			return "" // it may expire now
		})
		c.compareAll(when, db, "XPENDING", func(_ *node, v resp.Value) (text string) {
			for _, e := range v.Elems {
				text += e.Elems[0].Str + " " + e.Elems[1].Str + "\n"
			}
			return text
		})
	}
	for db := range databases { // what is left has no time
		c.each(c.top, db, "PERSIST")
	}
	c.settled()
	want := c.top.admin.Do("DEBUG", "DIGEST").Str
	functions := c.top.admin.Do("FUNCTION", "LIST", "WITHCODE")
	for _, n := range c.nodes {
		if n.admin.Do("DEBUG", "DIGEST").Str != want {
			c.fail("%s: the data of %s differ:\n%s", when, n.kind, c.firstDifferences(n))
		}
		require.Equal(c.t, functions.String(), n.admin.Do("FUNCTION", "LIST", "WITHCODE").String(), when)
	}
	require.Equal(c.t, "OK", c.top.admin.Do("DEBUG", "SET-ACTIVE-EXPIRE", "1").Str)
	c.compared++
}

// each sends a command for each key of a database, and returns what it says of each.
func (c *campaign) each(n *node, db int, command string) map[string]resp.Value {
	all := map[string]resp.Value{}
	require.Equal(c.t, "OK", n.admin.Do("SELECT", strconv.Itoa(db)).Str)
	var batch []byte
	keys := n.admin.Do("KEYS", "*").Elems
	for _, key := range keys {
		switch command {
		case "XPENDING":
			batch = resp.AppendRequest(batch, command, key.Str, "g", "-", "+", "1000")
		case "DIGEST-VALUE":
			batch = resp.AppendRequest(batch, "DEBUG", command, key.Str)
		default:
			batch = resp.AppendRequest(batch, command, key.Str)
		}
	}
	go func() { _ = n.admin.Send(batch) }()
	for _, key := range keys {
		all[key.Str] = n.admin.Read()
	}
	return all
}

// compareAll compares what a command says of all keys, as told by a function.
func (c *campaign) compareAll(when string, db int, command string, tell func(n *node, v resp.Value) string) {
	c.t.Helper()
	want := c.each(c.top, db, command)
	for _, n := range c.nodes {
		for key, v := range c.each(n, db, command) {
			if w, exists := want[key]; exists && tell(c.top, w) != tell(n, v) && tell(c.top, w) != "" {
				c.fail("%s: %s of %q in database %d is %s on the master, and %s on %s", when, command, key, db, w, v, n.kind)
			}
		}
	}
}

// firstDifferences returns some keys that differ.
func (c *campaign) firstDifferences(n *node) string {
	var lines []string
	for db := range databases {
		want, got := c.each(c.top, db, "DIGEST-VALUE"), c.each(n, db, "DIGEST-VALUE")
		for key := range got {
			if _, exists := want[key]; !exists {
				lines = append(lines, fmt.Sprintf("database %d, %q: only on the replica, %s", db, key, show(n.admin, key)))
			}
		}
		c.top.admin.Do("SELECT", strconv.Itoa(db))
		for key, v := range want {
			if v.String() != got[key].String() {
				lines = append(lines, fmt.Sprintf("database %d, %q: %s, on the replica %s", db, key,
					show(c.top.admin, key), show(n.admin, key)))
			}
		}
	}
	return strings.Join(lines[:min(len(lines), 8)], "\n")
}

// show returns the value of a key as text.
func show(c *redistest.Conn, key string) string {
	kind := c.Do("TYPE", key).Str
	read := map[string][]string{
		"string": {"GET", key}, "list": {"LRANGE", key, "0", "-1"}, "set": {"SMEMBERS", key}, "hash": {"HGETALL", key},
		"zset": {"ZRANGE", key, "0", "-1", "WITHSCORES"}, "stream": {"XRANGE", key, "-", "+"},
	}[kind]
	if read == nil {
		return kind
	}
	return fmt.Sprintf("%s %.600s, expires at %s", kind, c.Do(read...), c.Do("PEXPIRETIME", key))
}
