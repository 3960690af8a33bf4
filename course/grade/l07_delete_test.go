package grade

import "testing"

const compareAndDelete = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0"

// simple is a lock with a token and a lease. Programs change one of its steps.
type simple struct {
	*owner
	token string
	drop  func(s *simple) (bool, error)
	fixed bool // every token is the same
}

func (s *simple) take() (bool, error) {
	s.token = token()
	if s.fixed {
		s.token = "locked"
	}
	v, err := s.one("SET", s.key, s.token, "NX", "PX", s.lease)
	return v.Str == "OK", err
}

func (s *simple) release() (bool, error) { return s.drop(s) }

func deleteAtOnce(s *simple) (bool, error) {
	v, err := s.one("DEL", s.key)
	return v.Int == 1, err
}

func compareThenDelete(s *simple) (bool, error) {
	if v, err := s.one("GET", s.key); err != nil || v.Str != s.token {
		return false, err
	}
	return deleteAtOnce(s)
}

func deleteByScript(s *simple) (bool, error) {
	v, err := s.one("EVAL", compareAndDelete, "1", s.key, s.token)
	return v.Int == 1, err
}

// deleteByTransaction is right, too: WATCH makes EXEC fail when the key has changed.
func deleteByTransaction(s *simple) (bool, error) {
	if _, err := s.one("WATCH", s.key); err != nil {
		return false, err
	}
	if v, err := s.one("GET", s.key); err != nil || v.Str != s.token {
		_, _ = s.one("UNWATCH")
		return false, err
	}
	if _, err := s.one("MULTI"); err != nil {
		return false, err
	}
	if _, err := s.one("DEL", s.key); err != nil {
		return false, err
	}
	v, err := s.one("EXEC")
	return !v.Null && len(v.Elems) == 1 && v.Elems[0].Int == 1, err
}

func lab07Students() map[string]func() {
	with := func(drop func(*simple) (bool, error), fixed bool) func() {
		return play("a lock in Go", func(o *owner) lock { return &simple{owner: o, drop: drop, fixed: fixed} })
	}
	return map[string]func(){
		"L07/script":       with(deleteByScript, false),
		"L07/transaction":  with(deleteByTransaction, false),
		"L07/del":          with(deleteAtOnce, false),
		"L07/get-then-del": with(compareThenDelete, false),
		"L07/same-token":   with(deleteByScript, true),
	}
}

func TestReleaseOnlyYourOwnLock(t *testing.T) {
	t.Parallel()
	full(t, "L07", "script")
	full(t, "L07", "transaction")
	loses(t, "L07", "del", map[int]string{
		5: "It deleted the lock of b",
		6: "just before request 1 of its release, and b took the lock. It deleted the lock of b",
	})
	loses(t, "L07", "get-then-del", map[int]string{
		6: "just before request 2 of its release, and b took the lock. It deleted the lock of b",
	})
	loses(t, "L07", "same-token", map[int]string{
		4: "the same token", 5: "It deleted the lock of b", 6: "It deleted the lock of b",
	})
}
