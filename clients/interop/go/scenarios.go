package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/gomodule/redigo/redis"
)

const (
	shortLease   = 300 * time.Millisecond
	renewedLease = 600 * time.Millisecond // a busy machine may be late by more than half of a short one
	workers      = 16
	rounds       = 5
)

// scene is what most scenarios need: two lockers of the same lock, and a connection to look at the
// server.
type scene struct {
	library
	env *env
	opening
	server *server
	a, b   locker
	name   string
	key    string
}

func lockCells(l library) []cell {
	cells := []cell{
		l.cell("acquire-release", opening{}, acquireRelease),
		l.cell("contention", opening{}, contention),
		l.cell("expiry", opening{lease: shortLease}, expiry),
		l.cell("watchdog", opening{lease: renewedLease}, watchdog),
		l.cell("stranger", opening{}, stranger),
		l.cell("try-timeout", opening{}, tryTimeout),
		l.cell("script-lost", opening{}, scriptLost),
		l.cell("reconnect", opening{}, reconnect),
	}
	if l.wakes {
		cells = append(cells, l.cell("wakeup", opening{}, wakeup))
	}
	for _, p := range l.protocols {
		cells = append(cells, l.cell(fmt.Sprintf("resp%d", p), opening{protocol: p}, speaks))
	}
	return cells
}

// cell makes the scene, runs the scenario, and closes the scene.
func (l library) cell(scenario string, o opening, do func(context.Context, *scene) error) cell {
	return cell{client: l.client, scenario: scenario, do: func(ctx context.Context, env *env) (err error) {
		s := &scene{library: l, env: env, opening: o,
			name: fmt.Sprintf("interop:%s:%s:%d", l.client, scenario, os.Getpid())}
		if s.server, err = dial(ctx, env.addr); err != nil {
			return err
		}
		defer s.server.close()
		if s.a, err = l.open(env, o); err != nil {
			return err
		}
		defer s.a.close()
		if s.b, err = l.open(env, o); err != nil {
			return err
		}
		defer s.b.close()
		s.key = s.a.key(s.name)
		defer s.server.do("DEL", s.key, s.counter())
		return do(ctx, s)
	}}
}

func (s *scene) counter() string { return s.name + ":counter" }

func (s *scene) takeAndRelease(ctx context.Context) error {
	h, err := s.a.take(ctx, s.name)
	if err != nil {
		return fmt.Errorf("take: %w", err)
	}
	if err := s.server.wantKey(s.key, true, "while held"); err != nil {
		return err
	}
	if err := h.release(ctx); err != nil {
		return fmt.Errorf("release: %w", err)
	}
	return s.server.wantKey(s.key, false, "after the release")
}

// refused fails unless the other locker finds the lock taken.
func (s *scene) refused(ctx context.Context, when string) error {
	switch _, err := s.b.try(ctx, s.name); {
	case err == nil:
		return fmt.Errorf("%s another one got the lock", when)
	case !errors.Is(err, errTaken):
		return fmt.Errorf("%s: %w", when, err)
	}
	return nil
}

func acquireRelease(ctx context.Context, s *scene) error {
	if err := s.takeAndRelease(ctx); err != nil {
		return err
	}
	h, err := s.a.take(ctx, s.name)
	if err != nil {
		return err
	}
	if err := s.refused(ctx, "while it was held"); err != nil {
		return err
	}
	return h.release(ctx)
}

// contention gives half of its workers to each locker.
func contention(ctx context.Context, s *scene) error {
	var wg sync.WaitGroup
	errs := make(chan error, workers)
	for i := range workers {
		l := s.a
		if i%2 == 1 {
			l = s.b
		}
		wg.Go(func() { errs <- s.work(ctx, l) })
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			return err
		}
	}
	n, err := redis.Int(s.server.conn.Do("GET", s.counter()))
	if err == nil && n != workers*rounds {
		err = fmt.Errorf("%d updates were lost", workers*rounds-n)
	}
	return err
}

func (s *scene) work(ctx context.Context, l locker) error {
	mine, err := dial(ctx, s.env.addr)
	if err != nil {
		return err
	}
	defer mine.close()
	for range rounds {
		h, err := l.take(ctx, s.name)
		if err != nil {
			return fmt.Errorf("take: %w", err)
		}
		if err := mine.increment(s.counter()); err != nil {
			return err
		}
		if err := h.release(ctx); err != nil {
			return fmt.Errorf("release: %w", err)
		}
	}
	return nil
}

