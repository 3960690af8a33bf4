package miniredistest_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/miniredisd/miniredisd/miniredistest"
)

// holder is a lock that is right: it has a token of its own, and knows how long it may believe in its lease.
type holder struct {
	*peer
	token string
	tries int
	until time.Time // until then the lock is its own, at least
}

func newHolder(w *miniredistest.Worker) *holder { return &holder{peer: newPeer(w)} }

// newPatient returns a holder that waits for a reply for longer than its lease lasts.
func newPatient(w *miniredistest.Worker) *holder {
	h := newHolder(w)
	h.wait = 2 * lease
	return h
}

// newToken gives the next attempt a token of its own.
func (h *holder) newToken() {
	h.tries++
	h.token = fmt.Sprintf("token-of-%s-%d", h.w.Name, h.tries)
}

// take tries to take the lock. If it does not know whether it has it, it looks.
func (h *holder) take() (bool, error) {
	h.newToken()
	begin := time.Now()
	v, err := h.do("SET", theLock, h.token, "NX", "PX", ms(lease))
	got := err == nil && !v.Null
	if err != nil {
		got = h.look()
	}
	h.until = begin.Add(lease)
	if got && time.Until(h.until) < 2*time.Second { // the work would not fit
		_ = h.release()
		return false, errTaken
	}
	return got, err
}

// look reports whether the lock has the token. It asks until it knows, or the lease is over anyway.
func (h *holder) look() bool {
	for begin := time.Now(); time.Since(begin) < lease; time.Sleep(poll / 4) {
		if v, err := h.do("GET", theLock); err == nil {
			return v.Str == h.token
		}
	}
	return false
}

// release deletes the lock if it is its own. It tries again until the lease is over.
func (h *holder) release() error {
	for {
		_, err := h.do("EVAL", compareAndDelete, "1", theLock, h.token)
		if err == nil || time.Now().After(h.until) {
			return err
		}
		time.Sleep(poll / 4)
	}
}

// plain is a right client: SET NX PX, a look after an error, and a release that compares.
func plain(w *miniredistest.Worker, r *room) error {
	h := newHolder(w)
	defer h.close()
	if err := retry(h.take); err != nil {
		return err
	}
	r.work(w, nil)
	return h.release()
}

// watched is a right client whose watchdog renews the lease. Without a renewal it leaves in time.
func watched(w *miniredistest.Worker, r *room) error {
	h := newHolder(w)
	defer h.close()
	if err := retry(h.take); err != nil {
		return err
	}
	stop, lost := make(chan struct{}), make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		h.renew(stop, lost)
	}()
	r.work(w, lost)
	close(stop)
	<-ended
	return h.release()
}

// renew renews the lease until stop. It closes lost while there is still time to leave.
func (h *holder) renew(stop, lost chan struct{}) {
	dog := newPeer(h.w)
	defer dog.close()
	for until := h.until; ; {
		select {
		case <-stop:
			return
		case <-time.After(400 * time.Millisecond):
		}
		begin := time.Now()
		v, err := dog.do("EVAL", compareAndExpire, "1", theLock, h.token, ms(lease))
		if err == nil && v.Int == 1 {
			until = begin.Add(lease)
		}
		if err == nil && v.Int == 0 || time.Until(until) < 2*patience {
			close(lost)
			return
		}
	}
}

const releaseAndTell = `if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('del', KEYS[1]) ` +
	`redis.call('publish', KEYS[2], 'free') end return 0`

const theChannel = theLock + ":free"

// woken is a right client that waits for a message, but never for longer than the lease.
func woken(w *miniredistest.Worker, r *room) error {
	h := newHolder(w)
	defer h.close()
	ear := newPeer(w)
	defer ear.close()
	take := func() (bool, error) {
		if ear.conn == nil {
			if _, err := ear.do("SUBSCRIBE", theChannel); err != nil {
				return false, err
			}
		}
		got, err := h.take()
		if !got && err == nil {
			_, _ = ear.read(lease)
		}
		return got, err
	}
	if err := retry(take); err != nil {
		return err
	}
	ear.close()
	r.work(w, nil)
	for {
		_, err := h.do("EVAL", releaseAndTell, "2", theLock, theChannel, h.token)
		if err == nil || time.Now().After(h.until) {
			return err
		}
		time.Sleep(poll / 4)
	}
}

