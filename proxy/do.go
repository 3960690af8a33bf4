package proxy

import (
	"context"
	"fmt"
	"strings"

	"github.com/miniredisd/miniredisd/resp"
)

// Do is Ask with a reply in RESP2. An error says what was asked. Any goroutine may call it while Run runs.
func (p *Proxy) Do(ctx context.Context, n int, words ...string) (resp.Value, error) {
	v, err := p.ask(ctx, n, 2, words)
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("%s: %w", strings.Join(words, " "), err)
	}
	return v, err
}

// Renew makes a proxy as it was at first, but for its connections to the upstreams: no clients, no rules, no log, no
// snapshots. What the upstreams keep is their affair. A server that is down comes up.
func (p *Proxy) Renew(ctx context.Context) error {
	for n, u := range p.upstreams {
		if _, err := p.Do(ctx, n+1, "LAB", "RESET"); err != nil {
			return err
		}
		done := make(chan struct{})
		p.loop.Post(func() {
			u.lab.turn.does(func(job *underway) { // behind the start of a server that was down
				for c := range u.pairs {
					c.end(reset)
				}
				u.lab.ids = 0
				clear(u.lab.scripts)
				if u.lab.own != nil {
					clear(u.lab.own.snapshots)
				}
				u.lab.turn.over(job)
				close(done)
			})
		})
		select {
		case <-done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
