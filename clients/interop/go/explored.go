package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	bsm "github.com/bsm/redislock"
	"github.com/go-redsync/redsync/v4"
	pools "github.com/go-redsync/redsync/v4/redis"
	goredispool "github.com/go-redsync/redsync/v4/redis/goredis/v9"
	redigopool "github.com/go-redsync/redsync/v4/redis/redigo"
	"github.com/gomodule/redigo/redis"
	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
	rueidislocker "github.com/redis/rueidis/rueidislock"
)

const exploreKey = "lock:o"

// exploredClients are the clients that explore.go runs. Their leases, and how long they wait for a reply, are those of
// resend.go.
func exploredClients() []explored {
	goRedis := version("github.com/redis/go-redis/v9")
	rs := version("github.com/go-redsync/redsync/v4")
	timeout := "goredis.Options{ReadTimeout: time.Second}"
	return []explored{
		{"redsync-go-redis", fmt.Sprintf("%s (go-redis %s)", rs, goRedis),
			[]string{timeout, "redsync.WithExpiry(30 * time.Second)"}, redsyncByGoRedis, false},
		{"redsync-redigo", fmt.Sprintf("%s (redigo %s)", rs, version("github.com/gomodule/redigo")),
			[]string{"redis.DialReadTimeout(time.Second)", "redsync.WithExpiry(30 * time.Second)"}, redsyncByRedigo, false},
		{"redislock", fmt.Sprintf("%s (go-redis %s)", version("github.com/bsm/redislock"), goRedis),
			[]string{timeout, "Obtain(ctx, key, 30*time.Second, " +
				"&Options{RetryStrategy: LimitRetry(LinearBackoff(100*time.Millisecond), 20)})"}, redislockWorker, false},
		{"rueidislock", fmt.Sprintf("%s (rueidis)", version("github.com/redis/rueidis")),
			[]string{"KeyValidity: 30 * time.Second", "KeyMajority: 1", "TryNextAfter: time.Second", "FallbackSETPX: true"},
			rueidislockWorker, true},
	}
}

// goRedisClient is connected, with the name of a worker.
func goRedisClient(addr, name string) (*goredis.Client, error) {
	client := goredis.NewClient(&goredis.Options{Addr: addr, ClientName: name, ReadTimeout: patience})
	return client, client.Ping(context.Background()).Err()
}

func redsyncByGoRedis(addr, name string) (*worker, error) {
	client, err := goRedisClient(addr, name)
	return redsyncWorker(goredispool.NewPool(client), func() { client.Close() }), err
}

func redsyncByRedigo(addr, name string) (*worker, error) {
	pool := &redis.Pool{MaxIdle: 1, Dial: func() (redis.Conn, error) {
		return redis.Dial("tcp", addr, redis.DialClientName(name), redis.DialReadTimeout(patience))
	}}
	conn := pool.Get()
	_, err := conn.Do("PING")
	conn.Close()
	return redsyncWorker(redigopool.NewPool(pool), func() { pool.Close() }), err
}

func redsyncWorker(pool pools.Pool, closePool func()) *worker {
	m := redsync.New(pool).NewMutex(exploreKey, redsync.WithExpiry(lease))
	return &worker{
		look: func() (bool, error) {
			err := m.TryLock()
			if redsyncTaken(err) {
				return false, nil
			}
			return err == nil, err
		},
		take: func() error {
			ctx, cancel := context.WithTimeout(context.Background(), exploreWait)
			defer cancel()
			return m.LockContext(ctx)
		},
		release: func() error {
			ok, err := m.Unlock()
			if err == nil && !ok {
				err = errors.New("unlock returned false")
			}
			return err
		},
		close: closePool,
	}
}

func redislockWorker(addr, name string) (*worker, error) {
	client, err := goRedisClient(addr, name)
	locks := bsm.New(client)
	var held *bsm.Lock
	obtain := func(options *bsm.Options) (err error) {
		held, err = locks.Obtain(context.Background(), exploreKey, lease, options)
		return err
	}
	return &worker{
		look: func() (bool, error) {
			err := obtain(nil)
			if errors.Is(err, bsm.ErrNotObtained) {
				return false, nil
			}
			return err == nil, err
		},
		take: func() error {
			step := 100 * time.Millisecond
			tries := int(exploreWait / step)
			return obtain(&bsm.Options{RetryStrategy: bsm.LimitRetry(bsm.LinearBackoff(step), tries)})
		},
		release: func() error { return held.Release(context.Background()) },
		close:   func() { client.Close() },
	}, err
}

func rueidislockWorker(addr, name string) (*worker, error) {
	locks, err := rueidislocker.NewLocker(rueidislocker.LockerOption{
		KeyPrefix: "lock", KeyValidity: lease, KeyMajority: 1, TryNextAfter: patience,
		// SET PXAT has a time of this machine's clock, and the lab's clock goes ahead of it.
		FallbackSETPX: true,
		ClientOption:  rueidis.ClientOption{InitAddress: []string{addr}, ClientName: name},
	})
	if err != nil {
		return nil, err
	}
	var release context.CancelFunc
	return &worker{
		look: func() (taken bool, err error) {
			_, release, err = locks.TryWithContext(context.Background(), "o")
			if errors.Is(err, rueidislocker.ErrNotLocked) {
				return false, nil
			}
			return err == nil, err
		},
		take: func() (err error) {
			// A lock ends with its context, so only the wait may end.
			waiting, stop := context.WithCancel(context.Background())
			limit := time.AfterFunc(exploreWait, stop)
			_, release, err = locks.WithContext(waiting, "o")
			limit.Stop()
			return err
		},
		release: func() error {
			release()
			return nil
		},
		close: locks.Close,
	}, nil
}
