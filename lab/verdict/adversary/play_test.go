package adversary

import (
	"cmp"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/respclient"
	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/miniredistest"
	"github.com/miniredisd/miniredisd/resp"
)

// player plays one history against fresh servers.
type player struct {
	t       *testing.T
	masters miniredistest.Masters
	history history
	at      line // the step that is being played
	clients map[string]*client
	port    string // of the master that MIGRATE goes to
	rules   int    // that lose has added
	beliefs beliefs
}

// client is a client of a history. It has a connection to each master that it has talked to. It connects
// again, under its name, when a connection has ended: clients of Redis do that.
type client struct {
	name, db, proto string
	conns           map[int]*respclient.Conn // by master, from 1
}

// start is the time at which each history begins, in unix ms.
const start = 1_700_000_000_000

func newPlayer(t *testing.T, masters miniredistest.Masters, h history) *player {
	p := &player{t: t, masters: masters, history: h, clients: map[string]*client{}}
	p.lab("ALL", "RESET", "AT", strconv.Itoa(start))
	if h.replicas == 0 { // else they are new
		p.empty()
	}
	p.lab("ALL", "DOCTOR", "RESET")
	p.lab("ALL", "LOG", "RESET")
	p.lab("ALL", "LOG", "WATCH", cmp.Or(h.watched, "*"))
	t.Cleanup(p.end)
	return p
}

// empty makes servers that have played another history as good as new.
func (p *player) empty() {
	for _, m := range p.masters {
		p.do(m, "FLUSHALL")
		p.do(m, "SCRIPT", "FLUSH")
	}
	p.do(p.masters[0], "FUNCTION", "FLUSH")
	p.do(p.masters[0], "CONFIG", "SET", "maxmemory", "0", "maxmemory-policy", "noeviction")
}

func (p *player) end() {
	for _, c := range p.clients {
		for _, conn := range c.conns {
			conn.Close()
		}
	}
}

func (p *player) play() {
	for _, l := range p.history.lines {
		p.at = l
		if l.words[0] != "repeat" {
			p.step(l)
			continue
		}
		p.repeat(l)
	}
}

// repeat plays "repeat 500 a: GET k{i} -> v" in pipelines.
func (p *player) repeat(l line) {
	const pipeline = 100
	_, again, _ := strings.Cut(strings.TrimPrefix(l.raw, "repeat "), " ")
	name := strings.TrimSuffix(l.words[2], ":")
	for i, n := 0, p.number(l.words[1]); i < n; i += pipeline {
		var sent []line
		for j := i; j < min(i+pipeline, n); j++ {
			one := parseLine(p.t, l.at, strings.ReplaceAll(again, "{i}", strconv.Itoa(j)))
			p.send(name, 1, p.scripts(one.words[1:]))
			sent = append(sent, one)
		}
		for _, one := range sent {
			p.receive(name, 1, one.reply)
		}
	}
}

// step plays one step.
func (p *player) step(l line) {
	words := l.words[1:]
	switch verb := l.words[0]; verb {
	case "connect":
		p.connect(words[0], words[1:])
	case "close":
		p.close(words[0])
	case "advance":
		p.lab(append([]string{"ALL", "CLOCK", "ADVANCE"}, words...)...)
		p.beliefs.now += int64(p.number(words[0]))
	case "jump": // the clock of one master: no time passes for a worker
		p.lab("MASTER", words[0], "CLOCK", "SET", strconv.Itoa(p.clock(words[0])+p.number(words[1])))
	case "lab":
		p.lab(p.scripts(words)...)
	case "await":
		p.await(words[0])
	case "lose":
		p.lose(words[0])
	case "crash":
		p.crash(words)
	case "port": // {port} becomes the port of a master
		p.port = p.masters[p.number(words[0])-1].Addr()
		p.port = p.port[strings.LastIndexByte(p.port, ':')+1:]
	case "hold", "share", "gone", "nobody":
		p.believe(verb, words)
	default:
		p.request(verb, l)
	}
}

