package doctor

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/amount"
	"github.com/miniredisd/miniredisd/lab/holders"
)

// program is a random client of a lock, with a pool of two connections, among waiters that pause. It makes no mistake,
// except the one that a test puts in.
type program struct {
	*testing.T
	*rand.Rand
	d       *Doctor
	now     int64
	history []string
	named   bool
	lease   int64
	token   string
	waiter  int
	evicts  string
	skew    int64 // ms that the machine's clock is ahead of the server's
	client  int64 // ms that the client's clock is ahead of the server's
}

func newProgram(t *testing.T, seed uint64) *program {
	p := &program{
		T: t, Rand: rand.New(rand.NewPCG(seed, 7)), d: New(nil, NewLedger(1, holders.KeepOnline), 0), now: 1_700_000_060_000,
	}
	p.named, p.lease = p.IntN(2) == 0, 1000*(2+p.Int64N(30))
	p.say(1, "SCRIPT LOAD UNLOCK = abe")
	return p
}

// say plays a command of the connection n of the program.
func (p *program) say(n int, format string, args ...any) {
	who := fmt.Sprintf("?%d", n)
	if p.named {
		who = fmt.Sprintf("a%d", n)
	}
	p.line(who + " " + fmt.Sprintf(format, args...))
}

func (p *program) line(text string) {
	line := fmt.Sprintf("%d %s", p.now, text)
	p.history = append(p.history, line)
	playAs(p.T, p.d, line, Event{Evicts: p.evicts, Real: p.now + p.skew})
}

func (p *program) take() {
	p.token = fmt.Sprintf("%016x", p.Uint64())
	switch p.IntN(3) {
	case 0:
		p.say(1, "> EXISTS lock:a = 0")
		p.say(1, "> SET lock:a %s PX %d = OK", p.token, p.lease)
		p.say(1, "EVALSHA abc 1 lock:a %s %d = 1", p.token, p.lease)
	case 1:
		p.say(1, "SET lock:a %s PXAT %d NX = OK", p.token, p.now+p.lease)
	default:
		p.say(1, "SET lock:a %s NX PX %d = OK", p.token, p.lease)
	}
}

// wait lets a part of the lease pass. Two waiters try for the lock meanwhile, with a token for each attempt.
func (p *program) wait(percent int64) {
	until := p.now + p.lease*percent/100
	for n := p.IntN(3); n > 0; n-- {
		p.now += (until - p.now) / 4
		p.waiter++
		p.line(fmt.Sprintf("w%d SET lock:a %016x NX PX %d = nil", p.waiter%2, p.Uint64(), p.lease))
	}
	p.now = until
}

// waysToRenew are commands that renew a lock: {t} is the token, and the lease is {ms}, {s}, or until {at} or {ats}.
func waysToRenew() []string {
	return []string{
		"PEXPIRE lock:a {ms} = 1", "EXPIRE lock:a {s} = 1", "PEXPIREAT lock:a {at} = 1", "EXPIREAT lock:a {ats} = 1",
		"SET lock:a {t} XX PX {ms} = OK", "SET lock:a {t} XX PXAT {at} = OK",
		"GETEX lock:a PX {ms} = {t}", "GETEX lock:a PXAT {at} = {t}",
	}
}

// renew renews by one way, alone, in MULTI or in a script over any connection.
func (p *program) renew(way string, lease int64, refused bool) {
	words := strings.NewReplacer("{t}", p.token, "{ms}", fmt.Sprint(lease), "{s}", fmt.Sprint(lease/1000),
		"{at}", fmt.Sprint(p.now+p.client+lease), "{ats}", fmt.Sprint((p.now+p.client+lease)/1000)).Replace(way)
	found, reply := p.token, "1"
	if refused {
		words, _, _ = strings.Cut(words, " = ")
		found, reply = "nil", "0"
		if strings.HasPrefix(words, "SET") || strings.HasPrefix(words, "GETEX") {
			words += " = nil"
		} else {
			words += " = 0"
		}
	}
	switch n := 1 + p.IntN(2); p.IntN(3) {
	case 0:
		p.say(1, "%s", words)
	case 1:
		p.say(1, "* %s", words)
		p.say(1, "EXEC")
	default:
		p.say(n, "> GET lock:a = %s", found)
		script := "EVAL RENEW"
		if !refused {
			script = "EVALSHA abd"
			p.say(n, "> %s", words)
		}
		p.say(n, "%s 1 lock:a %s %d = %s", script, p.token, lease, reply)
	}
}

func (p *program) renewInTime() {
	for n := p.IntN(5); n > 0; n-- {
		p.wait(10 + p.Int64N(45))
		p.renew(p.anyWay(), p.lease, false)
	}
}

