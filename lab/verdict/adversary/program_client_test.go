package adversary

import (
	"context"
	"crypto/sha1"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/respclient"
	"github.com/miniredisd/miniredisd/resp"
)

// actor is a client of a program. It is honest: it believes what replies say, and it knows how long its lease is.
type actor struct {
	plan
	world  *world
	number int
	at     int     // the node that it turns to
	links  []*link // to the nodes
	link   *link   // to this node
	failed bool    // the last request
	sends  int     // requests so far
	token  string
	tokens int
	reply  string        // the last one
	asked  time.Duration // when the request with the lease left
	took   time.Duration // when the first reply came after which it may have the lock
	lost   time.Duration // likewise of a take whose reply did not come; 0 is none
	acted  bool          // the last step has reached the server
	belief int           // index of its newest belief, or -1
}

// outcome is what a client knows of a request.
type outcome int

const (
	refused outcome = iota
	granted
	unknown // no reply came
)

// run is what a client does.
func (c *actor) run() {
	defer c.world.ended.Done()
	c.rest(c.start)
	for round := 1; round <= c.rounds; round++ {
		if !c.acquire() {
			continue
		}
		if round == c.dies {
			c.leaves(false)
			if c.closes && !c.world.shared() {
				c.hangUpAll()
			}
			return
		}
		if c.works() {
			if c.free(); c.again {
				c.walk(c.release.steps)
			}
		}
		c.rest(c.think)
	}
}

// acquire asks for the lock until the client has it, or has asked often enough.
func (c *actor) acquire() bool {
	c.renewToken()
	for range c.tries {
		switch is := c.walk(c.take()); {
		case is == granted:
			if c.confirmed() && c.believes(c.asked, c.leaseOf()) {
				return true
			}
			c.free()
		case is == unknown && c.unheard == givesUp:
			return false
		case is == unknown:
			c.lost = c.asked
			if c.unheard == newToken {
				c.renewToken()
			}
			if c.unheard == looks && c.found() {
				return true
			}
		case c.unheard == sameToken && c.found():
			return true
		}
		c.rest(c.think)
	}
	return false
}

// take returns how the client takes the lock. Every second one only wants to read, if the lock admits readers.
func (c *actor) take() []string {
	if c.reads() {
		return c.world.way.read
	}
	return c.world.way.take
}

func (c *actor) reads() bool { return len(c.world.way.read) > 0 && c.number%2 == 1 }

// found reports whether the client sees the lock that it has asked for without a reply.
func (c *actor) found() bool {
	return c.lost > 0 && c.world.way.mine != "" && c.walk([]string{c.world.way.mine}) == granted &&
		c.believes(c.lost, c.leaseOf())
}

func (c *actor) leaseOf() time.Duration {
	if c.world.way.endless() {
		return forever
	}
	return c.lease
}

func (c *actor) renewToken() {
	c.tokens++
	c.lost = 0
	switch c.world.tokens {
	case "new":
		c.token = fmt.Sprintf("token-%s%d", word(c.number), c.tokens)
	case "own":
		c.token = "token-" + word(c.number)
	case "random":
		c.token = fmt.Sprintf("6f1ed002ab5595859014ebf0951522d%s%d", word(c.number), c.tokens)
	default:
		c.token = "locked"
	}
}

// works is the time in which the client needs the lock. It reports whether the client has not lost it.
func (c *actor) works() bool {
	left := c.work
	for c.renew != nil && left > c.every {
		c.rest(c.every)
		left -= c.every
		switch c.walk(c.renew.steps) {
		case granted:
			if !c.believes(c.asked, c.lease) {
				return true
			}
		case refused: // an error may be about something else
			c.leaves(!strings.HasPrefix(c.reply, "-"))
			return false
		}
	}
	c.rest(left)
	return true
}

// free releases the lock. The client does not need it any more.
func (c *actor) free() {
	c.leaves(false)
	c.acted = false
	if c.walk(c.release.steps); c.acted {
		c.leaves(true)
	}
}

