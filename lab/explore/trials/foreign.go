package trials

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/internal/respclient"
	"github.com/miniredisd/miniredisd/proxy"
	"github.com/miniredisd/miniredisd/proxy/child"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/store"
)

// foreign is one server of another program, or several masters, behind a proxy of this process:
//
//	program ──> proxy ──> child, such as redis-server
//	             ^         ^
//	            LAB       all other commands of the driver, past the proxy
//
// A trial has it alone, and gives it back. Before the next trial the server is empty, and all clients are gone. That
// takes the place of a new process, which takes longer.
type foreign struct {
	proxy *proxy.Proxy
	ended chan error // gets the error of the proxy's loop
	own   []*child.Child
	conns []*respclient.Conn // to the children, nil before the first command
	addrs []string           // of the proxy
}

// errDown is the error of a command for a server that LAB CRASH has killed for a while.
const errDown = down("the server is down")

type down string

func (e down) Error() string { return string(e) }

// answerLimit is how long a server may take for a reply to the driver.
const answerLimit = 30 * time.Second

// newForeign starts the servers and the proxy.
func (d *driver) newForeign() (f *foreign, err error) {
	f = &foreign{ended: make(chan error, 1), conns: make([]*respclient.Conn, max(d.Masters, 1))}
	cfg := proxy.Config{
		Bind: "127.0.0.1", Port: d.Port, Multiplexer: config.Default().Multiplexer, ClockKeys: clockKeys,
		Seed: max(d.Seed, 1), Match: store.MatchPattern, Log: func(byte, string, ...any) {},
	}
	for range f.conns {
		c, err := child.New(d.Foreign, func(string) {}, func(string) {})
		if err == nil {
			f.own, cfg.Upstreams = append(f.own, c), append(cfg.Upstreams, c.Addr)
			err = c.Start()
		}
		if err != nil {
			f.end()
			return nil, err
		}
	}
	cfg.Own = f.own
	if f.proxy, err = proxy.New(cfg); err != nil {
		f.end()
		return nil, err
	}
	for _, port := range f.proxy.Ports() {
		f.addrs = append(f.addrs, fmt.Sprintf("127.0.0.1:%d", port))
	}
	go func() { f.ended <- f.proxy.Run() }()
	return f, nil
}

// clockKeys is how many keys LAB CLOCK ADVANCE may move.
const clockKeys = 10_000

// end ends all processes.
func (f *foreign) end() {
	if f.proxy != nil {
		f.proxy.Stop()
		<-f.ended
	}
	for n, c := range f.own {
		if f.conns[n] != nil {
			_ = f.conns[n].Close()
		}
		c.Kill()
		c.Close()
	}
}

// Do executes a command at a master. LAB ALL goes to each of them. An error reply is an error.
func (f *foreign) Do(ctx context.Context, master int, words ...string) (v resp.Value, err error) {
	switch {
	case len(words) > 1 && words[0] == "LAB" && words[1] == "ALL":
		words = append([]string{"LAB"}, words[2:]...)
		for n := range f.own {
			if v, err = f.Do(ctx, n+1, words...); err != nil {
				return v, err
			}
		}
		return v, nil
	case words[0] == "LAB":
		v, err = f.proxy.Do(ctx, master, words...)
	default:
		v, err = f.direct(master, words)
	}
	if err != nil && ctx.Err() == nil && !f.own[master-1].IsKilled() && !f.own[master-1].Answers() {
		err = errors.New("the server has ended")
	}
	return v, err
}

// direct asks a server past the proxy. A crash has ended an older connection.
func (f *foreign) direct(master int, words []string) (v resp.Value, err error) {
	c := &f.conns[master-1]
	for range 2 {
		if *c == nil {
			if f.own[master-1].IsKilled() {
				return v, errDown
			}
			if *c, err = respclient.Dial(f.own[master-1].Addr); err != nil {
				*c = nil
				return v, err
			}
			(*c).Limit = answerLimit
		}
		if v, err = (*c).Do(words...); err == nil {
			break
		}
		_ = (*c).Close()
		*c = nil
	}
	if err == nil && v.Kind == '-' {
		err = errors.New(strings.Join(words, " ") + ": " + v.Str)
	}
	return v, err
}

// fresh makes the servers as if they were new, but for what CONFIG SET and ACL SETUSER have changed.
func (f *foreign) fresh(ctx context.Context) error {
	if err := f.proxy.Renew(ctx); err != nil {
		return err
	}
	for n := range f.own {
		for _, line := range []string{"FLUSHALL", "SCRIPT FLUSH", "FUNCTION FLUSH", "CONFIG RESETSTAT"} {
			_, err := f.direct(n+1, strings.Fields(line))
			if err != nil && f.conns[n] == nil { // an error reply is that of an older server
				return err
			}
		}
	}
	return nil
}

// identity returns the name and the version of the servers.
func (f *foreign) identity() (string, error) {
	v, err := f.direct(1, []string{"INFO", "server"})
	return child.Identity(v.Str), err
}

// pool has the servers that no trial uses.
type pool struct{ idle []*foreign }

// borrow returns servers that are as if they were new.
func (d *driver) borrow(ctx context.Context) (*foreign, error) {
	d.mu.Lock()
	last := len(d.pool.idle) - 1
	if last < 0 {
		d.mu.Unlock()
		return d.newForeign()
	}
	f := d.pool.idle[last]
	d.pool.idle = d.pool.idle[:last]
	d.mu.Unlock()
	if err := f.fresh(ctx); err != nil {
		f.end()
		return nil, err
	}
	return f, nil
}

// giveBack takes servers back, or ends them if something is wrong with them.
func (d *driver) giveBack(f *foreign, err error) {
	if err != nil {
		f.end()
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pool.idle = append(d.pool.idle, f)
}

// endPool ends all servers that wait for a trial.
func (d *driver) endPool() {
	for _, f := range d.pool.idle {
		f.end()
	}
}

// meets starts the first servers, and learns what they are.
func (d *driver) meets(ctx context.Context) error {
	f, err := d.borrow(ctx)
	if err == nil {
		d.On, err = f.identity()
		d.giveBack(f, err)
	}
	return err
}
