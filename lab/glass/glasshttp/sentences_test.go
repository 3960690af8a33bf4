package glasshttp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/internal/trace"
	"github.com/miniredisd/miniredisd/lab/glass"
	"github.com/miniredisd/miniredisd/reactor"
	"github.com/miniredisd/miniredisd/resp"
	serverglass "github.com/miniredisd/miniredisd/server/glass"
)

// situation is a short story of some clients on a server of its own. situations_test.go has them all.
type situation struct {
	name    string
	clients int
	args    []string // of the server
	before  func(p *player)
	play    func(p *player)
}

// player plays a situation. Clients count from 1, as their ids do.
type player struct {
	*site
	conns []*redistest.Conn
	far   *redistest.Conn // to the server at the other end of a replication link

	linked bool // there is such a link
}

func (p *player) view() *glass.View { return serverglass.ViewOf(p.masters[0]) }

// do sends a command and waits for its reply.
func (p *player) do(client int, command string) resp.Value {
	p.t.Helper()
	return p.conns[client-1].Do(words(command)...)
}

// send sends a command. It returns when the server's socket has it.
func (p *player) send(client int, command string) {
	p.t.Helper()
	p.raw(client, request(command))
}

func request(command string) string { return string(resp.AppendRequest(nil, words(command)...)) }

func (p *player) raw(client int, bytes string) {
	p.t.Helper()
	require.NoError(p.t, p.conns[client-1].Send([]byte(bytes)))
	p.conns[client-1].WaitForArrival()
}

// arrive returns when the server has read the bytes. So what comes next comes in another pass.
func (p *player) arrive(client int, bytes string) {
	p.t.Helper()
	before := p.count(trace.ReadDone)
	p.raw(client, bytes)
	redistest.Until(p.t, func() bool { return p.count(trace.ReadDone) > before })
}

// count returns how often the recording met a point.
func (p *player) count(point trace.Point) (n int) {
	for _, m := range p.view().Recording().Lines {
		for _, e := range m.Events {
			if e.Point == point {
				n++
			}
		}
	}
	return n
}

// read waits for n replies or messages.
func (p *player) read(client, n int) {
	p.t.Helper()
	for range n {
		p.conns[client-1].Read()
	}
}

// gone waits until the server has closed a connection.
func (p *player) gone(client int) {
	p.t.Helper()
	for {
		if _, err := p.conns[client-1].TryRead(); err != nil {
			return
		}
	}
}

func (p *player) halfClose(client int) {
	p.t.Helper()
	require.NoError(p.t, p.conns[client-1].Net.(*net.TCPConn).CloseWrite())
}

func (p *player) reset(client int) {
	p.t.Helper()
	require.NoError(p.t, p.conns[client-1].Net.(*net.TCPConn).SetLinger(0))
	p.conns[client-1].Close()
}

// lab asks over no connection. Its reply proves that all earlier passes are over.
func (p *player) lab(command string) {
	p.t.Helper()
	_, err := p.masters.Do(context.Background(), 1, words("LAB "+command)...)
	require.NoError(p.t, err)
}

// together lets the commands of fn arrive while the server stands, so that one pass meets them all. Another
// client's PING makes it stand.
func (p *player) together(other int, fn func()) {
	p.t.Helper()
	p.at(glass.Breakpoint{Name: "together", At: trace.Woke}, func() { p.send(other, "PING") }, fn)
	p.read(other, 1)
}

// at lets the server stand at a breakpoint that first leads to, calls then, and lets the server go on.
func (p *player) at(b glass.Breakpoint, first, then func()) {
	p.t.Helper()
	stops := p.view().Subscribe(0)
	defer stops.Close()
	require.NoError(p.t, p.view().Break(b))
	first()
	for {
		m, err := stops.Next(context.Background())
		require.NoError(p.t, err)
		if m.Kind == glass.KindStop {
			break
		}
	}
	then()
	require.NoError(p.t, p.view().BreakDel(b.Name))
	p.view().Continue()
}

// busy lets a script of client 1 run for ever, and sends a command of client 2 that meets it.
func (p *player) busy(command string) {
	p.t.Helper()
	p.at(glass.Breakpoint{Name: "script", At: trace.Executes, Cmd: "eval"},
		func() { p.send(1, `EVAL "while true do end" 0`) }, func() { p.send(2, command) })
	p.read(2, 1)
}

