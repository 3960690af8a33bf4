package grade

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/course/stage"
	"github.com/miniredisd/miniredisd/internal/respclient"
	"github.com/miniredisd/miniredisd/internal/test/amount"
	"github.com/miniredisd/miniredisd/resp"
)

// A cheat is what a program does besides its lock. It is played each time that an order comes, before the lock is.
type cheat func(addrs []string, order string)

// sends sends requests over connections of its own, to all masters.
func sends(requests ...string) cheat {
	return func(addrs []string, _ string) {
		for _, addr := range addrs {
			c, err := respclient.Dial(addr)
			if err != nil {
				continue
			}
			c.Limit = time.Second
			for _, r := range requests {
				_, _ = c.Do(strings.Split(r, " ")...) // whatever comes of it
			}
			_ = c.Close() // the same
		}
	}
}

// mayNot are cheats that a guest of the server may not try.
func mayNot() map[string]cheat {
	replace := []string{"LAB FAULT CLEAR"}
	for _, rule := range []string{"death", "gap", "lost", "next", "step", "explore-1"} {
		replace = append(replace, "LAB FAULT ADD "+rule+" CMD ECHO ACTION DROP-REPLY")
	}
	return map[string]cheat{
		"clear":    sends("LAB FAULT CLEAR"),
		"replace":  sends(replace...),
		"reset":    sends("LAB RESET"),
		"log":      sends("LAB LOG OFF", "LAB LOG RESET"),
		"clock":    sends("LAB CLOCK RUN", "LAB CLOCK ADVANCE 1"),
		"shutdown": sends("SHUTDOWN NOSAVE"),
		"debug":    sends("DEBUG SEGFAULT"),
		"config":   sends("CONFIG SET maxclients 1", "CONFIG RESETSTAT"),
		"acl":      sends("ACL SETUSER default +@all", "ACL LOG RESET", "LAB FAULT CLEAR", "ACL LOG RESET"),
		"kill":     sends("CLIENT KILL TYPE normal"),
		"pause":    sends("CLIENT PAUSE 100 WRITE"),
		"monitor":  sends("MONITOR"),
		"replica":  sends("REPLICAOF 127.0.0.1 1"),
	}
}

// refusedNames are all commands of mayNot, as a grade names them. A command that a guest may use is missing there.
const refusedNames = "Your program sent ACL LOG, ACL SETUSER, CLIENT KILL, CLIENT PAUSE, CONFIG RESETSTAT, " +
	"CONFIG SET, DEBUG, LAB CLOCK, LAB FAULT, LAB LOG, LAB RESET, MONITOR, REPLICAOF, SHUTDOWN to the server"

// may are cheats with what a guest may do: they only have to be worth nothing.
func may() map[string]cheat {
	return map[string]cheat{
		"script": sends("EVAL redis.call('SHUTDOWN') 0"), // no script may, whoever runs it
		"points": func([]string, string) { fmt.Fprint(os.Stderr, "\x1b[2J\r✓  1  100/100\n100 of 100 points\n") },
		"seed":   sends("CONFIG GET *", "INFO everything"),
	}
}

// disturb are cheats that change what the lock meets, so each is played alone.
func disturb() map[string]cheat {
	return map[string]cheat{
		"flush": sends("FLUSHALL"),
		"login": sends("AUTH judge x", "HELLO 3 AUTH judge judge", "LAB FAULT CLEAR"),
		"crowd": crowd,
	}
}

// together plays cheats one after another.
func together(all map[string]cheat) cheat {
	return func(addrs []string, order string) {
		for _, name := range slices.Sorted(maps.Keys(all)) {
			all[name](addrs, order)
		}
	}
}

// crowd takes all connections that it gets.
func crowd(addrs []string, order string) {
	for range 1100 { // the server takes 1000
		if !strings.HasPrefix(order, "open") {
			return
		}
		if _, err := net.Dial("tcp", addrs[0]); err != nil {
			return
		}
	}
}

// cheating is a program that plays a cheat before each order that it gets.
func cheating(base func(), with cheat) func() {
	return func() {
		orders, forward, err := os.Pipe()
		must(err)
		in := bufio.NewScanner(os.Stdin)
		os.Stdin = orders
		go func() {
			var addrs []string
			for in.Scan() {
				if words := strings.Fields(in.Text()); words[0] == "open" {
					addrs = strings.Split(words[1], ",")
				}
				with(addrs, in.Text())
				_, err := io.WriteString(forward, in.Text()+"\n")
				must(err)
			}
			os.Exit(0)
		}()
		base()
	}
}