// request plays a command: "a: GET k -> v", "a@2-3: ...", or its halves "a> GET k" and "a< v".
func (p *player) request(verb string, l line) {
	who, kind := verb[:len(verb)-1], verb[len(verb)-1]
	name, from, to := p.reached(who)
	words := p.scripts(l.words[1:])
	for m := from; m <= to; m++ {
		switch kind {
		case ':':
			require.Contains(p.t, l.raw, " -> ", "%s: a command needs a reply", l.at)
			p.send(name, m, words)
			p.receive(name, m, l.reply)
		case '>':
			p.send(name, m, words)
		case '<':
			p.receive(name, m, strings.TrimSpace(strings.TrimPrefix(l.raw, verb)))
		default:
			require.Fail(p.t, "no such step", "%s: %s", l.at, l.raw)
		}
	}
}

// reached returns the client and the masters of "a", "a@2" and "a@1-3".
func (p *player) reached(who string) (name string, from, to int) {
	name, where, several := strings.Cut(who, "@")
	if !several {
		return name, 1, 1
	}
	first, last, isRange := strings.Cut(where, "-")
	if !isRange {
		last = first
	}
	return name, p.number(first), p.number(last)
}

// scripts replaces @name by the text of a script, or by its SHA1 after EVALSHA.
func (p *player) scripts(words []string) []string {
	all := append([]string{}, words...)
	for i, w := range all {
		all[i] = strings.ReplaceAll(w, "{port}", p.port)
		name, isScript := strings.CutPrefix(w, "@")
		if !isScript || i == 0 {
			continue
		}
		text, err := os.ReadFile(filepath.Join("testdata", "scripts", name+".lua"))
		require.NoError(p.t, err, p.at.at)
		all[i] = string(text)
		if strings.EqualFold(all[i-1], "evalsha") {
			sum := sha1.Sum(text)
			all[i] = hex.EncodeToString(sum[:])
		}
	}
	return all
}

func (p *player) client(name string) *client {
	c := p.clients[name]
	if c == nil {
		c = &client{name: name, conns: map[int]*respclient.Conn{}}
		p.clients[name] = c
	}
	return c
}

// connect says how a client connects from now on: name=, db= and resp=.
func (p *player) connect(name string, options []string) {
	p.close(name)
	c := p.client(name)
	for _, option := range options {
		key, value, _ := strings.Cut(option, "=")
		switch key {
		case "name":
			c.name = p.withIDs(value)
		case "db":
			c.db = value
		case "resp":
			c.proto = value
		default:
			require.Fail(p.t, "no such option", "%s: %s", p.at.at, option)
		}
	}
}

// withIDs replaces {id:a} by the id of the connection of client a.
func (p *player) withIDs(word string) string {
	before, rest, found := strings.Cut(word, "{id:")
	if !found {
		return word
	}
	name, after, _ := strings.Cut(rest, "}")
	return before + strconv.FormatInt(p.id(name, 1), 10) + after
}

// id returns the id of a connection.
func (p *player) id(name string, master int) int64 {
	p.send(name, master, []string{"CLIENT", "ID"})
	v, err := p.conn(name, master).Read()
	require.NoError(p.t, err, p.at.at)
	return v.Int
}

// close ends the connections of a client. The server has noticed it when close returns.
func (p *player) close(name string) {
	c := p.client(name)
	for m, conn := range c.conns {
		before := p.connected(m)
		conn.Close()
		redistest.Until(p.t, func() bool { return p.connected(m) < before })
		delete(c.conns, m)
	}
}

func (p *player) connected(master int) int {
	_, rest, _ := strings.Cut(p.do(p.masters[master-1], "INFO", "clients").Str, "connected_clients:")
	count, _, _ := strings.Cut(rest, "\r\n")
	return p.number(count)
}

