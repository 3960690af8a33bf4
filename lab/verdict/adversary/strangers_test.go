package adversary

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/respclient"
	"github.com/miniredisd/miniredisd/lab/verdict"
	"github.com/miniredisd/miniredisd/miniredistest"
	"github.com/miniredisd/miniredisd/resp"
)

// A stranger sends each command that writes, in many forms, while a client holds the lock. If that changes the value of
// the key, the history is not safe. If it changes the deadline alone, one client believes in the lock, and it is safe.
// The commands come from COMMAND DOCS, so that new ones join by themselves.
func TestNoWriteOfAStrangerIsSafe(t *testing.T) {
	t.Parallel()
	const forms, more = 10, 40 // of each command, and of one that has not changed the key yet
	wrote, safe := map[string]bool{}, map[string]bool{}
	for _, lock := range heldLocks() {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t)
			for _, c := range s.writing() {
				wrote[c.name] = wrote[c.name] || false
				for form := 0; form < forms || form < more && !wrote[c.name]; form++ {
					dice := rand.New(rand.NewPCG(uint64(form), 4))
					words := (&maker{dice: dice, group: c.group, lock: form % 3}).words(c)
					if form%4 == 3 {
						words = append([]string{"EVAL", "return redis.call(unpack(ARGV))", "1", theLock}, words...)
					}
					changed, value, is := s.attack(lock.take, words)
					wrote[c.name] = wrote[c.name] || changed
					if value && is == verdict.Safe && !safe[c.name] {
						safe[c.name] = true
						t.Logf("a %s is held, and a stranger sends %q", lock.kind, words)
					}
				}
			}
		})
	}
	assert.Empty(t, safe, "called safe")
	maps.DeleteFunc(wrote, func(_ string, changed bool) bool { return changed })
	require.Equal(t, harmless(), slices.Sorted(maps.Keys(wrote)), "changed no lock")
}

// harmless are the commands that change no key that exists, or only streams and HyperLogLogs. MIGRATE needs a
// network, and GEORADIUS more options than chance puts together.
func harmless() []string {
	return []string{"function|delete", "function|flush", "function|load", "function|restore", "georadius", "migrate",
		"msetnx", "pfadd", "pfdebug", "pfmerge", "setnx", "xack", "xadd", "xautoclaim", "xclaim", "xdel", "xgroup|create",
		"xgroup|createconsumer", "xgroup|delconsumer", "xgroup|destroy", "xgroup|setid", "xreadgroup", "xsetid", "xtrim"}
}

// heldLock is a kind of lock, and how it is taken.
type heldLock struct {
	kind string
	take []string
}

func heldLocks() []heldLock {
	return []heldLock{
		{"string", []string{"SET", theLock, "{t}", "NX", "PX", "30000"}},
		{"number", []string{"INCR", theLock}},
		{"hash", []string{"HSETNX", theLock, "owner", "{t}"}},
		{"set", []string{"SADD", theLock, "{t}"}},
		{"sorted set", []string{"ZADD", theLock, "NX", "1", "{t}"}},
		{"list", []string{"LPUSH", theLock, "{t}"}},
	}
}

// stage is a server with a holder, a stranger and another client who wants the lock.
type stage struct {
	t                  *testing.T
	srv, elsewhere     *miniredistest.Server
	a, stranger, other *respclient.Conn
	payload            string // of DUMP
}

func newStage(t *testing.T) *stage {
	s := &stage{t: t, srv: miniredistest.Run(brief{t}, miniredistest.Watch("lock:*")), elsewhere: miniredistest.Run(t)}
	dial := func(name string) *respclient.Conn {
		conn, err := s.srv.Dial(t.Context(), "", "")
		require.NoError(t, err)
		c := respclient.New(conn, respclient.SmallBuffer)
		t.Cleanup(func() { _ = c.Close() })
		_, err = c.Do("CLIENT", "SETNAME", name)
		require.NoError(t, err)
		return c
	}
	for _, key := range []string{"SET o:string x", "SET o:number 5", "RPUSH o:list a b", "SADD o:set a b",
		"HSET o:hash f v", "ZADD o:zset 0 a 0 b", "GEOADD o:geo 1 1 a", "XADD o:stream 1-1 f v"} {
		s.srv.Do(strings.Fields(key)...)
	}
	s.payload = s.srv.Do("DUMP", "o:string").Str
	s.srv.Snapshot("clean")
	s.a, s.stranger, s.other = dial("a"), dial("s"), dial("b")
	return s
}

// command is a command that writes, and its arguments as COMMAND DOCS has them.
type command struct {
	name, group string
	arguments   resp.Value
}

// writing returns all commands that write.
func (s *stage) writing() (all []command) {
	docs := s.srv.Do("COMMAND", "DOCS")
	for _, info := range s.srv.Do("COMMAND").Elems {
		s.collect(&all, info, field(docs, info.Elems[0].Str))
	}
	require.Greater(s.t, len(all), 80)
	return all
}

func (s *stage) collect(all *[]command, info, doc resp.Value) {
	name := info.Elems[0].Str
	if slices.ContainsFunc(info.Elems[2].Elems, func(f resp.Value) bool { return f.Str == "write" }) {
		*all = append(*all, command{name, field(doc, "group").Str, field(doc, "arguments")})
	}
	for _, sub := range info.Elems[9].Elems {
		s.collect(all, sub, field(field(doc, "subcommands"), sub.Elems[0].Str))
	}
}

