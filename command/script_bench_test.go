package command

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/clock"
	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/store"
)

const (
	unlockScript = `if redis.call("get",KEYS[1])==ARGV[1] then return redis.call("del",KEYS[1]) else return 0 end`

	// what Redisson's lock does: take it, or take it once more, or tell how long it is held by another
	lockScript = `if ((redis.call('exists', KEYS[1]) == 0) or (redis.call('hexists', KEYS[1], ARGV[2]) == 1)) then ` +
		`redis.call('hincrby', KEYS[1], ARGV[2], 1); redis.call('pexpire', KEYS[1], ARGV[1]); return nil; end; ` +
		`return redis.call('pttl', KEYS[1]);`
)

// BenchmarkScripts are the scripts of lock clients, from the request's arguments to the reply.
func BenchmarkScripts(b *testing.B) {
	cfg := config.Default()
	ks := store.NewKeyspace(store.Options{Databases: 16, Seed: 1})
	ex := New(cfg, ks, clock.New(), &testHost{}, NewCommands())
	s := &Session{Proto: 2, User: ex.Users.Default, Authenticated: true}
	w := &resp.Writer{Proto: 2}
	sha := func(script string) string {
		ex.Do(s, requestOf("SCRIPT", "LOAD", script), w)
		return string(w.Buf[len(w.Buf)-42 : len(w.Buf)-2])
	}
	for _, c := range []struct {
		name    string
		request [][]byte
		before  [][]byte
	}{
		{"nothing", requestOf("EVAL", "return 1", "0"), nil},
		{"evalunlock", requestOf("EVAL", unlockScript, "1", "lock", "token"), requestOf("SET", "lock", "token")},
		{"evalshaunlock", requestOf("EVALSHA", sha(unlockScript), "1", "lock", "token"), requestOf("SET", "lock", "token")},
		{"evallock", requestOf("EVAL", lockScript, "1", "rlock", "30000", "6b1e9bd4-5b5a-4b5e-8c5d-0123456789ab:1"), nil},
		{"evalshalock", requestOf("EVALSHA", sha(lockScript), "1", "rlock", "30000",
			"6b1e9bd4-5b5a-4b5e-8c5d-0123456789ab:1"), nil},
		{"loop", requestOf("EVAL", "local n = 0 for i = 1, 3 do n = n + redis.call('exists', KEYS[1]) end return n",
			"1", "lock"), nil},
		{"format", requestOf("EVAL", "local t={} for i=1,20 do t[#t+1]=string.format('%d:%s',i,ARGV[1]) end "+
			"return table.concat(t,',')", "0", "abc"), nil},
		{"cjson", requestOf("EVAL", "return cjson.encode(cjson.decode(ARGV[1]))", "0",
			`{"a":[1,2,3],"b":{"c":"d","e":1.5}}`), nil},
		{"set", requestOf("SET", "lock", "token"), nil},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				w.Buf = w.Buf[:0]
				if c.before != nil {
					ex.Do(s, c.before, w)
				}
				ex.Do(s, c.request, w)
			}
			require.NotContains(b, string(w.Buf), "-ERR")
		})
	}
}

func requestOf(words ...string) [][]byte {
	args := make([][]byte, len(words))
	for i, word := range words {
		args[i] = []byte(word)
	}
	return args
}