// walk sends the requests of steps, "COMMAND -> REPLY | UNDO", until a reply is another one. Then it sends UNDO.
func (c *actor) walk(steps []string) outcome {
	c.asked, c.took = c.world.now(), forever
	c.findsMaster()
	for i, step := range steps {
		if i > 0 && c.slow > 0 {
			c.rest(c.slow)
		}
		at := strings.LastIndex(step, " -> ")
		want, undo, _ := strings.Cut(step[at+4:], " | ")
		if hasLease(step) {
			c.asked = c.world.now()
		}
		home := c.at
		c.looksAt(step)
		is := c.ask(step[:at])
		c.turnBack(home)
		c.acted = c.acted && i == len(steps)-1
		switch {
		case is == unknown:
			c.mayBelieve(forever)
			return unknown
		case c.says(c.fill(want)):
			if want != "*" && takes(step) {
				c.took = min(c.took, c.world.now())
			}
		default:
			if undo != "" {
				c.ask(undo)
			} else {
				c.mayBelieve(c.world.now())
			}
			if strings.HasPrefix(steps[0], "WATCH") || strings.HasPrefix(steps[0], "MULTI") {
				c.hangUp()
			}
			return refused
		}
	}
	return granted
}

// takes reports whether a client may have the lock after a step.
func takes(step string) bool {
	first, _, _ := strings.Cut(step, " ")
	return strings.Contains(step, "{k}") && !slices.Contains(looking(), first)
}

// looking are the commands that change nothing.
func looking() []string {
	return []string{"EXISTS", "GET", "HEXISTS", "HGET", "LINDEX", "PTTL", "SCARD", "WATCH", "ZRANK", "ZSCORE"}
}

// says reports whether the last reply is the one that was hoped for.
func (c *actor) says(want string) bool {
	most, isMost := strings.CutPrefix(want, "<=")
	limit, _ := strconv.Atoi(most)
	number, err := strconv.Atoi(c.reply)
	switch {
	case isMost:
		return err == nil && number <= limit
	case want == "*":
		return true
	case want == "some":
		return c.reply != "(nil)" && !strings.HasPrefix(c.reply, "-")
	case want == "nil":
		return c.reply == "(nil)"
	}
	return c.reply == want
}

// fill replaces what stands in braces.
func (c *actor) fill(word string) string {
	if !strings.Contains(word, "{") {
		return word
	}
	now := time.Now().Add(c.world.shift + c.skew)
	field := c.token + ":write"
	if c.reads() {
		field = c.token
	}
	ms := func(t time.Time) string { return strconv.FormatInt(t.UnixMilli(), 10) }
	return strings.NewReplacer("{k}", theLock, "{t}", c.token, "{field}", field, "{reply}", c.reply,
		"{lease}", strconv.FormatInt(c.lease.Milliseconds(), 10), "{sec}", strconv.Itoa(int(c.lease.Seconds())),
		"{now}", ms(now), "{until}", ms(now.Add(c.lease))).Replace(word)
}

// ask sends a request and reads its reply.
func (c *actor) ask(command string) outcome {
	words, ok := resp.Words([]byte(command))
	require.True(c.world.t, ok, command)
	request := make([]string, len(words))
	for i, w := range words {
		request[i] = c.fill(string(w))
		if name, isScript := strings.CutPrefix(request[i], "@"); isScript {
			text, err := os.ReadFile(filepath.Join("testdata", "scripts", name+".lua"))
			require.NoError(c.world.t, err)
			request[i] = string(text)
		}
	}
	if c.sha && request[0] == "EVAL" {
		sum := fmt.Sprintf("%x", sha1.Sum([]byte(request[1])))
		is := c.send(slices.Concat([]string{"EVALSHA", sum}, request[2:]))
		if is == unknown || !strings.HasPrefix(c.reply, "-NOSCRIPT") {
			return is
		}
	}
	return c.send(request)
}