func expiry(ctx context.Context, s *scene) error {
	began := time.Now()
	if _, err := s.a.take(ctx, s.name); err != nil {
		return err
	}
	s.a.vanish()
	if err := s.refused(ctx, "before the lease was over"); err != nil {
		return err
	}
	h, err := s.b.take(ctx, s.name)
	if err != nil {
		return fmt.Errorf("after the lease: %w", err)
	}
	// The server keeps whole milliseconds, and the lease of the client began a little earlier.
	if waited := time.Since(began); waited < shortLease-5*time.Millisecond {
		return fmt.Errorf("the lock was free after %v, its lease is %v", waited, shortLease)
	}
	return h.release(ctx)
}

func watchdog(ctx context.Context, s *scene) error {
	h, err := s.a.take(ctx, s.name)
	if err != nil {
		return err
	}
	for began := time.Now(); time.Since(began) < 2*renewedLease; time.Sleep(renewedLease / 4) {
		if h.extend != nil {
			if err := h.extend(ctx); err != nil {
				return fmt.Errorf("extend: %w", err)
			}
		}
		if err := s.refused(ctx, "while the lock was being renewed"); err != nil {
			return err
		}
	}
	return h.release(ctx)
}

// stranger passes the lock to another owner. The first owner, which believes that it holds the
// lock, must not be able to release it.
func stranger(ctx context.Context, s *scene) error {
	h, err := s.a.take(ctx, s.name)
	if err != nil {
		return err
	}
	if err := s.server.do("SET", s.key, "of a stranger"); err != nil {
		return err
	}
	if err := h.release(ctx); !s.renews && !errors.Is(err, errNotHeld) {
		return fmt.Errorf("release of a stranger's lock: %v", err)
	}
	return s.server.wantKey(s.key, true, "after a stranger's release")
}

func tryTimeout(ctx context.Context, s *scene) error {
	const limit = 300 * time.Millisecond
	h, err := s.a.take(ctx, s.name)
	if err != nil {
		return err
	}
	short, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	began := time.Now()
	_, err = s.b.take(short, s.name)
	waited := time.Since(began)
	switch {
	case err == nil:
		return errors.New("got a lock that is held")
	case !errors.Is(err, errTaken):
		return err
	case waited < limit/2 || waited > 10*limit:
		return fmt.Errorf("gave up after %v, with a limit of %v", waited, limit)
	}
	return h.release(ctx)
}

func scriptLost(ctx context.Context, s *scene) error {
	for range 2 {
		if err := s.takeAndRelease(ctx); err != nil {
			return err
		}
		if err := s.server.loseScripts(); err != nil {
			return err
		}
	}
	h, err := s.a.take(ctx, s.name)
	if err != nil {
		return err
	}
	if err := s.server.loseScripts(); err != nil {
		return err
	}
	if err := h.release(ctx); err != nil {
		return fmt.Errorf("release without its script: %w", err)
	}
	return s.server.wantKey(s.key, false, "after the release")
}

func reconnect(ctx context.Context, s *scene) error {
	if err := s.takeAndRelease(ctx); err != nil {
		return err
	}
	if err := s.server.killOthers(); err != nil {
		return err
	}
	// A client without retries may only now notice that its connection is gone.
	if h, err := s.a.take(ctx, s.name); err == nil {
		if err := h.release(ctx); err != nil {
			return fmt.Errorf("release on a new connection: %w", err)
		}
	}
	if err := s.server.do("DEL", s.key); err != nil {
		return err
	}
	return s.takeAndRelease(ctx)
}

// wakeup lets a waiter get a message at the release. The library has no polling that could replace
// it. It has only the lease, which is longer than the time limit of the cell.
func wakeup(ctx context.Context, s *scene) error {
	h, err := s.a.take(ctx, s.name)
	if err != nil {
		return err
	}
	type got struct {
		h   *held
		err error
	}
	waiter := make(chan got, 1)
	go func() {
		h, err := s.b.take(ctx, s.name)
		waiter <- got{h, err}
	}()
	select {
	case g := <-waiter:
		return fmt.Errorf("the waiter did not wait (%v)", g.err)
	case <-time.After(200 * time.Millisecond):
	}
	if err := h.release(ctx); err != nil {
		return err
	}
	select {
	case g := <-waiter:
		if g.err != nil {
			return g.err
		}
		return g.h.release(ctx)
	case <-time.After(2 * time.Second):
		return errors.New("the waiter was not woken within 2 s of the release")
	}
}

func speaks(ctx context.Context, s *scene) error {
	if err := s.takeAndRelease(ctx); err != nil {
		return err
	}
	resp, err := s.a.resp(ctx)
	if err != nil {
		return err
	}
	if resp != s.protocol {
		return fmt.Errorf("the connection speaks RESP%d", resp)
	}
	return nil
}