// votes are the locks of one client at all masters.
type votes []*holder

func newVotes(w *miniredistest.Worker, wait time.Duration) (v votes) {
	for _, addr := range w.Addrs() {
		h := newHolder(w)
		h.addr, h.wait = addr, wait
		v = append(v, h)
	}
	return v
}

// take asks all masters, and returns how many granted the lock.
func (v votes) take() (got int) {
	for _, h := range v {
		h.newToken()
		h.until = time.Now().Add(lease)
		if reply, err := h.do("SET", theLock, h.token, "NX", "PX", ms(lease)); err == nil && !reply.Null {
			got++
		}
	}
	return got
}

func (v votes) release() {
	for _, h := range v {
		_ = h.release()
	}
}

func (v votes) close() {
	for _, h := range v {
		h.close()
	}
}

// redlock is a right client of several masters: it counts what is left of the lease, and gives back what it
// got of a lock that it did not get.
func redlock(w *miniredistest.Worker, r *room) error {
	v := newVotes(w, patience)
	defer v.close()
	take := func() (bool, error) {
		begin := time.Now()
		if v.take() > len(v)/2 && time.Since(begin) < lease-2*time.Second {
			return true, nil
		}
		v.release()
		return false, nil
	}
	if err := retry(take); err != nil {
		return err
	}
	r.work(w, nil)
	v.release()
	return nil
}

const (
	enter = `if redis.call('exists', KEYS[1]) == 0 or redis.call('hexists', KEYS[1], ARGV[1]) == 1 then ` +
		`redis.call('hset', KEYS[1], ARGV[1], ARGV[2]) redis.call('pexpire', KEYS[1], ARGV[3]) return 1 end return 0`
	enterAgain = `if redis.call('hexists', KEYS[1], ARGV[1]) == 1 then ` +
		`redis.call('hset', KEYS[1], ARGV[1], ARGV[2]) redis.call('pexpire', KEYS[1], ARGV[3]) return 1 end return 0`
	leaveOnce = `if redis.call('hexists', KEYS[1], ARGV[1]) == 0 then return 0 end ` +
		`if tonumber(ARGV[2]) > 0 then redis.call('hset', KEYS[1], ARGV[1], ARGV[2]) ` +
		`else redis.call('del', KEYS[1]) end return 1`
)

// reentrant is a right client whose lock is a hash with a count. The client knows the count and sets it, so a
// request may be sent again.
func reentrant(w *miniredistest.Worker, r *room) error {
	h := newHolder(w)
	defer h.close()
	change := func(count int, script string, more ...string) (bool, error) {
		words := append([]string{"EVAL", script, "1", theLock, h.token, fmt.Sprint(count)}, more...)
		v, err := h.do(words...)
		for err != nil && time.Now().Before(h.until) {
			time.Sleep(poll / 4)
			v, err = h.do(words...)
		}
		return v.Int == 1, err
	}
	take := func() (bool, error) {
		h.newToken()
		begin := time.Now()
		h.until = begin.Add(lease - 3*time.Second)
		got, err := change(1, enter, ms(lease))
		h.until = begin.Add(lease)
		return got && time.Since(begin) < lease-2*time.Second, err
	}
	if err := retry(take); err != nil {
		return err
	}
	if got, err := change(2, enterAgain, ms(lease)); err != nil || !got {
		return errors.Join(err, errTaken)
	}
	if _, err := change(1, leaveOnce); err != nil {
		return err
	}
	if time.Until(h.until) > 2*time.Second {
		r.work(w, nil)
	}
	_, err := change(0, leaveOnce)
	return err
}