// conn returns the connection of a client to a master. It connects first if there is none.
func (p *player) conn(name string, master int) *respclient.Conn {
	c := p.client(name)
	if c.conns[master] != nil {
		return c.conns[master]
	}
	conn, err := respclient.Dial(p.masters[master-1].Addr())
	require.NoError(p.t, err, p.at.at)
	conn.Limit = redistest.Limit
	c.conns[master] = conn
	hellos := [][]string{{"HELLO", c.proto}, {"CLIENT", "SETNAME", c.name}, {"SELECT", c.db}}
	for _, hello := range hellos {
		if hello[len(hello)-1] != "" {
			p.send(name, master, hello)
			_, err := conn.Read()
			require.NoError(p.t, err, p.at.at)
		}
	}
	return conn
}

func (p *player) send(name string, master int, words []string) {
	require.NoError(p.t, p.conn(name, master).Send(resp.AppendRequest(nil, words...)), p.at.at)
}

// receive reads a reply and compares it. The reply "lost" is the end of the connection.
func (p *player) receive(name string, master int, want string) {
	c := p.conn(name, master)
	v, err := c.Read()
	if want == "lost" {
		require.Error(p.t, err, "%s: %s", p.at.at, p.at.raw)
		var slow net.Error
		require.False(p.t, errors.As(err, &slow) && slow.Timeout(), "%s: the connection is open", p.at.at)
		c.Close()
		delete(p.clients[name].conns, master)
		return
	}
	require.NoError(p.t, err, "%s: %s", p.at.at, p.at.raw)
	got := text(v)
	if strings.HasPrefix(want, "-") && strings.HasPrefix(got, want) || want == "..." {
		return
	}
	require.Equal(p.t, want, got, "%s: %s", p.at.at, p.at.raw)
}

// text returns a reply as histories have it.
func text(v resp.Value) string {
	switch {
	case v.Null:
		return "(nil)"
	case v.Kind == ':':
		return strconv.FormatInt(v.Int, 10)
	case v.Kind == '-':
		return "-" + v.Str
	case v.Kind == '*' || v.Kind == '%' || v.Kind == '~':
		words := make([]string, len(v.Elems))
		for i, e := range v.Elems {
			words[i] = text(e)
		}
		return "[" + strings.Join(words, " ") + "]"
	}
	return v.Str
}

// lab executes a verb of LAB on the first master.
func (p *player) lab(words ...string) resp.Value {
	return p.do(p.masters[0], append([]string{"LAB"}, words...)...)
}

// do executes a command without a client. The history does not have it.
func (p *player) do(m *miniredistest.Server, words ...string) resp.Value {
	v, err := m.Try(words...)
	require.NoError(p.t, err, "%s: %s", p.at.at, p.at.raw)
	return v
}

// clock returns the time of a master in unix ms.
func (p *player) clock(master string) int {
	return int(field(p.lab("MASTER", master, "CLOCK"), "unix-ms").Int)
}

// await waits until a rule has fired.
func (p *player) await(rule string) {
	fired := func(r resp.Value) bool { return field(r, "name").Str == rule && field(r, "fired").Int > 0 }
	redistest.Until(p.t, func() bool { return slices.ContainsFunc(p.lab("FAULT", "LIST").Elems, fired) })
}

// lose makes the server execute the client's next request and then close the connection.
func (p *player) lose(who string) {
	name, from, to := p.reached(who)
	for m := from; m <= to; m++ {
		p.rules++
		p.lab("MASTER", strconv.Itoa(m), "FAULT", "ADD", "lost-"+strconv.Itoa(p.rules),
			"CLIENT", strconv.FormatInt(p.id(name, m), 10), "TIMES", "1", "ACTION", "DROP-REPLY")
	}
}

// crash plays "crash", "crash 2" and "crash 2 keep": all clients of the master connect again.
func (p *player) crash(words []string) {
	master, loss := 1, miniredistest.LoseKeys
	for _, w := range words {
		if w == "keep" {
			loss = miniredistest.KeepKeys
			continue
		}
		master = p.number(w)
	}
	p.masters[master-1].Crash(0, loss)
	for _, c := range p.clients {
		if c.conns[master] != nil {
			c.conns[master].Close()
			delete(c.conns, master)
		}
	}
}

func (p *player) number(word string) int {
	n, err := strconv.Atoi(word)
	require.NoError(p.t, err, p.at.at)
	return n
}
