package doctor

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/amount"
	"github.com/miniredisd/miniredisd/lab/holders"
)

// pair are two doctors of one random server. The first puts the commands of scripts off, and the second never does.
type pair struct {
	*rand.Rand
	puts, tells *Doctor
	idle        int // scripts that concerned no lock
	now         int64
}

func newPair(seed uint64) *pair {
	return &pair{
		Rand: rand.New(rand.NewPCG(seed, 11)), now: 1_700_000_000_000,
		puts: New(nil, NewLedger(1, holders.KeepOnline), 0), tells: Over(0, NewLedger(1, holders.KeepOnline), 0),
	}
}

func (p *pair) one(of string) string {
	all := strings.Split(of, "|")
	return all[p.IntN(len(all))]
}

// tell tells both doctors of a command. KEY, TOKEN and TTL stand for random ones.
func (p *pair) tell(e Event, command, reply string) {
	e.Time, e.Mono, e.Name, e.Reply = p.now, p.now*1e6, [...]string{"", "", "b"}[e.Client%3], encode(reply)
	for _, word := range strings.Fields(command) {
		switch word {
		case "KEY":
			word = p.one("lock:a|b:1|c:1|c:2|c:3|c:4|c:5|" + strings.Repeat("long", 50))
		case "TOKEN":
			word = p.one("tok|0123456789abcdef0123|550e8400-e29b-41d4-a716-446655440000:7|" + strings.Repeat("x:y", 50))
		case "TTL":
			word = p.one("100|3000|-1")
		case "HUGE":
			word = strings.Repeat("huge", mostLater/2)
		case "UNLOCK":
			word = unlockScript
		}
		e.Args = append(e.Args, []byte(word))
	}
	e.Command = strings.ToLower(string(e.Args[0]))
	if e.Script != "" && len(p.puts.run) == 0 && !e.failed() && p.puts.isIdle(&e) {
		p.idle++
	}
	p.puts.Command(&e)
	p.tells.Command(&e)
}

// run plays a script, or one that a server does not know.
func (p *pair) run(client int64) {
	unlock := newText([]byte(unlockScript)).script
	command := p.one("EVALSHA 5c1a7|FCALL fun|EVAL UNLOCK|EVALSHA " + unlock)
	name := strings.Fields(strings.Replace(command, "UNLOCK", unlock, 1))[1]
	command += " 1 KEY TOKEN" + p.one("| TTL| a:b")
	if p.IntN(9) == 0 {
		p.tell(Event{Client: client, Script: name}, command, p.one("NOSCRIPT none|CROSSSLOT two"))
		return
	}
	by := p.one("|" + Exec)
	often := p.one("GET KEY|GET KEY|EXISTS KEY|PTTL KEY|DEL KEY|PEXPIRE KEY TTL|INCR KEY|HDEL KEY TOKEN|PUBLISH c m|" +
		"GETEX KEY")
	for n := p.IntN(4); n > 0; n-- {
		inner := often
		if p.IntN(12) == 0 {
			inner = p.one("SET KEY TOKEN|SETEX KEY 9 TOKEN|SET KEY TOKEN PX TTL|SET KEY TOKEN NX|HINCRBY KEY TOKEN 1|" +
				"HINCRBY KEY TOKEN -1|RENAME KEY KEY|HSETEX KEY EX 9 FIELDS 1 f v|PUBLISH c HUGE|TIME|FLUSHALL")
		}
		p.tell(Event{Client: client, By: name}, inner, p.one("nil|0|1|1|-1|-2|OK|tok|0123456789abcdef0123|"+
			"ERR no|ERR Script attempted to access a key"))
	}
	p.tell(Event{Client: client, By: by, Script: name, Lost: p.IntN(9) == 0}, command, p.one("nil|0|1|OK|ERR no"))
	if by == Exec {
		p.tell(Event{Client: client}, "EXEC", "nil")
	}
}

// step plays one thing that happens.
func (p *pair) step() {
	p.now += p.Int64N(400)
	client, key := 1+p.Int64N(5), p.one("lock:a|b:1|c:1")
	switch p.IntN(20) {
	case 0:
		p.tell(Event{Client: client}, "SET KEY TOKEN NX PX TTL", p.one("OK|nil"))
	case 1:
		p.tell(Event{Client: client}, p.one("DEL KEY|PEXPIRE KEY TTL|GET KEY|SETNX KEY TOKEN"), p.one("0|1"))
	case 2:
		p.puts.Expired(0, key, p.now)
		p.tells.Expired(0, key, p.now)
	case 3:
		p.puts.Disconnected(client, p.now)
		p.tells.Disconnected(client, p.now)
	case 4:
		p.tell(Event{Client: client, Held: true, Script: "5c1a7"}, "EVALSHA 5c1a7 1 KEY TOKEN", "READONLY no")
	default:
		p.run(client)
	}
}

// Whether the commands of a script wait or not, the doctor knows the same.
func TestWhatWaitsForTheEndOfItsScriptChangesNothing(t *testing.T) {
	idle := 0
	for seed := range amount.Count(200, 2000) {
		p := newPair(uint64(seed))
		for range p.IntN(200) {
			p.step()
		}
		idle += p.idle
		a, b := p.puts, p.tells
		require.LessOrEqual(t, cap(a.later.bytes), 2*mostLater)
		require.Equal(t, b.Findings(p.now), a.Findings(p.now), "seed %d", seed)
		for _, same := range [][2]any{
			{b.holds, a.holds}, {b.grants, a.grants}, {b.uses, a.uses}, {b.past, a.past}, {b.back, a.back},
			{b.scripts, a.scripts}, {b.locks, a.locks}, {b.taken, a.taken}, {b.alike, a.alike}, {b.polls, a.polls},
			{b.ledger.Holders.Tables(), a.ledger.Holders.Tables()},
		} {
			require.Equal(t, same[0], same[1], "seed %d", seed)
		}
		for id, c := range b.clients.All() {
			require.Equal(t, c, a.client(id), "seed %d, client %d", seed, id)
		}
	}
	require.Positive(t, idle)
}

func words(request string) [][]byte { return bytes.Fields([]byte(request)) }

func TestAScriptThatConcernsNoLockCostsNoMemory(t *testing.T) {
	d := New(nil, NewLedger(1, holders.KeepOnline), 0)
	play(t, d, "1000 a1 SET lock:a 0123456789abcdef NX PX 3000 = OK")
	get := Event{Client: 1, By: "5c1a7", Command: "get", Reply: encode("nil"), Args: words("GET b:1")}
	script := Event{Client: 1, Script: "5c1a7", Command: "evalsha", Reply: encode("0")}
	script.Args = words("EVALSHA 5c1a7 1 b:1 0123456789abcdef")
	run := func() {
		d.Command(&get)
		d.Command(&script)
	}
	run()
	require.Zero(t, testing.AllocsPerRun(100, run))
}