// naive are the programs that cheat, by lab: each has a mistake that the lab is about.
func naive() map[string]string {
	return map[string]string{
		"L05": "keys", "L06": "setnx-then-expire", "L07": "get-then-del", "L08": "again", "L09": "any-lock",
		"L10": "poll", "L11": "left-over", "L13": "get-delete",
	}
}

func cheats() map[string]func() {
	all := underOtherNames()
	bases := map[string]func(){}
	for _, some := range []map[string]func(){lab05Students(), lab06Students(), lab07Students(), lab08Students(),
		lab09Students(), lab10Students(), lab11Students(), lab13Students()} {
		for name, base := range some {
			bases[name] = base
		}
	}
	for id, base := range naive() {
		for _, some := range []map[string]cheat{
			mayNot(), disturb(), {"refused": together(mayNot()), "allowed": together(may())},
		} {
			for name, with := range some {
				all[id+"/cheat-"+name] = cheating(bases[id+"/"+base], with)
			}
		}
	}
	for _, id := range []string{"L01", "L02", "L03", "L04"} {
		all[id+"/finished-server"] = finishedServer
		all[id+"/proxy"] = proxy
	}
	return all
}

// decoy sends harmless requests under the name of its owner, for rules to strike. The lock works under another name.
type decoy struct {
	lock
	named *link
}

// underOtherNames are naive locks behind a decoy. In L13 there is none: each run has other names.
func underOtherNames() map[string]func() {
	all := map[string]func(){}
	for id, naive := range map[string]func(*owner) lock{
		"L06": func(o *owner) lock { return &leased{owner: o, grab: setNXThenExpire} },
		"L07": func(o *owner) lock { return &simple{owner: o, drop: compareThenDelete} },
		"L08": func(o *owner) lock { return &patient{owner: o, grab: setAgain, again: 1} },
	} {
		all[id+"/other-names"] = play("a lock in Go", func(o *owner) lock {
			named := o.masters[0]
			o.masters = []*link{{addr: named.addr, name: "x"}}
			return decoy{naive(o), named}
		})
	}
	all["L10/other-names"] = play("a lock in Go", func(o *owner) lock { // it polls behind a connection that waits
		named := *o.masters[0]
		o.masters[0].name = "x"
		return &waiting{owner: o, pause: func(*waiting) error {
			if named.conn != nil {
				return nil
			}
			if _, err := named.do("PING"); err != nil {
				return err
			}
			go func() { _, _ = named.do("BLPOP", "decoy", "0") }() // it ends with the program
			for clients, err := o.one("INFO", "clients"); ; clients, err = o.one("INFO", "clients") {
				if err != nil || !strings.Contains(clients.Str, "blocked_clients:0\r\n") {
					return err
				}
			}
		}}
	})
	all["L13/other-names"] = play("a lock in Go", func(o *owner) lock {
		o.masters[0].name = token()
		return &simple{owner: o, drop: compareThenDelete}
	})
	return all
}

func (d decoy) distract() { _, _ = d.named.do("GET", "decoy") } // a rule may strike it

func (d decoy) take() (bool, error)    { d.distract(); return d.lock.take() }
func (d decoy) release() (bool, error) { d.distract(); return d.lock.release() }

// finishedServer is a finished server as the program of a lab about servers.
func finishedServer() {
	_, err := stage.New(1, "--port", os.Getenv("PORT"))
	must(err)
	waitForEver()
}

// proxy hands the requests that labs ask for on to a finished server, and refuses all others.
func proxy() {
	back, err := stage.New(1)
	must(err)
	serve(func(nc net.Conn) {
		go func() {
			c, err := respclient.Dial(back.Addrs[0])
			must(err)
			talk(nc, parseRequest, func(words []string, write func(string)) {
				if strings.Contains(" PING ECHO SET GET DEL INCR SETNX MSET MGET DEBUG ", " "+strings.ToUpper(words[0])+" ") {
					must(c.Send(resp.AppendRequest(nil, words...)))
					v, err := c.Read()
					must(err)
					write(wire(v))
					return
				}
				write("-ERR unknown command\r\n")
			})
		}()
	})
}