func (p *program) anyWay() string {
	ways := waysToRenew()
	return ways[p.IntN(len(ways))]
}

func (p *program) release(n int, found bool) {
	if p.IntN(2) == 0 {
		p.say(n, "DELIFEQ lock:a %s = %d", p.token, map[bool]int{true: 1}[found])
		return
	}
	if found {
		p.say(n, "> GET lock:a = %s", p.token)
		p.say(n, "> DEL lock:a = 1")
		p.say(n, "EVALSHA SHA 1 lock:a %s = 1", p.token)
		return
	}
	p.say(n, "> GET lock:a = nil")
	p.say(n, "EVALSHA SHA 1 lock:a %s = 0", p.token)
}

func (p *program) life() {
	p.take()
	p.renewInTime()
	p.wait(10 + p.Int64N(80))
	p.release(1+p.IntN(2), true)
	if p.IntN(5) == 0 {
		p.release(1+p.IntN(2), false) // sent again
	}
}

// mistakes are what a test may put into a program, by what the doctor has to find.
func mistakes() map[Pattern]func(p *program) {
	return map[Pattern]func(p *program){
		RenewalReleases: func(p *program) {
			p.renew(p.anyWay(), -1000*p.Int64N(50), false)
		},
		NoSlack: func(p *program) {
			for range 2 + p.IntN(3) {
				p.wait(65 + p.Int64N(34))
				p.renew(p.anyWay(), p.lease, false)
			}
		},
		LateRenewal: func(p *program) {
			p.wait(100)
			p.now++
			p.line("expired lock:a")
			p.now += p.Int64N(1000)
			p.renew(p.anyWay(), p.lease, true)
		},
		RenewalAfter: func(p *program) {
			p.release(1+p.IntN(2), true)
			for range 2 {
				p.now += p.Int64N(2)
				p.renew(p.anyWay(), p.lease, true)
			}
		},
		TokenNotUnique: func(p *program) {
			other, first := "?3", "?1"
			if p.named {
				other, first = "b3", "a1"
			}
			p.line(fmt.Sprintf("%s SET lock:a %s NX PX %d = nil", other, p.token, p.lease))
			if p.IntN(2) == 0 {
				other, first = first, other
			}
			for i, who := range []string{first, other} {
				p.line(fmt.Sprintf("%s DELIFEQ lock:a %s = %d", who, p.token, 1-i))
				p.now += p.Int64N(100)
			}
		},
		MayBeEvicted: func(p *program) {
			p.evicts = []string{"volatile-lru", "volatile-ttl", "allkeys-lfu", "allkeys-random"}[p.IntN(4)]
			p.renew("PEXPIRE lock:a {ms} = 1", p.lease, false)
		},
		Evicted: func(p *program) { p.line("evicted lock:a") },
		ClientsClock: func(p *program) {
			p.skew = 2001 + 1000*p.Int64N(20) + p.Int64N(900)
			p.client = p.skew
			p.now++
			for way := p.anyWay(); ; way = p.anyWay() {
				if strings.Contains(way, "{at") {
					p.renew(way, p.lease, false)
					return
				}
			}
		},
		Polling: func(p *program) {
			for i := range 300 {
				p.now += 8
				p.line(fmt.Sprintf("x%d SET lock:a %016x NX PX 1000 = nil", i%15, p.Uint64()))
			}
		},
	}
}

func TestRandomProgramsWithoutAMistakeGetNoFinding(t *testing.T) {
	for seed := range uint64(amount.Count(150, 1500)) {
		p := newProgram(t, seed)
		if p.IntN(3) == 0 { // a test has moved the clock, and the program asks for the time
			p.skew = p.Int64N(100_000)
			p.say(1, "TIME = 1")
			p.say(2, "TIME = 1")
		}
		for range 3 {
			p.life()
			p.now += 1 + p.Int64N(2000)
		}
		require.Empty(t, found(p.d, p.now), "seed %d\n%s", seed, strings.Join(p.history, "\n"))
	}
}

func TestTheMistakeOfARandomProgramIsFound(t *testing.T) {
	for pattern, mistake := range mistakes() {
		t.Run(string(pattern), func(t *testing.T) {
			for seed := range uint64(amount.Count(25, 250)) {
				p := newProgram(t, seed)
				p.life()
				p.take()
				p.renewInTime()
				mistake(p)
				require.Contains(t, strings.Join(found(p.d, p.now), "\n"), string(pattern)+" lock:a",
					"seed %d\n%s", seed, strings.Join(p.history, "\n"))
			}
		})
	}
}
