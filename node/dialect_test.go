package node_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/internal/dialect"
	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/node"
	"github.com/miniredisd/miniredisd/server"
)

func dialTo(t *testing.T, name string) *redistest.Conn {
	t.Helper()
	return redistest.Dial(t, start(t, []string{"--dialect", name}))
}

func TestEachDialectSaysWhatItsServerSaysOfItself(t *testing.T) {
	t.Parallel()
	for _, d := range dialect.Known() {
		t.Run(d.Name, func(t *testing.T) {
			c := dialTo(t, d.Name)
			valkey := strings.HasPrefix(d.Name, "valkey")
			require.Equal(t, d.Name, c.Do("CONFIG", "GET", "dialect").Elems[1].Str)
			require.Equal(t, valkey, infoField(c, "redis_version") == "7.2.4")
			require.Equal(t, valkey, infoField(c, "server_name") == "valkey")
			require.Equal(t, valkey, infoField(c, "valkey_version") == d.Version)
			mode := map[bool]string{true: "server_mode", false: "redis_mode"}[valkey && d.Name != "valkey-7.2"]
			require.Equal(t, "standalone", infoField(c, mode))
			hello := c.Do("HELLO")
			require.Equal(t, map[bool]string{true: "valkey", false: "redis"}[mode == "server_mode"], hello.Elems[1].Str)
			require.Equal(t, d.Version, hello.Elems[3].Str)
			require.Equal(t, infoField(c, "redis_version"), c.Do("EVAL", "return redis.REDIS_VERSION", "0").Str)
			require.Equal(t, c.Do("COMMAND", "COUNT").Int, int64(len(c.Do("COMMAND", "DOCS").Elems)/2))
		})
	}
}

// The default dialect is the Redis that all transcripts and comparisons are about.
func TestTheDefaultDialectIsTheRedisOfTheTests(t *testing.T) {
	require.Equal(t, config.RedisVersion, dialect.Named(dialect.Default).Version)
	require.Equal(t, dialect.Default, config.Default().Dialect)
}

func TestAnUnknownDialectEndsTheStartWithAListOfThem(t *testing.T) {
	wrong := []string{"", "redis", "redis-7.3", "valkey-9", "redis-8.10.2", "8.4", "redis-8.4 ", "dragonfly-1.0"}
	for _, name := range wrong {
		_, err := config.Parse([]string{"--dialect", name}, nil)
		require.Error(t, err, "%q", name)
		for _, known := range dialect.Names() {
			require.Contains(t, err.Error(), known, "%q", name)
		}
	}
	cfg, err := config.Parse([]string{"--dialect", "Valkey-9.1"}, nil)
	require.NoError(t, err)
	require.Equal(t, "valkey-9.1", cfg.Dialect)
}

func TestADialectCannotChangeAtRuntime(t *testing.T) {
	c := dialTo(t, "valkey-9.1")
	refused := c.Do("CONFIG", "SET", "dialect", "redis-8.4").Str
	require.Contains(t, refused, "can't set immutable config")
	require.Equal(t, "valkey-9.1", c.Do("CONFIG", "GET", "dialect").Elems[1].Str)
}

