package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"
	rueidislocker "github.com/redis/rueidis/rueidislock"
)

// rueidislock holds a lock as long as a context lives, and renews it. It learns by client-side
// caching that the key has changed, so each of its cells needs CLIENT TRACKING.
func rueidislock() library {
	return library{
		client: fmt.Sprintf("rueidislock %s (rueidis)", version("github.com/redis/rueidis")),
		renews: true,
		wakes:  true,
		open:   openRueidislock,
	}
}

const rueidisPrefix = "interop-rueidis"

func openRueidislock(env *env, o opening) (locker, error) {
	lease := o.lease
	if lease == 0 {
		lease = longLease
	}
	var cut cutter
	client, err := rueidislocker.NewLocker(rueidislocker.LockerOption{
		KeyPrefix:      rueidisPrefix,
		KeyValidity:    lease,
		ExtendInterval: lease / 3,
		KeyMajority:    1,
		TryNextAfter:   2 * time.Second, // the time limit of one call
		ClientOption:   rueidis.ClientOption{InitAddress: []string{env.addr}, DialCtxFn: cut.dial},
	})
	if err != nil {
		return locker{}, err
	}
	lock := func(ctx context.Context, name string,
		do func(context.Context, string) (context.Context, context.CancelFunc, error)) (*held, error) {
		// A lock ends with its context, so that must not be the context that limits the wait.
		waiting, stop := context.WithCancel(context.WithoutCancel(ctx))
		giveUp := context.AfterFunc(ctx, stop)
		_, release, err := do(waiting, name)
		giveUp()
		switch {
		case errors.Is(err, rueidislocker.ErrNotLocked) || err != nil && ctx.Err() != nil:
			stop()
			return nil, fmt.Errorf("%w: %w", errTaken, err)
		case err != nil:
			stop()
			return nil, err
		}
		return &held{release: func(context.Context) error {
			release()
			stop()
			return nil
		}}, nil
	}
	return locker{
		take: func(ctx context.Context, name string) (*held, error) { return lock(ctx, name, client.WithContext) },
		try:  func(ctx context.Context, name string) (*held, error) { return lock(ctx, name, client.TryWithContext) },
		key:  func(name string) string { return rueidisPrefix + ":0:" + name },
		vanish: func() {
			cut.cut.Store(true)
		},
		close: client.Close,
	}, nil
}

// cutter dials connections that can drop everything that is written to them, as if this machine had
// lost its network.
type cutter struct{ cut atomic.Bool }

func (c *cutter) dial(ctx context.Context, addr string, d *net.Dialer, _ *tls.Config) (net.Conn, error) {
	if c.cut.Load() {
		return nil, errors.New("cut off")
	}
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return &cutConn{conn, c}, nil
}

type cutConn struct {
	net.Conn
	*cutter
}

func (c *cutConn) Write(p []byte) (int, error) {
	if c.cut.Load() {
		return len(p), nil
	}
	return c.Conn.Write(p)
}