// wire returns a reply in RESP2.
func wire(v resp.Value) string {
	switch {
	case v.Null:
		return "$-1\r\n"
	case v.Kind == ':':
		return fmt.Sprintf(":%d\r\n", v.Int)
	case v.Kind == '$':
		return bulk(v.Str)
	case v.Kind == '*':
		text := fmt.Sprintf("*%d\r\n", len(v.Elems))
		for _, e := range v.Elems {
			text += wire(e)
		}
		return text
	}
	return string(v.Kind) + v.Str + "\r\n"
}

func impatient(o *Options) { o.AnswerLimit = patience }

func TestACheatIsWorthNothing(t *testing.T) {
	t.Parallel()
	t.Run("alone", func(t *testing.T) { // in the test that the rule of the lab decides
		t.Parallel()
		for name := range mayNot() {
			if amount.Whole() || name == "clear" || name == "shutdown" {
				r := gradeOf(t, "L08", "cheat-"+name, func(o *Options) { impatient(o); onlyTest(o, 3) })
				requireRefused(t, r, "Your program sent ")
			}
		}
	})
	if !amount.Whole() {
		return
	}
	for _, id := range slices.Sorted(maps.Keys(naive())) {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			requireRefused(t, gradeOf(t, id, "cheat-refused", impatient), refusedNames)
			some := impatient
			if id == "L13" { // a hundred runs are in one grade
				some = func(o *Options) { impatient(o); onlyTest(o, 3) }
			}
			before := gradeOf(t, id, naive()[id], some)
			worthNothing := func(name string) *Results {
				r := gradeOf(t, id, "cheat-"+name, some)
				require.LessOrEqual(t, r.Score, before.Score, name)
				require.Len(t, r.Tests, len(before.Tests))
				return r
			}
			worthNothing("allowed")
			switch id {
			case "L05", "L06":
				worthNothing("flush")
			case "L07", "L09":
				requireRefused(t, worthNothing("login"), "Your program sent LAB FAULT to the server")
			case "L08", "L11":
				worthNothing("crowd")
			}
		})
	}
}

func onlyTest(o *Options, number int) {
	one := *o.Lab
	one.tests = one.tests[number-1 : number]
	o.Lab = &one
}

// requireRefused wants each test to have no points, and to say what the program sent.
func requireRefused(t *testing.T, r *Results, sent string) {
	t.Helper()
	require.Zero(t, r.Score)
	for _, test := range r.Tests {
		if !strings.HasPrefix(test.Output, "Not tried") {
			require.Contains(t, test.Output, sent, test.Name)
		}
	}
}

func TestALockUnderAnotherNameThanItsOwnersIsStruckAllTheSame(t *testing.T) {
	t.Parallel()
	const why = "Not every request for a came over a connection with the name a."
	loses(t, "L06", "other-names", map[int]string{4: why})
	loses(t, "L07", "other-names", map[int]string{6: why})
	loses(t, "L08", "other-names", map[int]string{3: why})
	polls := gradeOf(t, "L10", "other-names", func(o *Options) { impatient(o); onlyTest(o, 3) }).Tests[0]
	require.Equal(t, "failed", polls.Status)
	require.Contains(t, polls.Output, "SET after SET", "in one of two sentences")
	loses(t, "L13", "other-names", map[int]string{3: "waits until the lease of its client is over, "})
}

func TestAFinishedServerAndAProxyToOneGetNothing(t *testing.T) {
	t.Parallel()
	labs, some := []string{"L03"}, func(o *Options) { impatient(o); onlyTest(o, 1) }
	if amount.Whole() {
		labs, some = []string{"L01", "L02", "L03", "L04"}, impatient
	}
	_, shown := look([]int{os.Getpid()})
	for _, id := range labs {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			r := gradeOf(t, id, "finished-server", some)
			require.Zero(t, r.Score)
			require.Contains(t, r.Tests[0].Output, "Your program is a finished server")
			require.True(t, r.Extra.Finished.Certain)
			if !shown {
				return // only Linux shows the connections of a program
			}
			r = gradeOf(t, id, "proxy", some)
			require.Zero(t, r.Score)
			require.Contains(t, r.Tests[0].Output, "it hands requests on to another server")
			require.True(t, r.Extra.Finished.Certain)
		})
	}
}