// The fields of CLIENT LIST and INFO are those of the played server, and the default has none of the newer ones.
func TestFieldsAreThoseOfTheDialect(t *testing.T) {
	t.Parallel()
	for field, in := range map[string][]string{
		"client watch":                            {"redis-7.4", "redis-8.10", "valkey-8.0", "valkey-9.2"},
		"client io-thread":                        {"redis-8.0", "redis-8.10"},
		"client capa":                             {"valkey-9.0", "valkey-9.2"},
		"client tot-net-in":                       {"redis-8.2", "redis-8.10", "valkey-8.0", "valkey-9.2"},
		"info availability_zone":                  {"valkey-8.0", "valkey-9.2"},
		"info valkey_release_stage":               {"valkey-8.1", "valkey-9.2"},
		"info clients_hz":                         {"valkey-9.1", "valkey-9.2"},
		"info io_threaded_total_prefetch_entries": {"valkey-8.0", "valkey-9.2"},
	} {
		for _, name := range []string{"redis-7.2", "redis-7.4", "redis-8.0", "redis-8.10", "valkey-7.2", "valkey-8.0",
			"valkey-8.1", "valkey-9.0", "valkey-9.1", "valkey-9.2"} {
			d := dialect.Named(name)
			from := dialect.Named(in[0])
			first := slices.IndexFunc(in, func(other string) bool { return dialect.Named(other).Family == d.Family })
			has := first >= 0
			if has {
				from = dialect.Named(in[first])
				has = dialect.Compare(from.Version, d.Version) <= 0
			}
			c := dialTo(t, name)
			kind, word, _ := strings.Cut(field, " ")
			shown := c.Do("INFO").Str
			word += ":"
			if kind == "client" {
				shown, word = c.Do("CLIENT", "LIST").Str, " "+strings.TrimSuffix(word, ":")+"="
			}
			require.Equal(t, has, strings.Contains(shown, word), "%s of %s", field, name)
		}
	}
	c := dialTo(t, "valkey-9.1")
	c.Do("CLIENT", "CAPA", "redirect")
	c.Do("WATCH", "a", "b")
	require.Contains(t, c.Do("CLIENT", "INFO").Str, " flags=N capa=r db=0 ")
	require.Contains(t, c.Do("CLIENT", "INFO").Str, " multi=-1 watch=2 qbuf=")
}

// The totals do not count what goes on now, and no request that was refused. valkey-server 9.1.2 has the same.
func TestClientListCountsTheBytesAndCommandsOfAClient(t *testing.T) {
	c := dialTo(t, "valkey-9.1")
	totals := func() string {
		_, fields, _ := strings.Cut(strings.TrimSpace(c.Do("CLIENT", "INFO").Str), " tot-net-in=")
		in, rest, _ := strings.Cut(fields, " ")
		_, commands, _ := strings.Cut(rest, " tot-cmds=")
		return in + " " + commands
	}
	require.Equal(t, "26 0", totals())
	c.Do("NONSENSE")
	c.Do("GET")
	require.Equal(t, "83 1", totals())
	c.Do("MULTI")
	c.Do("PING")
	c.Do("EXEC")
	require.Equal(t, "152 5", totals())
	c.Do("EVAL", "redis.call('PING') return redis.call('PING')", "0")
	require.Regexp(t, `^\d+ 9$`, totals())
	require.Contains(t, c.Do("CLIENT", "INFO").Str, " tot-net-out=")
}

// What the played server has and this one lacks is refused by name. What neither has stays unknown.
func TestACommandThatOnlyThePlayedServerHasIsRefusedByName(t *testing.T) {
	for _, x := range []struct{ dialect, request, want string }{
		{"redis-7.2", "LMOVEM a b", "unknown command 'LMOVEM'"},
		{"redis-7.2", "JSON.SET k $ 1", "unknown command 'JSON.SET'"},
		{"redis-8.8", "LMOVEM a b", "unknown command 'LMOVEM'"},
		{"redis-8.10", "LMOVEM a b", "ERR LMOVEM is not supported by this server"},
		{"redis-8.10", "lMoveM", "ERR LMOVEM is not supported by this server"},
		{"redis-7.4", "JSON.SET k $ 1", "unknown command"},
		{"redis-8.0", "JSON.SET k $ 1", "ERR JSON.SET is not supported by this server"},
		{"redis-8.0", "FT.SEARCH i *", "ERR FT.SEARCH is not supported by this server"},
		{"redis-8.0", "VADD k VALUES 1 1 e", "ERR VADD is not supported by this server"},
		{"redis-8.0", "JSON k", "unknown command"},
		{"valkey-9.2", "JSON.SET k $ 1", "unknown command"},
		{"valkey-9.2", "LMOVEM a b", "unknown command"},
		{"valkey-8.0", "COMMANDLOG LEN", "unknown command"},
		{"valkey-8.1", "CLIENT IMPORT-SOURCE ON", "ERR CLIENT IMPORT-SOURCE is not supported by this server"},
		{"valkey-7.2", "SCRIPT SHOW x", "unknown subcommand 'SHOW'"},
		{"valkey-8.0", "SCRIPT SHOW x", "ERR SCRIPT SHOW is not supported by this server"},
		{"valkey-9.1", "CLIENT NONSENSE", "unknown subcommand 'NONSENSE'"},
	} {
		c := dialTo(t, x.dialect)
		require.Contains(t, c.Do(strings.Fields(x.request)...).Str, x.want, "%s: %s", x.dialect, x.request)
		c.Do("MULTI")
		require.Contains(t, c.Do(strings.Fields(x.request)...).Str, x.want, "%s: %s", x.dialect, x.request)
		require.Contains(t, c.Do("EXEC").Str, "EXECABORT", "%s: %s", x.dialect, x.request)
		script := `return redis.call('` + strings.Join(strings.Fields(x.request), `','`) + `')`
		reply := c.Do("EVAL", script, "0").Str
		if strings.HasPrefix(x.want, "ERR ") {
			require.Contains(t, reply, x.want, "%s: %s", x.dialect, x.request)
		} else {
			require.Regexp(t, "Unknown (Redis )?command called from script|unknown subcommand", reply, "%s: %s",
				x.dialect, x.request)
		}
	}
}