// send sends a request. In a cluster it may be sent on.
func (c *actor) send(request []string) outcome {
	if !c.world.cluster {
		return c.sendHere(request)
	}
	if c.finds == intrudes && c.number < len(c.world.clients) {
		return c.asksAt(c.number%masters, request)
	}
	return c.goesOn(request, c.sendHere(request))
}

// sendHere sends a request to a node, with the troubles that it has to meet.
func (c *actor) sendHere(request []string) outcome {
	c.sends++
	mine := slices.DeleteFunc(slices.Clone(c.troubles), func(t trouble) bool { return t.nth != c.sends })
	for _, t := range mine {
		if t.pause > 0 {
			c.rest(t.pause)
		}
	}
	c.link.turn <- struct{}{}
	defer func() { <-c.link.turn }()
	c.rest(0)
	if c.acted = false; !c.connected() {
		c.failed = true
		c.rest(dialAgain)
		return unknown
	}
	for i, t := range mine {
		if t.action != "" {
			c.world.doAt(c.at, fmt.Sprintf("LAB FAULT ADD %s-%d-%d CLIENT %s TIMES 1 ACTION %s",
				word(c.number), c.sends, i, c.link.id, t.action))
		}
	}
	is := c.exchange(request)
	reached := c.link.lives == c.world.lives.Load() // else the connection had ended, and the log does not have it
	c.acted = is == granted || reached && slices.ContainsFunc(mine, func(t trouble) bool { return t.action != "" })
	return is
}

const dialAgain = 50 * time.Millisecond

func (c *actor) exchange(request []string) outcome {
	err := c.link.conn.Send(resp.AppendRequest(nil, request...))
	if err == nil {
		_ = c.link.conn.Net.SetReadDeadline(time.Now().Add(c.timeout)) // a connection of a bubble has no error
		var v resp.Value
		if v, err = c.link.conn.Read(); err == nil {
			c.reply = text(v)
		}
	}
	if c.failed = err != nil || strings.HasPrefix(c.reply, "-READONLY"); err != nil {
		c.hangUp()
		c.rest(0)
		return unknown
	}
	c.rest(0)
	return granted
}

// link is a connection of one client, or of all of them.
type link struct {
	conn  *respclient.Conn
	id    string        // of the connection
	lives int64         // of the server when it began
	turn  chan struct{} // full while a client waits for its reply
}

func newLink() *link { return &link{turn: make(chan struct{}, 1)} }

// connected connects if there is no connection, and reports whether there is one.
func (c *actor) connected() bool {
	if c.link.conn != nil {
		return true
	}
	conn, err := c.world.nodes[c.at].Dial(context.Background(), "", "")
	if err != nil {
		return false
	}
	c.link.conn, c.link.lives = respclient.New(conn, 512), c.world.lives.Load()
	name := map[string]string{ownName: word(c.number), oneName: "app", oneLink: "app"}[c.world.names]
	if name != "" && c.exchange([]string{"CLIENT", "SETNAME", name}) == unknown {
		return false
	}
	last := c.reply
	defer func() { c.reply = last }()
	if c.exchange([]string{"CLIENT", "ID"}) == unknown {
		return false
	}
	c.link.id = c.reply
	return true
}

func (c *actor) hangUp() {
	if c.link.conn != nil {
		_ = c.link.conn.Close()
		c.link.conn = nil
	}
}

func (c *actor) hangUpAll() {
	for _, l := range c.links {
		c.link = l
		c.hangUp()
	}
}

// rest sleeps until the next moment that belongs to this client alone. So no two clients do something at the same
// instant, and each run of a program is the same.
func (c *actor) rest(d time.Duration) {
	const turn = 64 * time.Microsecond
	own := time.Duration(c.number+1) * time.Microsecond
	next := (time.Since(c.world.begin)+d)/turn*turn + turn + own
	time.Sleep(next - time.Since(c.world.begin))
}