// attack lets a stranger send a command to a held lock. It reports whether that has changed the key, or its value, and
// the verdict.
func (s *stage) attack(take, words []string) (changed, value bool, is verdict.Result) {
	s.srv.Restore("clean")
	s.srv.ResetLog()
	s.takes(s.a, take, "token-a")
	before, was := s.state(), s.srv.Do("DUMP", theLock).Str
	request := slices.Clone(words)
	for i, word := range request {
		request[i] = strings.NewReplacer("{dump}", s.payload, "{port}", strconv.Itoa(s.elsewhere.Port())).Replace(word)
	}
	require.NoError(s.t, s.stranger.Send(resp.AppendRequest(nil, request...)))
	_, err := s.stranger.Read()
	require.NoError(s.t, err, words)
	if s.state() == before {
		return false, false, ""
	}
	value = s.srv.Do("DUMP", theLock).Str != was
	time.Sleep(time.Millisecond)
	s.takes(s.other, take, "token-b")
	histories, err := verdict.Read(strings.NewReader(s.srv.History()))
	require.NoError(s.t, err)
	v, err := verdict.JudgeLocks(histories, func(key string) bool { return key == theLock })
	require.NoError(s.t, err)
	return true, value, v.Result()
}

func (s *stage) takes(c *respclient.Conn, take []string, token string) {
	words := slices.Clone(take)
	for i, word := range words {
		words[i] = strings.ReplaceAll(word, "{t}", token)
	}
	_, err := c.Do(words...)
	require.NoError(s.t, err)
}

// state returns all of the lock that a client can see.
func (s *stage) state() string {
	return fmt.Sprintf("%q %d", s.srv.Do("DUMP", theLock).Str, s.srv.Do("PEXPIRETIME", theLock).Int)
}

// others are keys beside the lock, by the group of the commands on them.
func others() map[string]string {
	return map[string]string{"string": "o:string", "bitmap": "o:number", "list": "o:list", "set": "o:set",
		"hash": "o:hash", "sorted-set": "o:zset", "geo": "o:geo", "stream": "o:stream", "generic": "o:none"}
}

// maker makes requests from the arguments of COMMAND DOCS.
type maker struct {
	dice  *rand.Rand
	group string
	lock  int // which key is the lock, from 0
	keys  int // so far
}

func (m *maker) words(c command) []string {
	words := strings.Split(c.name, "|")
	for _, arg := range c.arguments.Elems {
		words = append(words, m.argument(arg)...)
	}
	if m.keys > 0 && !slices.Contains(words, theLock) {
		for i, w := range words {
			if strings.HasPrefix(w, "o:") {
				words[i] = theLock
				break
			}
		}
	}
	return words
}

func (m *maker) argument(arg resp.Value) (words []string) {
	has := func(flag string) bool {
		return slices.ContainsFunc(field(arg, "flags").Elems, func(f resp.Value) bool { return f.Str == flag })
	}
	if has("optional") && m.dice.IntN(2) == 0 {
		return nil
	}
	if token := field(arg, "token").Str; token != "" {
		words = append(words, token)
	}
	switch field(arg, "type").Str {
	case "pure-token":
		return words
	case "oneof":
		all := field(arg, "arguments").Elems
		return append(words, m.argument(all[m.dice.IntN(len(all))])...)
	case "block":
		for _, part := range field(arg, "arguments").Elems {
			words = append(words, m.argument(part)...)
		}
		return words
	}
	return append(words, m.value(arg))
}

// value returns a value that is likely to mean something.
func (m *maker) value(arg resp.Value) string {
	switch name := field(arg, "name").Str; {
	case field(arg, "type").Str == "key":
		m.keys++
		if m.keys-1 == m.lock {
			return theLock
		}
		if fit := others()[m.group]; fit != "" && m.dice.IntN(2) == 0 {
			return fit
		}
		return oneOf(m.dice, slices.Sorted(maps.Values(others()))...)
	case name == "host":
		return "127.0.0.1"
	case name == "port":
		return "{port}"
	case name == "serialized-value":
		return "{dump}"
	case name == "numkeys", name == "numfields":
		return "1"
	case name == "min" || name == "max":
		return oneOf(m.dice, map[string][]string{"min": {"-", "-inf", "0"}, "max": {"+", "+inf", "-1"}}[name]...)
	case name == "encoding":
		return "u8"
	case name == "member":
		return oneOf(m.dice, "token-a", "a")
	case name == "destination-db", name == "index2":
		return "1"
	case name == "index1":
		return "0"
	case name == "timeout" && field(arg, "type").Str == "integer":
		return "1000"
	case field(arg, "type").Str == "double":
		return "1"
	case field(arg, "type").Str == "unix-time":
		return oneOf(m.dice, "1", "946684900", "946684900000", "4102444800000")
	case field(arg, "type").Str == "integer":
		return oneOf(m.dice, "0", "1", "2", "10", "-1")
	}
	return oneOf(m.dice, "token-a", "owner", "x", "5", "a", "f", "*", "1-1")
}
