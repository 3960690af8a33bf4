package miniredistest_test

import (
	"errors"
	"time"

	"github.com/miniredisd/miniredisd/miniredistest"
)

// The clients in this file and the next are wrong, each in one way that lock clients have been wrong in.

// deletes does not compare the token when it releases.
func deletes(w *miniredistest.Worker, r *room) error {
	h := newPatient(w)
	defer h.close()
	if err := retry(h.take); err != nil {
		return err
	}
	r.work(w, nil)
	_, err := h.do("DEL", theLock)
	return err
}

// looksThenDeletes compares the token, but in a request of its own.
func looksThenDeletes(w *miniredistest.Worker, r *room) error {
	h := newPatient(w)
	defer h.close()
	if err := retry(h.take); err != nil {
		return err
	}
	r.work(w, nil)
	v, err := h.do("GET", theLock)
	if err != nil || v.Str != h.token {
		return err
	}
	_, err = h.do("DEL", theLock)
	return err
}

// renewsAny does not compare the token when it renews: it may renew the lock of another.
func renewsAny(w *miniredistest.Worker, r *room) error {
	h := newPatient(w)
	defer h.close()
	if err := retry(h.take); err != nil {
		return err
	}
	stop := make(chan struct{})
	lost := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-stop:
				return
			case <-time.After(400 * time.Millisecond):
			}
			if v, err := h.do("PEXPIRE", theLock, ms(lease)); err != nil || v.Int != 1 {
				close(lost)
				return
			}
		}
	}()
	r.work(w, lost)
	close(stop)
	<-ended
	return h.release()
}

// forgetsItsToken takes a lost reply for a refusal, and tries again with a new token. It does not wait for long.
func forgetsItsToken(w *miniredistest.Worker, r *room) error {
	h := newPatient(w)
	defer h.close()
	for try := 1; ; try++ {
		h.newToken()
		h.until = time.Now().Add(lease)
		if v, err := h.do("SET", theLock, h.token, "NX", "PX", ms(lease)); err == nil && !v.Null {
			break
		}
		if try == 4 {
			return errTaken
		}
		time.Sleep(poll)
	}
	r.work(w, nil)
	return h.release()
}

// releasesAnyway releases in a defer that also runs if it has no lock.
func releasesAnyway(w *miniredistest.Worker, r *room) error {
	h := newPatient(w)
	defer h.close()
	defer func() { _, _ = h.do("DEL", theLock) }()
	for {
		got, err := h.take()
		if err != nil {
			return err
		}
		if got {
			break
		}
		time.Sleep(poll)
	}
	r.work(w, nil)
	return nil
}

// neverStopsItsWatchdog leaves its watchdog running if the release fails.
func neverStopsItsWatchdog(w *miniredistest.Worker, r *room) error {
	h := newPatient(w)
	defer h.close()
	if err := retry(h.take); err != nil {
		return err
	}
	stop, lost := make(chan struct{}), make(chan struct{})
	go h.renew(stop, lost)
	r.work(w, lost)
	if _, err := h.do("EVAL", compareAndDelete, "1", theLock, h.token); err != nil {
		return err
	}
	close(stop)
	return nil
}

// waitsForEver waits for a message without a timeout.
func waitsForEver(w *miniredistest.Worker, r *room) error {
	h := newPatient(w)
	defer h.close()
	ear := newPeer(w)
	defer ear.close()
	if _, err := ear.do("SUBSCRIBE", theChannel); err != nil {
		return err
	}
	for {
		got, err := h.take()
		if err != nil {
			return err
		}
		if got {
			break
		}
		if _, err := ear.read(0); err != nil {
			return err
		}
	}
	r.work(w, nil)
	_, err := h.do("EVAL", releaseAndTell, "2", theLock, theChannel, h.token)
	return err
}

// knowsNoNOSCRIPT renews by EVALSHA, and takes every error for one that will pass.
func knowsNoNOSCRIPT(w *miniredistest.Worker, r *room) error {
	h := newPatient(w)
	defer h.close()
	sha, err := h.do("SCRIPT", "LOAD", compareAndExpire)
	if err != nil {
		return err
	}
	if err := retry(h.take); err != nil {
		return err
	}
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		dog := newPeer(w)
		defer dog.close()
		for {
			select {
			case <-stop:
				return
			case <-time.After(2 * time.Second):
			}
			_, _ = dog.do("EVALSHA", sha.Str, "1", theLock, h.token, ms(lease))
		}
	}()
	for range 8 { // longer than a lease
		r.work(w, nil)
	}
	close(stop)
	<-ended
	return h.release()
}

// takesErrorsForSuccess looks only for the nil of a refusal.
func takesErrorsForSuccess(w *miniredistest.Worker, r *room) error {
	h := newPatient(w)
	defer h.close()
	take := func() (bool, error) {
		h.newToken()
		h.until = time.Now().Add(lease)
		v, err := h.do("SET", theLock, h.token, "NX", "PX", ms(lease))
		var said refused
		if err != nil && !errors.As(err, &said) {
			return h.look(), err
		}
		return !v.Null, nil
	}
	if err := retry(take); err != nil {
		return err
	}
	r.work(w, nil)
	return h.release()
}
