package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// topologyArg is the first argument of this program if it takes locks in a cluster or through Sentinel, for
// clients/interop/topology.
const topologyArg = "topology"

const recovery = 75 * time.Second // until the client has to have found the new master

// spread is a client that knows several servers.
type spread struct {
	take taker
	get  func(ctx context.Context, key string) (string, error) // "" if there is none
	set  func(ctx context.Context, key, value string) error
	// tell deletes a lock and sends a message to its waiters.
	tell func(ctx context.Context, key, token string) error
	// listen returns once the subscription stands. heard gets a value for each message, until ctx ends.
	listen func(ctx context.Context, command, channel string, heard chan<- string) error
	// publish sends a message to the subscribers of a shard channel.
	publish func(ctx context.Context, channel string) error
	answers *bufio.Reader
}

// inTopology prints the names of the clients, or plays the scenes of one.
func inTopology(args []string) error {
	for _, c := range spreadClients() {
		switch {
		case len(args) == 0:
			fmt.Println(c.name)
		case args[0] == c.name:
			return c.play()
		}
	}
	return nil
}

func (c spreadClient) play() error {
	inCluster := os.Getenv("MODE") == "cluster"
	s, err := c.open(inCluster, os.Getenv("MASTER"), strings.Split(os.Getenv("ADDRESSES"), ","))
	if err != nil {
		return err
	}
	s.answers = bufio.NewReader(os.Stdin)
	for _, scene := range []struct {
		name string
		play func() error
	}{
		{"connect", s.connect}, {"lock", s.lock}, {"contention", s.contention}, {"wake-up", s.wakeUp}, {"shard", s.shard},
		{"slot", s.slot}, {"failover", s.failover},
	} {
		if !inCluster && (scene.name == "slot" || scene.name == "shard") {
			continue
		}
		saw := "ok"
		if err := scene.play(); err != nil {
			saw = "error: " + err.Error()
		}
		said, _ := json.Marshal(map[string]string{"client": c.client, "scene": scene.name, "saw": saw})
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

// refused checks that a lock is held.
func (s *spread) refused(key string) error {
	_, err := s.take(key)
	switch {
	case err == nil:
		return errSecondOwner
	case errors.Is(err, errTaken):
		return nil
	}
	return err
}

// passes checks that a lock is refused, and releases it.
func (s *spread) passes(key string, release func() error) error {
	if err := s.refused(key); err != nil {
		return err
	}
	return release()
}

func (s *spread) connect() error {
	if err := s.set(context.Background(), "connect", "1"); err != nil {
		return err
	}
	value, err := s.get(context.Background(), "connect")
	if err == nil && value != "1" {
		err = fmt.Errorf("another value comes back: %q", value)
	}
	return err
}

func (s *spread) lock() error {
	release, err := s.take("lock")
	if err != nil {
		return err
	}
	return s.passes("lock", release)
}

func (s *spread) contention() error {
	const workers, rounds = 4, 10
	ctx := context.Background()
	var all sync.WaitGroup
	errs := make([]error, workers)
	for i := range workers {
		all.Go(func() {
			for n := 0; n < rounds && errs[i] == nil; n++ {
				release, err := s.take("busy")
				for ; errors.Is(err, errTaken); release, err = s.take("busy") {
					time.Sleep(5 * time.Millisecond)
				}
				if errs[i] = err; err != nil {
					return
				}
				text, _ := s.get(ctx, "{busy}:n")
				count, _ := strconv.Atoi(text) // none at first
				errs[i] = errors.Join(s.set(ctx, "{busy}:n", strconv.Itoa(count+1)), release())
			}
		})
	}
	all.Wait()
	text, err := s.get(ctx, "{busy}:n")
	if err = errors.Join(append(errs, err)...); err == nil && text != strconv.Itoa(workers*rounds) {
		err = fmt.Errorf("an update is lost: %s", text)
	}
	return err
}

func (s *spread) wakeUp() error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	defer cancel()
	heard := make(chan string, 1)
	if err := s.listen(ctx, "SUBSCRIBE", "woken:free", heard); err != nil {
		return err
	}
	if err := s.set(ctx, "woken", "a"); err != nil {
		return err
	}
	if err := s.tell(ctx, "woken", "a"); err != nil {
		return err
	}
	return awaitMessage(ctx, heard)
}

func awaitMessage(ctx context.Context, heard <-chan string) error {
	select {
	case <-heard:
		return nil
	case <-ctx.Done():
		return errors.New("there is no message")
	}
}

// shard subscribes to a shard channel. A connection that ends has to be made anew, with its subscription.
func (s *spread) shard() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*patience)
	defer cancel()
	heard := make(chan string, 1)
	if err := s.listen(ctx, "SSUBSCRIBE", "shard", heard); err != nil {
		return err
	}
	if err := s.publish(ctx, "shard"); err != nil {
		return err
	}
	if err := awaitMessage(ctx, heard); err != nil {
		return err
	}
	if err := s.ask("cut", "shard"); err != nil {
		return err
	}
	for again := time.NewTicker(100 * time.Millisecond); ; {
		if err := s.publish(ctx, "shard"); err != nil {
			return err
		}
		select {
		case <-heard:
			return nil
		case <-again.C:
		case <-ctx.Done():
			return errors.New("after a cut there is no message")
		}
	}
}

func (s *spread) slot() error {
	for _, step := range []string{"move", "finish"} { // ASK, then MOVED
		release, err := s.take("moved")
		if err == nil {
			err = s.ask(step, "moved")
		}
		if err == nil {
			err = s.passes("moved", release)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", step, err)
		}
	}
	return nil
}

func (s *spread) failover() error {
	release, err := s.take("kept")
	if err != nil {
		return err
	}
	if err := s.ask("failover", "kept"); err != nil {
		return err
	}
	for end := time.Now().Add(recovery); ; time.Sleep(100 * time.Millisecond) {
		err := s.passes("kept", release)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, errSecondOwner), time.Now().After(end):
			return fmt.Errorf("after the failover: %w", err)
		}
	}
}
