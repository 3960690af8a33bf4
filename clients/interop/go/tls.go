package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	bsm "github.com/bsm/redislock"
	"github.com/go-redsync/redsync/v4"
	goredispool "github.com/go-redsync/redsync/v4/redis/goredis/v9"
	redigopool "github.com/go-redsync/redsync/v4/redis/redigo"
	"github.com/gomodule/redigo/redis"
	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
	rueidislocker "github.com/redis/rueidis/rueidislock"
)

// tlsArg is the first argument of this program if it takes locks over TLS for clients/interop/tls.
const tlsArg = "tls"

// overTLS takes and releases a lock with each client, as clients/interop/README.md describes.
func overTLS() error {
	config, err := tlsConfig(os.Getenv("REDIS_TLS"))
	if err != nil {
		return err
	}
	addr := os.Getenv("REDIS_ADDR")
	for _, c := range []struct {
		client string
		lock   func(addr string, config *tls.Config) error
	}{
		{redsyncName("go-redis", "github.com/redis/go-redis/v9"), lockByGoRedis},
		{redsyncName("redigo", "github.com/gomodule/redigo"), lockByRedigo},
		{"redislock " + version("github.com/bsm/redislock"), lockByRedislock},
		{"rueidislock " + version("github.com/redis/rueidis"), lockByRueidis},
	} {
		saw := "ok"
		if err := c.lock(addr, config); err != nil {
			saw = "error: " + err.Error()
		}
		line, _ := json.Marshal(map[string]string{"client": c.client, "saw": saw})
		fmt.Println(string(line))
	}
	return nil
}

func tlsConfig(dir string) (*tls.Config, error) {
	ca, err := os.ReadFile(filepath.Join(dir, "ca.crt"))
	if err != nil {
		return nil, err
	}
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "client.crt"), filepath.Join(dir, "client.key"))
	if err != nil {
		return nil, err
	}
	config := &tls.Config{RootCAs: x509.NewCertPool(), Certificates: []tls.Certificate{pair}, ServerName: "localhost"}
	config.RootCAs.AppendCertsFromPEM(ca)
	return config, nil
}

func lockByGoRedis(addr string, config *tls.Config) error {
	c := goredis.NewClient(&goredis.Options{Addr: addr, TLSConfig: config})
	defer c.Close()
	return lockByRedsync(redsync.New(goredispool.NewPool(c)), "tls:go-redis")
}

func lockByRedigo(addr string, config *tls.Config) error {
	pool := &redis.Pool{Dial: func() (redis.Conn, error) {
		return redis.Dial("tcp", addr, redis.DialUseTLS(true), redis.DialTLSConfig(config))
	}}
	defer pool.Close()
	return lockByRedsync(redsync.New(redigopool.NewPool(pool)), "tls:redigo")
}

func lockByRedsync(rs *redsync.Redsync, key string) error {
	mine, other := rs.NewMutex(key, redsync.WithTries(1)), rs.NewMutex(key, redsync.WithTries(1))
	if err := mine.Lock(); err != nil {
		return err
	}
	if other.Lock() == nil {
		return errSecondOwner
	}
	_, err := mine.Unlock()
	return err
}

var errSecondOwner = errors.New("a second owner gets the lock")

func lockByRedislock(addr string, config *tls.Config) error {
	c := goredis.NewClient(&goredis.Options{Addr: addr, TLSConfig: config})
	defer c.Close()
	ctx := context.Background()
	mine, err := bsm.Obtain(ctx, c, "tls:redislock", lease, nil)
	if err != nil {
		return err
	}
	if _, err := bsm.Obtain(ctx, c, "tls:redislock", lease, nil); !errors.Is(err, bsm.ErrNotObtained) {
		return errSecondOwner
	}
	return mine.Release(ctx)
}

func lockByRueidis(addr string, config *tls.Config) error {
	locker, err := rueidislocker.NewLocker(rueidislocker.LockerOption{
		ClientOption: rueidis.ClientOption{
			InitAddress: []string{addr}, TLSConfig: config, Dialer: net.Dialer{Timeout: lease},
		},
		KeyMajority: 1,
	})
	if err != nil {
		return err
	}
	defer locker.Close()
	_, release, err := locker.WithContext(context.Background(), "tls")
	if err != nil {
		return err
	}
	defer release()
	if _, _, err := locker.TryWithContext(context.Background(), "tls"); !errors.Is(err, rueidislocker.ErrNotLocked) {
		return errSecondOwner
	}
	return nil
}
