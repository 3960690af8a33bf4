package grade

import (
	"strconv"
	"strings"
	"testing"
)

// redlock is a lock on several masters. Programs change one of its steps.
type redlock struct {
	*owner
	value string

	quorum int  // masters that must grant
	keep   bool // a refused take leaves what it got
	fence  func(r *redlock) (int, bool)
}

const raise = "if tonumber(redis.call('GET', KEYS[1]) or 0) < tonumber(ARGV[1]) then " +
	"redis.call('SET', KEYS[1], ARGV[1]) end return 1"

func (r *redlock) fenceKey() string { return r.key + ":fence" }

// fenceOfMajority asks every master, takes the largest number, and tells it to all.
func fenceOfMajority(r *redlock) (largest int, ok bool) {
	answers := 0
	for _, m := range r.masters {
		if v, err := m.do("INCR", r.fenceKey()); err == nil {
			answers++
			largest = max(largest, int(v.Int))
		}
	}
	told := 0
	for _, m := range r.masters {
		if _, err := m.do("EVAL", raise, "1", r.fenceKey(), strconv.Itoa(largest)); err == nil {
			told++
		}
	}
	return largest, answers > len(r.masters)/2 && told > len(r.masters)/2
}

func fenceOfFirst(r *redlock) (int, bool) {
	v, err := r.masters[0].do("INCR", r.fenceKey())
	return int(v.Int), err == nil
}

func (r *redlock) take() (bool, error) {
	number, ok := 0, true
	if r.fence != nil {
		number, ok = r.fence(r)
	}
	if !ok {
		return false, nil
	}
	r.value = strconv.Itoa(number) + ":" + token()
	if r.fence == nil {
		r.value = strings.ToLower(token())
	}
	got := 0
	for _, m := range r.masters {
		if v, err := m.do("SET", r.key, r.value, "NX", "PX", r.lease); err == nil && v.Str == "OK" {
			got++
		}
	}
	if got >= r.quorum {
		return true, nil
	}
	if !r.keep {
		r.drop()
	}
	return false, nil
}

func (r *redlock) drop() (dropped int) {
	for _, m := range r.masters {
		if v, err := m.do("EVAL", compareAndDelete, "1", r.key, r.value); err == nil {
			dropped += int(v.Int)
		}
	}
	return dropped
}

func (r *redlock) release() (bool, error) { return r.drop() >= r.quorum, nil }

func lab11Students() map[string]func() {
	with := func(change func(*redlock)) func() {
		return play("a lock in Go", func(o *owner) lock {
			r := &redlock{owner: o, quorum: len(o.masters)/2 + 1, fence: fenceOfMajority}
			change(r)
			return r
		})
	}
	return map[string]func(){
		"L11/right":      with(func(*redlock) {}),
		"L11/all":        with(func(r *redlock) { r.quorum = len(r.masters) }),
		"L11/one":        with(func(r *redlock) { r.masters, r.quorum = r.masters[:1], 1 }),
		"L11/left-over":  with(func(r *redlock) { r.keep = true }),
		"L11/no-number":  with(func(r *redlock) { r.fence = nil }),
		"L11/one-number": with(func(r *redlock) { r.fence = fenceOfFirst }),
	}
}

func TestAMajorityHoldsTheLockAndItsTokenGrows(t *testing.T) {
	t.Parallel()
	full(t, "L11", "right")
	loses(t, "L11", "all", map[int]string{3: "Two of five masters are down: `take a` answered `refused`"})
	loses(t, "L11", "one", map[int]string{1: "1 of 5 masters have the lock"})
	loses(t, "L11", "left-over", map[int]string{
		2: "b got a minority and was refused. It has left its lock there",
	})
	loses(t, "L11", "no-number", map[int]string{5: "It should begin with the fencing token and a colon"})
	loses(t, "L11", "one-number", map[int]string{5: "Grant number 2 has the fencing token 1, and the one before had 1"})
}
