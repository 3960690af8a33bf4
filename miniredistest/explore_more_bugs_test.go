package miniredistest_test

import (
	"fmt"
	"time"

	"github.com/miniredisd/miniredisd/miniredistest"
)

// takesThenExpires needs two requests for a lock with a lease.
func takesThenExpires(w *miniredistest.Worker, r *room) error {
	h := newPatient(w)
	defer h.close()
	h.newToken()
	take := func() (bool, error) {
		v, err := h.do("SETNX", theLock, h.token)
		if err != nil || v.Int != 1 {
			return false, err
		}
		_, err = h.do("PEXPIRE", theLock, ms(lease))
		return err == nil, err
	}
	if err := retry(take); err != nil {
		return err
	}
	h.until = time.Now().Add(lease)
	r.work(w, nil)
	return h.release()
}

// forgetsToRelease returns an error of its work without a release.
func forgetsToRelease(w *miniredistest.Worker, r *room) error {
	h := newPatient(w)
	defer h.close()
	if err := retry(h.take); err != nil {
		return err
	}
	r.work(w, nil)
	left, err := h.do("PTTL", theLock)
	if err != nil {
		return fmt.Errorf("how much time is left: %w", err)
	}
	if left.Int < 1000 {
		w.Logf("%s was almost too late", w.Name)
	}
	return h.release()
}

// forgetsValidity believes in a majority, however long it took to get it.
func forgetsValidity(w *miniredistest.Worker, r *room) error {
	v := newVotes(w, 2*lease)
	defer v.close()
	take := func() (bool, error) {
		if v.take() > len(v)/2 {
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

// keepsItsMinority does not give back what it got of a lock that it did not get.
func keepsItsMinority(w *miniredistest.Worker, r *room) error {
	v := newVotes(w, patience)
	defer v.close()
	for try := 1; v.take() <= len(v)/2; try++ {
		if try == 3 {
			return errTaken // and the votes stay
		}
		time.Sleep(poll)
	}
	r.work(w, nil)
	v.release()
	return nil
}

// permits is how many clients the semaphore of leaksAPermit lets in.
const permits = 2

// leaksAPermit gives back a permit only if nothing went wrong.
func leaksAPermit(w *miniredistest.Worker, _ *room) error {
	const permit = `if tonumber(redis.call('get', KEYS[1]) or '0') < tonumber(ARGV[1]) then ` +
		`return redis.call('incr', KEYS[1]) end return 0`
	h := newPatient(w)
	defer h.close()
	take := func() (bool, error) {
		v, err := h.do("EVAL", permit, "1", theLock, fmt.Sprint(permits))
		return v.Int > 0, err
	}
	if err := retry(take); err != nil {
		return err
	}
	time.Sleep(time.Second)
	_, err := h.do("DECR", theLock)
	return err
}

// countPermits asserts that all permits are there again when the workers have ended.
func countPermits(test func(*miniredistest.Trial)) func(*miniredistest.Trial) {
	return func(t *miniredistest.Trial) {
		test(t)
		t.Wait()
		if taken := t.Server().Do("GET", theLock).Str; taken != "0" {
			t.Errorf("%s of %d permits are gone", taken, permits)
		}
	}
}

// losesItsCount keeps the count of a re-entrant lock with the connection.
func losesItsCount(w *miniredistest.Worker, r *room) error {
	const enterOnce = `if redis.call('exists', KEYS[1]) == 0 or redis.call('hexists', KEYS[1], ARGV[1]) == 1 then ` +
		`redis.call('pexpire', KEYS[1], ARGV[2], 'NX') local n = redis.call('hincrby', KEYS[1], ARGV[1], 1) ` +
		`redis.call('pexpire', KEYS[1], ARGV[2]) return n end return 0`
	h := newPatient(w)
	defer h.close()
	h.newToken()
	count := 0
	take := func() (bool, error) {
		v, err := h.do("EVAL", enterOnce, "1", theLock, h.token, ms(lease))
		if err != nil {
			count = 0 // the connection is new, and so is its count
			return false, err
		}
		if v.Int > 0 {
			count++
		}
		return v.Int > 0, nil
	}
	release := func() error {
		if count--; count > 0 {
			return nil
		}
		_, err := h.do("DEL", theLock)
		return err
	}
	for range 2 {
		if err := retry(take); err != nil {
			return err
		}
	}
	if err := release(); err != nil {
		return err
	}
	r.work(w, nil)
	return release()
}
