package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/go-redsync/redsync/v4"
	goredispool "github.com/go-redsync/redsync/v4/redis/goredis/v9"
	goredis "github.com/redis/go-redis/v9"
)

// topologyArg is the first argument of this program if it takes locks in a cluster or through Sentinel, for
// clients/interop/topology.
const topologyArg = "topology"

const (
	recovery    = 75 * time.Second // until the client has to have found the new master
	freeAndTell = `if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('publish', ARGV[2], 'free') ` +
		`return redis.call('del', KEYS[1]) end return 0`
)

// spread is redsync over a client of go-redis that knows several servers.
type spread struct {
	client  goredis.UniversalClient
	locks   *redsync.Redsync
	answers *bufio.Reader
}

// inTopology prints the name of the client, or plays its scenes.
func inTopology(args []string) error {
	if len(args) == 0 {
		fmt.Println("redsync")
		return nil
	}
	addrs := strings.Split(os.Getenv("ADDRESSES"), ",")
	inCluster := os.Getenv("MODE") == "cluster"
	s := &spread{answers: bufio.NewReader(os.Stdin)}
	if inCluster {
		s.client = goredis.NewClusterClient(&goredis.ClusterOptions{
			Addrs: addrs, DialTimeout: patience, ReadTimeout: patience,
		})
	} else {
		s.client = failoverClient(os.Getenv("MASTER"), addrs)
	}
	s.locks = redsync.New(goredispool.NewPool(s.client))
	for _, scene := range []struct {
		name string
		play func() error
	}{
		{"connect", s.connect}, {"lock", s.lock}, {"contention", s.contention}, {"wake-up", s.wakeUp}, {"slot", s.slot},
		{"failover", s.failover},
	} {
		if scene.name == "slot" && !inCluster {
			continue
		}
		saw := "ok"
		if err := scene.play(); err != nil {
			saw = "error: " + err.Error()
		}
		name := redsyncName("go-redis", "github.com/redis/go-redis/v9")
		said, _ := json.Marshal(map[string]string{"client": name, "scene": scene.name, "saw": saw})
		fmt.Println(string(said))
	}
	return nil
}

// ask lets something happen to a key, and waits for it.
func (s *spread) ask(what, key string) error {
	said, _ := json.Marshal(map[string]string{"ask": what, "key": key})
	fmt.Println(string(said))
	_, err := s.answers.ReadString('\n')
	return err
}

// take takes a lock for a new owner, without waiting.
func (s *spread) take(key string) (*redsync.Mutex, error) {
	m := s.locks.NewMutex(key, redsync.WithExpiry(keptLease))
	return m, m.TryLock()
}

// refused checks that a lock is held.
func (s *spread) refused(key string) error {
	_, err := s.take(key)
	switch {
	case err == nil:
		return errSecondOwner
	case redsyncTaken(err):
		return nil
	}
	return err
}

// passes checks that a lock is refused, and releases it.
func (s *spread) passes(key string, m *redsync.Mutex) error {
	if err := s.refused(key); err != nil {
		return err
	}
	_, err := m.Unlock()
	return err
}

func (s *spread) connect() error {
	if err := s.client.Set(context.Background(), "connect", 1, 0).Err(); err != nil {
		return err
	}
	return s.client.Get(context.Background(), "connect").Err()
}

func (s *spread) lock() error {
	m, err := s.take("lock")
	if err != nil {
		return err
	}
	return s.passes("lock", m)
}

func (s *spread) contention() error {
	const workers, rounds = 4, 10
	ctx := context.Background()
	var all sync.WaitGroup
	errs := make([]error, workers)
	for i := range workers {
		all.Go(func() {
			for n := 0; n < rounds && errs[i] == nil; n++ {
				m := s.locks.NewMutex("busy", redsync.WithExpiry(keptLease), redsync.WithTries(1000),
					redsync.WithRetryDelay(5*time.Millisecond))
				if errs[i] = m.Lock(); errs[i] != nil {
					return
				}
				count, _ := s.client.Get(ctx, "{busy}:n").Int() // none at first
				errs[i] = s.client.Set(ctx, "{busy}:n", count+1, 0).Err()
				_, err := m.Unlock()
				errs[i] = errors.Join(errs[i], err)
			}
		})
	}
	all.Wait()
	count, err := s.client.Get(ctx, "{busy}:n").Int()
	if err = errors.Join(append(errs, err)...); err == nil && count != workers*rounds {
		err = fmt.Errorf("an update is lost: %d", count)
	}
	return err
}

func (s *spread) wakeUp() error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	defer cancel()
	sub := s.client.Subscribe(ctx, "woken:free")
	defer sub.Close()
	if _, err := sub.Receive(ctx); err != nil {
		return err
	}
	if err := s.client.SetNX(ctx, "woken", "a", keptLease).Err(); err != nil {
		return err
	}
	if err := s.client.Eval(ctx, freeAndTell, []string{"woken"}, "a", "woken:free").Err(); err != nil {
		return err
	}
	_, err := sub.ReceiveMessage(ctx)
	return err
}

func (s *spread) slot() error {
	for _, step := range []string{"move", "finish"} { // ASK, then MOVED
		m, err := s.take("moved")
		if err == nil {
			err = s.ask(step, "moved")
		}
		if err == nil {
			err = s.passes("moved", m)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", step, err)
		}
	}
	return nil
}

func (s *spread) failover() error {
	m, err := s.take("kept")
	if err != nil {
		return err
	}
	if err := s.ask("failover", "kept"); err != nil {
		return err
	}
	for end := time.Now().Add(recovery); ; time.Sleep(100 * time.Millisecond) {
		err := s.passes("kept", m)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, errSecondOwner), time.Now().After(end):
			return fmt.Errorf("after the failover: %w", err)
		}
	}
}
