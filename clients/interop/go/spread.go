package main

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/go-redsync/redsync/v4"
	goredispool "github.com/go-redsync/redsync/v4/redis/goredis/v9"
	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
)

// spreadClient is a client for clients/interop/topology.
type spreadClient struct {
	name, client string
	open         func(inCluster bool, master string, addrs []string) (*spread, error)
}

func spreadClients() []spreadClient {
	return []spreadClient{
		{"redsync", redsyncName("go-redis", "github.com/redis/go-redis/v9"), spreadRedsync},
		{"go-redis", "go-redis " + version("github.com/redis/go-redis/v9"), spreadGoRedis},
		{"rueidis", "rueidis " + version("github.com/redis/rueidis"), spreadRueidis},
	}
}

const (
	freeIfMine  = `if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0`
	freeAndTell = `if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('publish', ARGV[2], 'free') ` +
		`return redis.call('del', KEYS[1]) end return 0`
)

var errLost = errors.New("the owner does not release the lock")

// deleted checks the reply of a script that deletes a lock.
func deleted(n int64, err error) error {
	if err == nil && n != 1 {
		return errLost
	}
	return err
}

func universal(inCluster bool, master string, addrs []string) goredis.UniversalClient {
	if inCluster {
		return goredis.NewClusterClient(&goredis.ClusterOptions{Addrs: addrs, DialTimeout: patience, ReadTimeout: patience})
	}
	return failoverClient(master, addrs)
}

func spreadGoRedis(inCluster bool, master string, addrs []string) (*spread, error) {
	return overGoRedis(universal(inCluster, master, addrs)), nil
}

func overGoRedis(client goredis.UniversalClient) *spread {
	return &spread{
		take: func(key string) (func() error, error) {
			ctx, token := context.Background(), rand.Text()
			taken, err := client.SetNX(ctx, key, token, keptLease).Result()
			if err == nil && !taken {
				err = errTaken
			}
			return func() error { return deleted(client.Eval(ctx, freeIfMine, []string{key}, token).Int64()) }, err
		},
		get: func(ctx context.Context, key string) (string, error) {
			value, err := client.Get(ctx, key).Result()
			if errors.Is(err, goredis.Nil) {
				err = nil
			}
			return value, err
		},
		set: func(ctx context.Context, key, value string) error { return client.Set(ctx, key, value, 0).Err() },
		tell: func(ctx context.Context, key, token string) error {
			return deleted(client.Eval(ctx, freeAndTell, []string{key}, token, key+":free").Int64())
		},
		listen: func(ctx context.Context, command, channel string, heard chan<- string) error {
			subscribe := client.Subscribe
			if command == "SSUBSCRIBE" {
				subscribe = client.SSubscribe
			}
			sub := subscribe(ctx, channel)
			context.AfterFunc(ctx, func() { _ = sub.Close() }) // the process ends soon
			if _, err := sub.Receive(ctx); err != nil {
				return err
			}
			go func() {
				for m := range sub.Channel() {
					hear(heard, m.Payload)
				}
			}()
			return nil
		},
		publish: func(ctx context.Context, channel string) error { return client.SPublish(ctx, channel, "free").Err() },
	}
}

// hear passes a message on, unless another one waits.
func hear(heard chan<- string, message string) {
	select {
	case heard <- message:
	default:
	}
}

// spreadRedsync is go-redis with the locks of redsync.
func spreadRedsync(inCluster bool, master string, addrs []string) (*spread, error) {
	client := universal(inCluster, master, addrs)
	locks := redsync.New(goredispool.NewPool(client))
	s := overGoRedis(client)
	s.take = func(key string) (func() error, error) {
		m := locks.NewMutex(key, redsync.WithExpiry(keptLease))
		err := m.TryLock()
		if redsyncTaken(err) {
			err = errTaken
		}
		return func() error {
			_, err := m.Unlock()
			return err
		}, err
	}
	return s, nil
}

func spreadRueidis(inCluster bool, master string, addrs []string) (*spread, error) {
	option := rueidis.ClientOption{InitAddress: addrs, ConnWriteTimeout: patience}
	if !inCluster {
		option.Sentinel = rueidis.SentinelOption{MasterSet: master}
	}
	client, err := rueidis.NewClient(option)
	if err != nil {
		return nil, err
	}
	eval := func(ctx context.Context, script, key string, args ...string) error {
		return deleted(client.Do(ctx, client.B().Eval().Script(script).Numkeys(1).Key(key).Arg(args...).Build()).AsInt64())
	}
	return &spread{
		take: func(key string) (func() error, error) {
			ctx, token := context.Background(), rand.Text()
			err := client.Do(ctx, client.B().Set().Key(key).Value(token).Nx().Px(keptLease).Build()).Error()
			if rueidis.IsRedisNil(err) {
				err = errTaken
			}
			return func() error { return eval(ctx, freeIfMine, key, token) }, err
		},
		get: func(ctx context.Context, key string) (string, error) {
			value, err := client.Do(ctx, client.B().Get().Key(key).Build()).ToString()
			if rueidis.IsRedisNil(err) {
				err = nil
			}
			return value, err
		},
		set: func(ctx context.Context, key, value string) error {
			return client.Do(ctx, client.B().Set().Key(key).Value(value).Build()).Error()
		},
		tell: func(ctx context.Context, key, token string) error {
			return eval(ctx, freeAndTell, key, token, key+":free")
		},
		listen: func(ctx context.Context, command, channel string, heard chan<- string) error {
			return listenByRueidis(ctx, client, command, channel, heard)
		},
		publish: func(ctx context.Context, channel string) error {
			return client.Do(ctx, client.B().Spublish().Channel(channel).Message("free").Build()).Error()
		},
	}, nil
}

// listenByRueidis subscribes again when Receive returns, as its users do.
func listenByRueidis(
	ctx context.Context, client rueidis.Client, command, channel string, heard chan<- string,
) error {
	stands := make(chan struct{}, 1)
	ctx = rueidis.WithOnSubscriptionHook(ctx, func(rueidis.PubSubSubscription) {
		select {
		case stands <- struct{}{}:
		default:
		}
	})
	go func() {
		for ctx.Err() == nil {
			subscribe := client.B().Subscribe().Channel(channel).Build()
			if command == "SSUBSCRIBE" {
				subscribe = client.B().Ssubscribe().Channel(channel).Build()
			}
			_ = client.Receive(ctx, subscribe, func(m rueidis.PubSubMessage) { hear(heard, m.Message) })
			time.Sleep(10 * time.Millisecond)
		}
	}()
	select {
	case <-stands:
		return nil
	case <-ctx.Done():
		return errors.New("there is no subscription")
	}
}
