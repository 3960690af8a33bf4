package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	bsm "github.com/bsm/redislock"
	goredis "github.com/redis/go-redis/v9"
)

// redislock uses scripts for everything, even for obtaining.
func redislock() library {
	return library{
		client: fmt.Sprintf("redislock %s (go-redis %s)", version("github.com/bsm/redislock"),
			version("github.com/redis/go-redis/v9")),
		protocols: []int{2, 3},
		open: func(env *env, o opening) (locker, error) {
			client := goredis.NewClient(&goredis.Options{Addr: env.addr, Protocol: o.protocol})
			l := redislockLocker(bsm.New(client), o)
			l.resp = func(ctx context.Context) (int, error) { return goRedisProtocol(ctx, client) }
			l.close = func() { client.Close() }
			return l, nil
		},
	}
}

func redislockLocker(client *bsm.Client, o opening) locker {
	lease := o.lease
	if lease == 0 {
		lease = longLease
	}
	obtain := func(ctx context.Context, name string, options *bsm.Options) (*held, error) {
		lock, err := client.Obtain(ctx, name, lease, options)
		if errors.Is(err, bsm.ErrNotObtained) || errors.Is(err, context.DeadlineExceeded) {
			return nil, fmt.Errorf("%w: %w", errTaken, err)
		} else if err != nil {
			return nil, err
		}
		return &held{
			release: func(ctx context.Context) error {
				err := lock.Release(ctx)
				if errors.Is(err, bsm.ErrLockNotHeld) {
					return fmt.Errorf("%w: %w", errNotHeld, err)
				}
				return err
			},
			extend: func(ctx context.Context) error { return lock.Refresh(ctx, lease, nil) },
		}, nil
	}
	return locker{
		take: func(ctx context.Context, name string) (*held, error) {
			return obtain(ctx, name, &bsm.Options{RetryStrategy: bsm.LinearBackoff(5 * time.Millisecond)})
		},
		try: func(ctx context.Context, name string) (*held, error) {
			return obtain(ctx, name, nil)
		},
		key:    func(name string) string { return name },
		vanish: func() {}, // nothing renews the lock
	}
}
