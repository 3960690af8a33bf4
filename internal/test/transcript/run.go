package transcript

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/resp"
)

// Starter starts the server under test with the arguments of a transcript's "!" lines. It returns the
// server's address and stops the server when the test ends.
type Starter func(t testing.TB, args []string) (addr string)

// Dir runs every *.txt below dir as a subtest: first against a real redis-server, then against the
// server of start. With update, redis-server's replies are written into the files. Without an installed
// redis-server that half is skipped, or fails with CI=true.
func Dir(t *testing.T, dir string, update bool, start Starter) {
	t.Helper()
	var paths []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".txt" {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) == 0 {
		t.Fatalf("no transcripts below %s", dir)
	}
	for _, path := range paths {
		name, _ := filepath.Rel(dir, strings.TrimSuffix(path, ".txt"))
		t.Run(name, func(t *testing.T) {
			if !update {
				t.Parallel() // most of a transcript's time is waiting for servers
			}
			t.Run("redis-server", func(t *testing.T) { RunOracle(t, path, update) })
			t.Run("miniredisd", func(t *testing.T) { Run(t, path, start) })
		})
	}
}

// Run plays a transcript against the server under test.
func Run(t *testing.T, path string, start Starter) {
	t.Helper()
	s := mustLoad(t, path)
	p := newPlayer(t, s, start(t, s.args))
	p.play()
}

// RunOracle plays a transcript against a new redis-server. With update it rewrites the replies that
// differ.
func RunOracle(t *testing.T, path string, update bool) {
	t.Helper()
	if update && !redistest.Installed() {
		t.Fatal("-update needs redis-server in PATH")
	}
	s := mustLoad(t, path)
	runOn(t, s, startOracle(t, s), update)
}

// RunOn is RunOracle for a server of Redis that runs already, such as a Sentinel.
func RunOn(t *testing.T, path string, oracle *redistest.Server, update bool) {
	t.Helper()
	runOn(t, mustLoad(t, path), oracle, update)
}

func runOn(t *testing.T, s *script, oracle *redistest.Server, update bool) {
	t.Helper()
	path := s.path
	p := newPlayer(t, s, oracle.Addr)
	p.oracle = oracle.Version
	p.update = update
	p.play()
	if update && p.changed {
		if err := s.save(); err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: replies rewritten", path)
	}
}

// startOracle starts the server that writes the replies of s. A dialect of Valkey has a valkey-server. A
// test is skipped if the dialect is newer than the server: then its replies were written by hand.
func startOracle(t *testing.T, s *script) *redistest.Server {
	t.Helper()
	at := slices.Index(s.args, "--dialect")
	if at < 0 {
		return redistest.Start(t, s.args...)
	}
	family, version, _ := strings.Cut(s.args[at+1], "-")
	if family != "valkey" {
		t.Skipf("no redis-server %s can be installed: documents are the source of these replies", version)
	}
	oracle := redistest.StartValkey(t, slices.Delete(slices.Clone(s.args), at, at+2)...)
	if redistest.Older(oracle.Version, version) {
		t.Skipf("valkey-server is %s, and these replies are of %s", oracle.Version, version)
	}
	return oracle
}

func mustLoad(t *testing.T, path string) *script {
	t.Helper()
	s, err := load(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// player plays one transcript against one server.
type player struct {
	t       *testing.T
	s       *script
	addr    string
	conns   map[string]*redistest.Conn // by name
	known   map[string]string          // what patterns have remembered
	barrier *redistest.Watcher         // nil until a step does not wait for its reply

	oracle string // the version of the redis-server that answers, "" for the server under test

	update, changed, monitored bool
}

func newPlayer(t *testing.T, s *script, addr string) *player {
	return &player{t: t, s: s, addr: addr, conns: map[string]*redistest.Conn{}, known: map[string]string{}}
}

func (p *player) play() {
	p.t.Helper()
	for i := range p.s.steps {
		p.step(&p.s.steps[i])
	}
}

func (p *player) step(st *step) {
	p.t.Helper()
	c := p.conns[st.conn]
	if c == nil {
		c = redistest.Dial(p.t, p.addr)
		p.conns[st.conn] = c
	}
	p.monitored = p.monitored || st.words == "MONITOR"
	if st.later {
		p.sendWithoutReply(c, st)
		return
	}
	if st.op == '>' {
		p.send(c, st)
	}
	got := p.read(c, st)
	if p.oracle != "" && redistest.Older(p.oracle, st.since) {
		return
	}
	p.compare(st, got)
}

func (p *player) send(c *redistest.Conn, st *step) (n int) {
	p.t.Helper()
	words, err := split(st.words, p.known)
	if err != nil {
		p.t.Fatalf("%s:%d: %v", p.s.path, st.line, err)
	}
	out := []byte(strings.Join(words, ""))
	if !st.raw {
		out = resp.AppendRequest(nil, words...)
	}
	if err := c.Send(out); err != nil {
		p.t.Fatalf("%s:%d: %s: %v", p.s.path, st.line, st.text, err)
	}
	return len(out)
}

// sendWithoutReply sends the command of a ">&" line and returns when the server has read it.
func (p *player) sendWithoutReply(c *redistest.Conn, st *step) {
	p.t.Helper()
	if p.barrier == nil {
		p.barrier = redistest.Watch(p.t, p.addr)
	}
	if p.monitored { // MONITOR would show the barrier's requests
		p.send(c, st)
		c.WaitForArrival()
		p.barrier.Do("PING")
		return
	}
	before, known := p.barrier.BytesRead()
	n := int64(p.send(c, st))
	for now := before; known && now < before+n; now, known = p.barrier.BytesRead() {
		if p.barrier.NotReading(c.Net) {
			return
		}
	}
}

func (p *player) read(c *redistest.Conn, st *step) reply {
	p.t.Helper()
	v, err := c.TryRead()
	switch {
	case err == nil:
		return render(v)
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET):
		delete(p.conns, st.conn)
		return closed
	}
	p.t.Fatalf("%s:%d: %s: no reply: %v", p.s.path, st.line, st.text, err)
	return reply{}
}

func (p *player) compare(st *step, got reply) {
	p.t.Helper()
	if st.anyOrder {
		got = got.sorted(st.pairs)
	}
	if len(st.reply) == 0 && !p.update {
		p.t.Errorf("%s:%d: %s: no reply recorded yet (-update); got\n%s", p.s.path, st.line, st.text, got)
		return
	}
	want, err := parse(st.reply)
	m := &matcher{known: p.known, anyOrder: st.anyOrder, pairs: st.pairs}
	switch {
	case err == nil && m.match(want, got):
	case p.update:
		st.reply, p.changed = got.lines(""), true
	case err != nil:
		p.t.Fatalf("%s:%d: %v", p.s.path, st.line, err)
	default:
		p.t.Errorf("%s:%d: %s\nwant\n%s\ngot\n%s", p.s.path, st.line, st.text, want, got)
	}
}
