package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	bsm "github.com/bsm/redislock"
	"github.com/go-redsync/redsync/v4"
	goredispool "github.com/go-redsync/redsync/v4/redis/goredis/v9"
	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
	rueidislocker "github.com/redis/rueidis/rueidislock"
)

// sentinelArg is the first argument of this program if it takes locks through Sentinel, for clients/interop/sentinel.
const sentinelArg = "sentinel"

// taker takes a lock for a new owner, without waiting. It returns errTaken if another owner has it.
type taker func(key string) (release func() error, err error)

// guarded is a client that finds its master through sentinels.
type guarded struct {
	name, client string
	open         func(master string, sentinels []string) (taker, error)
}

func guardedClients() []guarded {
	return []guarded{
		{"redsync", redsyncName("go-redis", "github.com/redis/go-redis/v9"), redsyncThroughSentinel},
		{"redislock", fmt.Sprintf("redislock %s (go-redis %s)", version("github.com/bsm/redislock"),
			version("github.com/redis/go-redis/v9")), redislockThroughSentinel},
		{"rueidislock", "rueidislock " + version("github.com/redis/rueidis"), rueidislockThroughSentinel},
	}
}

// throughSentinel prints the names of the clients, or plays the scenario with one of them.
func throughSentinel(args []string) error {
	for _, c := range guardedClients() {
		switch {
		case len(args) == 0:
			fmt.Println(c.name)
		case args[0] == c.name:
			return c.play()
		}
	}
	return nil
}

const (
	keptLease  = 5 * time.Minute
	startLimit = 20 * time.Second
	pause      = 20 * time.Millisecond // between two locks
)

func (c guarded) play() error {
	take, err := c.start()
	if err != nil {
		return err
	}
	kept := "sentinel:" + c.name + ":kept"
	release, err := take(kept)
	if err != nil {
		return err
	}
	c.say("ready", 0)
	down := make(chan time.Time, 1)
	go func() {
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n') // the end of the input ends the wait, too
		down <- time.Now()
	}()
	stuck, err := c.lockUntilBack(take, down)
	if err == nil {
		if _, second := take(kept); !errors.Is(second, errTaken) {
			err = fmt.Errorf("the lock that was held: %w", errors.Join(errSecondOwner, second))
		}
	}
	if err == nil {
		err = release()
	}
	saw := "ok"
	if err != nil {
		saw = "error: " + err.Error()
	}
	c.say(saw, stuck)
	return nil
}

// start makes the client, and takes a lock. While all clients start at once, a second may be too short for that: so it
// tries again.
func (c guarded) start() (take taker, err error) {
	end := time.Now().Add(startLimit)
	for n := 0; ; n-- { // what a failed attempt has left behind is in nobody's way
		take, err = c.open(os.Getenv("SENTINEL_MASTER"), strings.Split(os.Getenv("SENTINELS"), ","))
		if err == nil {
			err = c.lockOnce(take, n)
		}
		if err == nil || time.Now().After(end) {
			return take, err
		}
	}
}

// lockUntilBack takes locks until one succeeds that began after the master was lost. It returns how long that took.
func (c guarded) lockUntilBack(take taker, down <-chan time.Time) (stuck time.Duration, err error) {
	var lost time.Time
	for n := 1; ; n++ {
		select {
		case lost = <-down:
		case <-time.After(pause):
		}
		err := c.lockOnce(take, n)
		switch {
		case errors.Is(err, errSecondOwner):
			return 0, err
		case err == nil && !lost.IsZero():
			return time.Since(lost), nil
		}
	}
}

// lockOnce takes a lock with a key of its own, is refused a second time, and releases it.
func (c guarded) lockOnce(take taker, n int) error {
	key := fmt.Sprintf("sentinel:%s:%d", c.name, n)
	release, err := take(key)
	if err != nil {
		return err
	}
	if _, err := take(key); err == nil {
		return errSecondOwner
	} else if !errors.Is(err, errTaken) {
		return err
	}
	return release()
}

func (c guarded) say(saw string, stuck time.Duration) {
	line, _ := json.Marshal(map[string]any{"client": c.client, "saw": saw, "stuck": stuck.Milliseconds()})
	fmt.Println(string(line))
}

func failoverClient(master string, sentinels []string) *goredis.Client {
	return goredis.NewFailoverClient(&goredis.FailoverOptions{
		MasterName: master, SentinelAddrs: sentinels, DialTimeout: patience, ReadTimeout: patience, WriteTimeout: patience,
	})
}

func redsyncThroughSentinel(master string, sentinels []string) (taker, error) {
	rs := redsync.New(goredispool.NewPool(failoverClient(master, sentinels)))
	return func(key string) (func() error, error) {
		m := rs.NewMutex(key, redsync.WithExpiry(keptLease))
		err := m.TryLock()
		if redsyncTaken(err) {
			err = errTaken
		}
		return func() error {
			_, err := m.Unlock()
			return err
		}, err
	}, nil
}

func redislockThroughSentinel(master string, sentinels []string) (taker, error) {
	locks := bsm.New(failoverClient(master, sentinels))
	return func(key string) (func() error, error) {
		held, err := locks.Obtain(context.Background(), key, keptLease, nil)
		if errors.Is(err, bsm.ErrNotObtained) {
			err = errTaken
		}
		return func() error { return held.Release(context.Background()) }, err
	}, nil
}

// There are two lockers, because one alone remembers what it holds, and would not ask the server.
func rueidislockThroughSentinel(master string, sentinels []string) (taker, error) {
	var lockers [2]rueidislocker.Locker
	for i := range lockers {
		var err error
		lockers[i], err = rueidislocker.NewLocker(rueidislocker.LockerOption{
			KeyMajority: 1, KeyValidity: keptLease,
			ClientOption: rueidis.ClientOption{
				InitAddress: sentinels, Sentinel: rueidis.SentinelOption{MasterSet: master}, ConnWriteTimeout: patience,
			},
		})
		if err != nil {
			return nil, err
		}
	}
	tried := map[string]bool{}
	return func(key string) (func() error, error) {
		locker := lockers[0]
		if tried[key] {
			locker = lockers[1]
		}
		tried[key] = true
		ctx, release, err := locker.TryWithContext(context.Background(), key)
		if errors.Is(err, rueidislocker.ErrNotLocked) {
			err = errTaken
		}
		return func() error {
			defer release()
			return ctx.Err()
		}, err
	}, nil
}
