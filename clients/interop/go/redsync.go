package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/go-redsync/redsync/v4"
	pools "github.com/go-redsync/redsync/v4/redis"
	goredispool "github.com/go-redsync/redsync/v4/redis/goredis/v9"
	redigopool "github.com/go-redsync/redsync/v4/redis/redigo"
	"github.com/gomodule/redigo/redis"
	goredis "github.com/redis/go-redis/v9"
)

const longLease = time.Minute

// redsyncOptions poll often, so that cells are short. A call may take the whole lease. The default
// of redsync, a twentieth of the lease, is 15 ms for a short lease, and a busy machine exceeds
// that.
func redsyncOptions(o opening) []redsync.Option {
	lease := o.lease
	if lease == 0 {
		lease = longLease
	}
	return []redsync.Option{
		redsync.WithExpiry(lease), redsync.WithTries(1 << 20), redsync.WithRetryDelay(5 * time.Millisecond),
		redsync.WithTimeoutFactor(1),
	}
}

// redsyncTaken distinguishes a held lock from a server that does not work.
func redsyncTaken(err error) bool {
	var taken *redsync.ErrTaken
	return errors.As(err, &taken) || errors.Is(err, redsync.ErrFailed)
}

func redsyncLocker(rs *redsync.Redsync, o opening) locker {
	lock := func(ctx context.Context, name string, do func(*redsync.Mutex, context.Context) error) (*held, error) {
		m := rs.NewMutex(name, redsyncOptions(o)...)
		if err := do(m, ctx); redsyncTaken(err) {
			return nil, fmt.Errorf("%w: %w", errTaken, err)
		} else if err != nil {
			return nil, err
		}
		return &held{
			release: func(ctx context.Context) error {
				_, err := m.UnlockContext(ctx)
				if redsyncTaken(err) || errors.Is(err, redsync.ErrLockAlreadyExpired) {
					return fmt.Errorf("%w: %w", errNotHeld, err)
				}
				return err
			},
			extend: func(ctx context.Context) error {
				_, err := m.ExtendContext(ctx)
				return err
			},
		}, nil
	}
	return locker{
		take: func(ctx context.Context, name string) (*held, error) {
			return lock(ctx, name, (*redsync.Mutex).LockContext)
		},
		try: func(ctx context.Context, name string) (*held, error) {
			return lock(ctx, name, (*redsync.Mutex).TryLockContext)
		},
		key:    func(name string) string { return name },
		vanish: func() {}, // nothing renews the lock
	}
}

func redsyncName(client, module string) string {
	return fmt.Sprintf("redsync %s (%s %s)", version("github.com/go-redsync/redsync/v4"), client, version(module))
}

func redsyncOverGoRedis() library {
	return library{
		client:    redsyncName("go-redis", "github.com/redis/go-redis/v9"),
		protocols: []int{2, 3},
		open: func(env *env, o opening) (locker, error) {
			client := goredis.NewClient(&goredis.Options{Addr: env.addr, Protocol: o.protocol})
			l := redsyncLocker(redsync.New(goredispool.NewPool(client)), o)
			l.resp = func(ctx context.Context) (int, error) { return goRedisProtocol(ctx, client) }
			l.close = func() { client.Close() }
			return l, nil
		},
	}
}

// goRedisProtocol asks the server for the protocol of the connection.
func goRedisProtocol(ctx context.Context, client *goredis.Client) (int, error) {
	info, err := client.Do(ctx, "CLIENT", "INFO").Text()
	if err != nil {
		return 0, err
	}
	for _, p := range []int{2, 3} {
		if strings.Contains(info, fmt.Sprintf("resp=%d", p)) {
			return p, nil
		}
	}
	return 0, fmt.Errorf("no resp= in CLIENT INFO: %s", info)
}

func redsyncOverRedigo() library {
	return library{
		client: redsyncName("redigo", "github.com/gomodule/redigo"),
		open: func(env *env, o opening) (locker, error) {
			pool := redigoPool(env.addr)
			l := redsyncLocker(redsync.New(redigopool.NewPool(pool)), o)
			l.close = func() { pool.Close() }
			return l, nil
		},
	}
}

func redigoPool(addr string) *redis.Pool {
	return &redis.Pool{MaxIdle: workers, DialContext: func(ctx context.Context) (redis.Conn, error) {
		return redis.DialContext(ctx, "tcp", addr)
	}}
}

// redsyncCells are the cells of RedLock: one lock on several servers, which the owner of the
// majority holds.
func redsyncCells() []cell {
	goRedis := func(addr string) (pools.Pool, func() error) {
		client := goredis.NewClient(&goredis.Options{Addr: addr})
		return goredispool.NewPool(client), client.Close
	}
	redigo := func(addr string) (pools.Pool, func() error) {
		pool := redigoPool(addr)
		return redigopool.NewPool(pool), pool.Close
	}
	return []cell{
		redlockCell(redsyncOverGoRedis().client, goRedis),
		redlockCell(redsyncOverRedigo().client, redigo),
	}
}

func redlockCell(client string, open func(addr string) (pools.Pool, func() error)) cell {
	return cell{client: client, scenario: "redlock", do: func(ctx context.Context, env *env) error {
		if len(env.masters) < 3 {
			return errors.New("REDIS_MASTERS names fewer than 3 servers")
		}
		var opened []pools.Pool
		var servers []*server
		key := fmt.Sprintf("interop:%s:redlock:%d", client, os.Getpid())
		for _, addr := range env.masters {
			pool, closePool := open(addr)
			defer closePool()
			s, err := dial(ctx, addr)
			if err != nil {
				return err
			}
			defer s.close()
			defer s.do("DEL", key)
			opened, servers = append(opened, pool), append(servers, s)
		}
		l := redsyncLocker(redsync.New(opened...), opening{})
		return redlock(ctx, l, servers, key)
	}}
}

func redlock(ctx context.Context, l locker, servers []*server, key string) error {
	onAll := func(there bool, when string) error {
		for _, s := range servers {
			if err := s.wantKey(key, there, when); err != nil {
				return err
			}
		}
		return nil
	}
	// All of them agree.
	h, err := l.take(ctx, key)
	if err != nil {
		return err
	}
	if err := onAll(true, "while held"); err != nil {
		return err
	}
	if err := h.release(ctx); err != nil {
		return err
	}
	if err := onAll(false, "after the release"); err != nil {
		return err
	}

	// Another owner has one of three: the other two are enough.
	if err := servers[0].do("SET", key, "of a stranger"); err != nil {
		return err
	}
	if h, err = l.try(ctx, key); err != nil {
		return fmt.Errorf("with 2 of 3: %w", err)
	}
	if err := h.release(ctx); err != nil {
		return fmt.Errorf("release of 2 of 3: %w", err)
	}
	if err := servers[0].wantKey(key, true, "after the release of the others"); err != nil {
		return err
	}

	// Another owner has two: the lock is refused, and the third server is released.
	if err := servers[1].do("SET", key, "of a stranger"); err != nil {
		return err
	}
	if _, err := l.try(ctx, key); !errors.Is(err, errTaken) {
		return fmt.Errorf("with 1 of 3: %v", err)
	}
	return servers[2].wantKey(key, false, "after the refusal")
}
