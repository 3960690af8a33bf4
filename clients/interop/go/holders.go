package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/go-redsync/redsync/v4"
	pools "github.com/go-redsync/redsync/v4/redis"
	goredispool "github.com/go-redsync/redsync/v4/redis/goredis/v9"
	redigopool "github.com/go-redsync/redsync/v4/redis/redigo"
	"github.com/gomodule/redigo/redis"
	goredis "github.com/redis/go-redis/v9"
)

// holdersArg is the first argument of this program if it takes RedLocks on orders of
// clients/interop/redlock instead of running cells.
const holdersArg = "holders"

// owners take one lock on several masters. Each owner has its own connections, which have its name.
type owners struct {
	open    func(addr, name string, patience time.Duration) (pools.Pool, io.Closer)
	mutexes map[string]*redsync.Mutex
	closers []io.Closer
}

// holders answers orders until the input ends: one line for each, as clients/interop/README.md describes.
func holders(kind string) error {
	var client string
	o := &owners{}
	switch kind {
	case "go-redis":
		client, o.open = redsyncOverGoRedis().client, openGoRedis
	case "redigo":
		client, o.open = redsyncOverRedigo().client, openRedigo
	default:
		return fmt.Errorf("no holders of the kind %q", kind)
	}
	fmt.Println(client)
	goredis.SetLogger(noLog{}) // refused connections are what these scenes are about
	orders := bufio.NewScanner(os.Stdin)
	for orders.Scan() {
		answer, err := o.obey(strings.Fields(orders.Text()))
		if err != nil {
			answer = "failed " + strings.ReplaceAll(err.Error(), "\n", "; ")
		}
		fmt.Println(answer)
	}
	return orders.Err()
}

func (o *owners) obey(order []string) (answer string, err error) {
	switch {
	case len(order) == 4 && order[0] == "open":
		return "ok", o.begin(strings.Split(order[1], ","), order[2], order[3])
	case len(order) == 1 && order[0] == "close":
		o.end()
		return "ok", nil
	case len(order) == 2 && o.mutexes[order[1]] != nil && order[0] == "take":
		if err := o.mutexes[order[1]].TryLock(); err != nil {
			return "refused " + strings.ReplaceAll(err.Error(), "\n", "; "), nil
		}
		return "held", nil
	case len(order) == 2 && o.mutexes[order[1]] != nil && order[0] == "release":
		if ok, err := o.mutexes[order[1]].Unlock(); !ok {
			return "", fmt.Errorf("release: %w", err)
		}
		return "released", nil
	}
	return "", fmt.Errorf("no such order: %q", order)
}

func (o *owners) begin(masters []string, key, leaseMS string) error {
	ms, err := strconv.Atoi(leaseMS)
	if err != nil {
		return err
	}
	if o.mutexes != nil {
		return errors.New("open before close")
	}
	o.mutexes = map[string]*redsync.Mutex{}
	lease := time.Duration(ms) * time.Millisecond
	for _, name := range []string{"a", "b"} {
		var mine []pools.Pool
		for _, addr := range masters {
			pool, closer := o.open(addr, name, lease/20)
			mine, o.closers = append(mine, pool), append(o.closers, closer)
		}
		// The defaults, except for the number of attempts: the test decides when to try again.
		o.mutexes[name] = redsync.New(mine...).NewMutex(key, redsync.WithExpiry(lease), redsync.WithTries(1))
	}
	return nil
}

func (o *owners) end() {
	for _, c := range o.closers {
		c.Close()
	}
	o.closers, o.mutexes = nil, nil
}

// Both get a time limit for a master, as every user of RedLock must set one. While they connect,
// they ignore the deadline of redsync.

func openGoRedis(addr, name string, patience time.Duration) (pools.Pool, io.Closer) {
	client := goredis.NewClient(&goredis.Options{
		Addr: addr, ClientName: name, DialTimeout: patience, DialerRetries: 1, ReadTimeout: patience,
		ContextTimeoutEnabled: true,
	})
	return goredispool.NewPool(client), client
}

func openRedigo(addr, name string, patience time.Duration) (pools.Pool, io.Closer) {
	pool := &redis.Pool{MaxIdle: 1, Dial: func() (redis.Conn, error) {
		return redis.Dial("tcp", addr, redis.DialClientName(name), redis.DialReadTimeout(patience))
	}}
	return redigopool.NewPool(pool), pool
}

type noLog struct{}

func (noLog) Printf(context.Context, string, ...any) {}