// A payload carries the version of the played server, and goes into any server that knows it.
func TestDumpCarriesTheVersionOfTheDialect(t *testing.T) {
	payloads := map[string]string{}
	for name, version := range map[string]byte{"redis-7.2": 10, "redis-8.10": 10, "valkey-8.1": 11, "valkey-9.1": 80} {
		c := dialTo(t, name)
		c.Do("SADD", "s", "a", "b")
		payload := c.Do("DUMP", "s").Str
		require.Equal(t, version, payload[len(payload)-10], name)
		require.Equal(t, "OK", c.Do("RESTORE", "again", "0", payload).Str)
		functions := c.Do("FUNCTION", "DUMP").Str
		require.Equal(t, version, functions[len(functions)-10], name)
		require.Equal(t, "OK", c.Do("FUNCTION", "RESTORE", functions).Str)
		payloads[name] = payload
	}
	for _, older := range []string{"redis-7.2", "valkey-8.1"} {
		reply := dialTo(t, older).Do("RESTORE", "k", "0", payloads["valkey-9.1"]).Str
		require.Contains(t, reply, "DUMP payload version", older)
	}
	require.Equal(t, "OK", dialTo(t, "valkey-9.1").Do("RESTORE", "k", "0", payloads["redis-7.2"]).Str)
}

func TestMastersTakeTheDialectsInTurn(t *testing.T) {
	for names, want := range map[string][]string{
		"valkey-9.1":                                  {"valkey-9.1", "valkey-9.1", "valkey-9.1"},
		"redis-7.2,Valkey-9.1":                        {"redis-7.2", "valkey-9.1", "redis-7.2"},
		"redis-8.4,valkey-9.1,redis-7.2,...":          nil,
		"redis-8.4,":                                  nil,
		"redis-8.10,valkey-9.2,redis-7.4":             {"redis-8.10", "valkey-9.2", "redis-7.4"},
		"valkey-8.1,valkey-9.1,valkey-9.1,valkey-9.2": {"valkey-8.1", "valkey-9.1", "valkey-9.1"},
	} {
		cfg, err := config.Parse([]string{"--port", "0", "--bind", "127.0.0.1", "--masters", "3", "--dialect",
			names}, nil)
		if want == nil {
			require.ErrorContains(t, err, "valkey-9.2", names)
			continue
		}
		require.NoError(t, err)
		for i, c := range dialMasters(t, cfg) {
			require.Equal(t, want[i], c.Do("CONFIG", "GET", "dialect").Elems[1].Str, names)
			require.Equal(t, dialect.Named(want[i]).Version, c.Do("HELLO").Elems[3].Str, names)
		}
	}
}

// dialMasters runs masters that end with the test, and connects to each.
func dialMasters(t *testing.T, cfg *config.Config) (clients []*redistest.Conn) {
	t.Helper()
	masters, err := node.NewNodes(cfg, func(int) server.Log { return func(byte, string, ...any) {} })
	require.NoError(t, err)
	done := make(chan error)
	go func() { done <- masters.Run() }()
	t.Cleanup(func() {
		masters.Stop()
		require.NoError(t, <-done)
	})
	for _, addr := range masters.Addrs() {
		clients = append(clients, redistest.Dial(t, addr))
	}
	return clients
}