// untilGone waits until the server has freed a client that has left.
func (p *player) untilGone(client int64) {
	p.t.Helper()
	redistest.Until(p.t, func() bool {
		return slices.ContainsFunc(p.view().Recording().Lines, func(m glass.Message) bool {
			return m.Kind == glass.KindEvent && m.Events[0].Point == trace.Closed && m.Events[0].Client == client
		})
	})
}

// words cuts a command at blanks. Double quotes keep blanks.
func words(command string) (all []string) {
	for _, m := range regexp.MustCompile(`"([^"]*)"|(\S+)`).FindAllStringSubmatch(command, -1) {
		all = append(all, m[1]+m[2])
	}
	return all
}

// record plays a situation and returns the lines of its recording. The events have to suffice, without snapshots.
func (s *situation) record(t *testing.T) string {
	t.Helper()
	return written(t, withoutStops(s.tape(t)))
}

// tape plays a situation and returns its recording.
func (s *situation) tape(t *testing.T) *glass.Recording {
	t.Helper()
	p := &player{site: start(t, s.args...), linked: slices.Contains(s.args, "--replicas")}
	if p.linked {
		p.lab("REPLICATION WAIT") // their links come before the clients
	}
	for range s.clients {
		p.conns = append(p.conns, redistest.Dial(t, p.masters.Addrs()[0]))
		p.conns[len(p.conns)-1].Do("PING")
	}
	if s.before != nil {
		p.view().RecordStart(0) // so that it can wait for events
		s.before(p)
		p.view().RecordStop()
	}
	p.lab("CLOCK FREEZE")
	p.view().RecordStart(0)
	s.play(p)
	p.lab("CLOCK")
	p.view().RecordStop()
	r := p.view().Recording()
	if p.linked {
		r.Lines = withoutAcks(r.Lines)
	}
	return r
}

// tell is what the page says of recordings, in a language. I/O threads work side by side, so their sentences are
// put in the order of the clients.
const tell = `(async (recordings, lang) => {
	const [store, narrate, i18n] = await Promise.all(["store", "narrate", "i18n"].map(m => import("/" + m + ".js")))
	i18n.setLang(lang)
	const plain = words => narrate.parts(words).map(p => p.code ? "[" + p.text + "]" : p.text).join("")
	return recordings.map(text => {
		store.load(text)
		const out = []
		let side = []
		const flush = () => { out.push(...side.sort((a, b) => a.client - b.client).map(x => x.words)); side = [] }
		for (const f of store.frames) {
			const words = f.e.point + " " + plain(narrate.sentence(f, store.hello))
			if (f.e.thread > 0 && "rpo".includes(f.e.point)) { side.push({ client: f.e.client, words }); continue }
			flush()
			out.push(words)
		}
		flush()
		return out
	})
})`

// left names the clients that are idle when the loop goes to sleep, although the picture still shows a command or a
// rule that they wait for.
const left = `(async (recordings) => {
	const store = await import("/store.js")
	return recordings.flatMap((text, n) => {
		store.load(text)
		const asleep = store.frames.filter(f => f.e.point === "s").flatMap(f => f.state.clients)
		return asleep.filter(c => c.state === "idle" && (c.commands > 0 || c.on)).map(c => n + ": " + JSON.stringify(c))
	})
})`

