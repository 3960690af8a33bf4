package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"
	goredis "github.com/redis/go-redis/v9"
	"github.com/valkey-io/valkey-go"
)

// Locks without scripts: the commands of newer servers that compare the token themselves.

// compareLease is in ms. Nobody waits for its end.
const compareLease = 30_000

// comparing is a client with such commands. Each reports whether the server has done it.
type comparing struct {
	take, renew, release, enter func(key, token string) (bool, error)
	several                     func(token string, keys ...string) (bool, error)
	close                       func()
}

// compareCells returns the cells for the dialect of the server, and none without a dialect.
func compareCells() []cell {
	family, _, _ := strings.Cut(os.Getenv("DIALECT"), "-")
	switch family {
	case "redis":
		return []cell{compareCell("go-redis "+version("github.com/redis/go-redis/v9"), comparingGoRedis)}
	case "valkey":
		return []cell{compareCell("valkey-go "+version("github.com/valkey-io/valkey-go"), comparingValkeyGo)}
	}
	return nil
}

func compareCell(client string, open func(ctx context.Context, env *env) (*comparing, error)) cell {
	return cell{client: client, scenario: "compare", do: func(ctx context.Context, env *env) error {
		c, err := open(ctx, env)
		if err != nil {
			return err
		}
		defer c.close()
		s, err := dial(ctx, env.addr)
		if err != nil {
			return err
		}
		defer s.close()
		key := fmt.Sprintf("interop:%s:compare:%d", client, os.Getpid())
		defer s.do("DEL", key, key+":other", key+":holders")
		return compare(c, s, key)
	}}
}

// compare takes, renews and releases a lock as its owner a and as a stranger b.
func compare(c *comparing, s *server, key string) error {
	other, holders := key+":other", key+":holders"
	halve := func() (bool, error) { return true, s.do("PEXPIRE", key, compareLease/2) }
	renewed := func() (bool, error) {
		ttl, err := redis.Int(s.conn.Do("PTTL", key))
		return ttl > compareLease/2, err
	}
	for _, step := range []struct {
		what string
		done bool
		do   func() (bool, error)
	}{
		{"nobody holds the lock", true, func() (bool, error) { return c.take(key, "a") }},
		{"a takes it, then b", false, func() (bool, error) { return c.take(key, "b") }},
		{"b renews what a holds", false, func() (bool, error) { return c.renew(key, "b") }},
		{"half of the lease is over", true, halve},
		{"a renews", true, func() (bool, error) { return c.renew(key, "a") }},
		{"the lease is new", true, renewed},
		{"b releases what a holds", false, func() (bool, error) { return c.release(key, "b") }},
		{"a releases", true, func() (bool, error) { return c.release(key, "a") }},
		{"a releases twice", false, func() (bool, error) { return c.release(key, "a") }},
		{"two locks at once", true, func() (bool, error) { return c.several("a", key, other) }},
		{"one of two is taken", false, func() (bool, error) { return c.several("b", other, holders) }},
		{"a enters", true, func() (bool, error) { return c.enter(holders, "a") }},
		{"a enters twice", false, func() (bool, error) { return c.enter(holders, "a") }},
		{"b enters", true, func() (bool, error) { return c.enter(holders, "b") }},
	} {
		done, err := step.do()
		if err != nil {
			return fmt.Errorf("%s: %w", step.what, err)
		}
		if done != step.done {
			return fmt.Errorf("%s: %v", step.what, done)
		}
	}
	return nil
}

func comparingGoRedis(ctx context.Context, env *env) (*comparing, error) {
	client := goredis.NewClient(&goredis.Options{Addr: env.addr})
	lease := compareLease * time.Millisecond
	status := func(cmd *goredis.StatusCmd) (bool, error) {
		if errors.Is(cmd.Err(), goredis.Nil) {
			return false, nil
		}
		return cmd.Val() == "OK", cmd.Err()
	}
	number := func(cmd *goredis.IntCmd) (bool, error) { return cmd.Val() == 1, cmd.Err() }
	return &comparing{
		take: func(key, token string) (bool, error) {
			return status(client.SetArgs(ctx, key, token, goredis.SetArgs{Mode: "NX", TTL: lease}))
		},
		renew: func(key, token string) (bool, error) { return status(client.SetIFEQ(ctx, key, token, token, lease)) },
		release: func(key, token string) (bool, error) {
			return number(client.DelExArgs(ctx, key, goredis.DelExArgs{Mode: "IFEQ", MatchValue: token}))
		},
		several: func(token string, keys ...string) (bool, error) {
			expiry := &goredis.ExpirationOption{Mode: goredis.PX, Value: compareLease}
			args := goredis.MSetEXArgs{Condition: goredis.NX, Expiration: expiry}
			return number(client.MSetEX(ctx, args, keys[0], token, keys[1], token))
		},
		enter: func(key, holder string) (bool, error) {
			return number(client.HSetEXWithArgs(ctx, key, &goredis.HSetEXOptions{
				Condition: goredis.HSetEXFNX, ExpirationType: goredis.HSetEXExpirationPX, ExpirationVal: compareLease,
			}, holder, "1"))
		},
		close: func() { client.Close() },
	}, nil
}

func comparingValkeyGo(ctx context.Context, env *env) (*comparing, error) {
	client, err := valkey.NewClient(valkey.ClientOption{InitAddress: []string{env.addr}, DisableCache: true})
	if err != nil {
		return nil, err
	}
	status := func(cmd valkey.Completed) (bool, error) {
		err := client.Do(ctx, cmd).Error()
		if valkey.IsValkeyNil(err) {
			return false, nil
		}
		return err == nil, err
	}
	number := func(cmd valkey.Completed) (bool, error) {
		n, err := client.Do(ctx, cmd).AsInt64()
		return n == 1, err
	}
	return &comparing{
		take: func(key, token string) (bool, error) {
			return status(client.B().Set().Key(key).Value(token).Nx().PxMilliseconds(compareLease).Build())
		},
		renew: func(key, token string) (bool, error) {
			return status(client.B().Set().Key(key).Value(token).Ifeq(token).PxMilliseconds(compareLease).Build())
		},
		release: func(key, token string) (bool, error) {
			return number(client.B().Delifeq().Key(key).Value(token).Build())
		},
		several: func(token string, keys ...string) (bool, error) {
			pairs := client.B().Msetex().Numkeys(int64(len(keys))).KeyValue()
			for _, key := range keys {
				pairs = pairs.KeyValue(key, token)
			}
			return number(pairs.Nx().PxMilliseconds(compareLease).Build())
		},
		enter: func(key, holder string) (bool, error) {
			return number(client.B().Hsetex().Key(key).Fnx().Px(compareLease).Fields().Numfields(1).FieldValue().
				FieldValue(holder, "1").Build())
		},
		close: client.Close,
	}, nil
}
