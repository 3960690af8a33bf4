package grade

import (
	"errors"
	"os"
	"strconv"
	"testing"
	"time"
)

// waiting is a lock whose take waits. Programs differ in how they wait once SET has refused them.
type waiting struct {
	*owner
	token string
	pause func(w *waiting) error
}

const releaseAndWake = "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end redis.call('DEL', KEYS[1]) " +
	"redis.call('DEL', KEYS[2]) redis.call('LPUSH', KEYS[2], 1) redis.call('PEXPIRE', KEYS[2], 60000) " +
	"redis.call('PUBLISH', KEYS[2], 1) return 1"

func (w *waiting) wakeKey() string { return w.key + ":wake" }

func (w *waiting) take() (bool, error) {
	w.token = token()
	for {
		ok, err := w.try()
		if ok || err != nil {
			return ok, err
		}
		if err := w.pause(w); err != nil {
			return false, err
		}
	}
}

func (w *waiting) try() (bool, error) {
	v, err := w.one("SET", w.key, w.token, "NX", "PX", w.lease)
	return v.Str == "OK", err
}

func (w *waiting) release() (bool, error) {
	v, err := w.one("EVAL", releaseAndWake, "2", w.key, w.wakeKey(), w.token)
	return v.Int == 1, err
}

func poll(*waiting) error {
	time.Sleep(5 * time.Millisecond)
	return nil
}

// blocked waits on a list. The element stays until somebody takes it, so no wake-up is lost.
func blocked(w *waiting) error {
	ms, _ := strconv.ParseFloat(w.lease, 64)
	_, err := w.one("BLPOP", w.wakeKey(), strconv.FormatFloat(ms/1000, 'f', -1, 64))
	return err
}

// subscribed waits for a message, or for the lease. After SUBSCRIBE it tries once more.
func subscribed(again, forEver bool) func(*waiting) error {
	return func(w *waiting) error {
		ear := &link{addr: w.masters[0].addr, name: w.name}
		defer ear.close()
		if _, err := ear.do("SUBSCRIBE", w.wakeKey()); err != nil {
			return err
		}
		if again {
			if v, err := w.one("EXISTS", w.key); err != nil || v.Int == 0 {
				return err
			}
		}
		if !forEver {
			ms, _ := strconv.Atoi(w.lease)
			if err := ear.conn.Net.SetReadDeadline(time.Now().Add(time.Duration(ms) * time.Millisecond)); err != nil {
				return err
			}
		}
		if _, err := ear.conn.Read(); !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
		return nil
	}
}

func lab10Students() map[string]func() {
	with := func(pause func(*waiting) error) func() {
		return play("a lock in Go", func(o *owner) lock { return &waiting{owner: o, pause: pause} })
	}
	return map[string]func(){
		"L10/list":     with(blocked),
		"L10/channel":  with(subscribed(true, false)),
		"L10/poll":     with(poll),
		"L10/deaf":     with(subscribed(false, false)),
		"L10/for-ever": with(subscribed(true, true)),
	}
}

func TestAWaiterSleepsAndIsWoken(t *testing.T) {
	t.Parallel()
	full(t, "L10", "list")
	full(t, "L10", "channel")
	loses(t, "L10", "poll", map[int]string{3: "b polls, with SET after SET"})
	loses(t, "L10", "deaf", map[int]string{
		4: "just before request 2 of the waiter, and b, who waits for it, does not get it",
	})
	loses(t, "L10", "for-ever", map[int]string{5: "The holder died without a word"})
}