// Every sentence of every situation stands in testdata/sentences.txt, in both languages. Each was read there and
// compared with Redis's source before it was kept. go test ./lab/glass/glasshttp -run GoldenSentences -update writes
// the file.
func TestGoldenSentencesOfEverySituation(t *testing.T) {
	p := chromium.Start(t)
	var names, recordings []string
	for _, s := range situations() {
		t.Run(s.name, func(t *testing.T) {
			names = append(names, strings.TrimSpace(s.name+"  "+strings.Join(s.args, " ")))
			recordings = append(recordings, s.record(t))
		})
	}
	require.Len(t, recordings, len(situations()))
	for name, lines := range kept(t) {
		names, recordings = append(names, "recording "+name), append(recordings, lines)
	}
	start(t).open(p, "replay", "en")
	text, err := json.Marshal(recordings)
	require.NoError(t, err)
	var leftovers []string
	p.Eval(left+"("+string(text)+")", &leftovers)
	require.Empty(t, leftovers)
	requireTrueQuantities(t, p, names, recordings)
	var english, chinese [][]string
	p.Eval(tell+"("+string(text)+", 'en')", &english)
	p.Eval(tell+"("+string(text)+", 'zh')", &chinese)
	var b strings.Builder
	for i, name := range names {
		b.WriteString("== " + name + "\n")
		require.Equal(t, len(english[i]), len(chinese[i]))
		for n := range english[i] {
			b.WriteString(steady(english[i][n]) + "\n  " + steady(chinese[i][n][2:]) + "\n")
		}
		b.WriteString("\n")
	}
	golden := filepath.Join("testdata", "sentences.txt")
	if update() {
		require.NoError(t, os.WriteFile(golden, []byte(b.String()), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	told, expected := strings.Split(b.String(), "\n\n"), strings.Split(string(want), "\n\n")
	require.Equal(t, len(expected), len(told), "situations")
	for i := range told {
		require.Equal(t, expected[i], told[i])
	}
	require.Empty(t, p.Problems())
}

// The kernel or a container may forbid io_uring, so its sentences are in no golden file.
func TestSentencesNameTheCallOfIOUring(t *testing.T) {
	loop, err := reactor.New("io_uring", func() int64 { return 0 })
	if err != nil { // even in CI
		t.Skip(err)
	}
	loop.Close()
	s := situation{clients: 1, args: []string{"--multiplexer", "io_uring"}, play: each("PING")}
	text, err := json.Marshal([]string{s.record(t)})
	require.NoError(t, err)
	p := chromium.Start(t)
	start(t).open(p, "replay", "en")
	for lang, begin := range map[string]string{
		"en": "w io_uring_enter returns: 1 result lies in the queue that kernel and server share.",
		"zh": "w io_uring_enter 返回：内核与服务器共用的队列里有 1 个结果。",
	} {
		var sentences [][]string
		p.Eval(tell+"("+string(text)+", '"+lang+"')", &sentences)
		require.Contains(t, sentences[0][0], begin)
	}
	require.Empty(t, p.Problems())
}

// kept returns the recordings that the page has built in, by name.
func kept(t *testing.T) iter.Seq2[string, string] {
	paths, err := filepath.Glob(filepath.Join("recordings", "*.loop.gz"))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	return func(yield func(string, string) bool) {
		for _, path := range paths {
			f, err := os.Open(path)
			require.NoError(t, err)
			r, err := glass.ReadRecording(f)
			require.NoError(t, errors.Join(err, f.Close()))
			var b bytes.Buffer
			require.NoError(t, r.WriteLines(&b))
			if !yield(strings.TrimSuffix(filepath.Base(path), ".loop.gz"), b.String()) {
				return
			}
		}
	}
}

// steady replaces what differs from run to run: addresses, descriptors, times, and the thread that is done last.
func steady(words string) string {
	for _, c := range [][2]string{
		{`127\.0\.0\.1:\d+`, "ADDR"}, {`descriptor \d+`, "descriptor N"}, {`描述符为 \d+`, "描述符为 N"},
		{`[\d.]+ (µs|ms|s) for more`, "N µs for more"}, {`等了 [\d.]+ (µs|ms|s)`, "等了 N µs"},
		{`for \d[\d,]* ms at most|for no time: .*left`, "for N ms at most"},
		{`最多 \d[\d,]* ms|但立即返回：.*做完`, "最多 N ms"}, {`\[\+\d+\.\d+ \[`, "[+TIME ["},
		{`unix-ms\\r\\n:\d+`, "unix-ms\\r\\n:TIME"}, {`thread, io_\d,`, "thread, io_N,"},
		{`最后一个线程 io_\d`, "最后一个线程 io_N"}, {`looked at \d+`, "looked at N"}, {`all \d+ numbers`, "all N numbers"},
		{`replica \d+`, "replica PORT"}, {`从节点 \d+`, "从节点 PORT"}, {`byte \d[\d,]*`, "byte N"},
		{`listening-port \d+`, "listening-port PORT"}, {`REPLICAOF 127.0.0.1 \d+`, "REPLICAOF ADDR"},
		{`[0-9a-f]{12,40}`, "ID"}, {`\$EOF:\w+`, "$$EOF:MARK"},
		{`第 \d[\d,]* 个字节`, "第 N 个字节"}, {`REPLCONF ACK \d+`, "REPLCONF ACK N"},
		{`看了 \d+ 个`, "看了 N 个"}, {`的 \d+ 个编号`, "的 N 个编号"},
	} {
		words = regexp.MustCompile(c[0]).ReplaceAllString(words, c[1])
	}
	return words
}
