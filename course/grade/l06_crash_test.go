package grade

import "testing"

// leased is a lock whose take is one of the usual recipes.
type leased struct {
	*owner
	token string
	grab  func(l *leased) (bool, error)
}

func (l *leased) take() (bool, error) {
	l.token = token()
	return l.grab(l)
}

func (l *leased) release() (bool, error) {
	v, err := l.one("EVAL", compareAndDelete, "1", l.key, l.token)
	return v.Int == 1, err
}

func setNXThenExpire(l *leased) (bool, error) {
	if v, err := l.one("SETNX", l.key, l.token); err != nil || v.Int == 0 {
		return false, err
	}
	_, err := l.one("PEXPIRE", l.key, l.lease)
	return err == nil, err
}

func setNXForEver(l *leased) (bool, error) {
	v, err := l.one("SETNX", l.key, l.token)
	return v.Int == 1, err
}

func setWithLease(l *leased) (bool, error) {
	v, err := l.one("SET", l.key, l.token, "NX", "PX", l.lease)
	return v.Str == "OK", err
}

// takeByScript is right, too: a script is one step of the server.
func takeByScript(l *leased) (bool, error) {
	v, err := l.one("EVAL", "if redis.call('SETNX', KEYS[1], ARGV[1]) == 0 then return 0 end "+
		"return redis.call('PEXPIRE', KEYS[1], ARGV[2])", "1", l.key, l.token, l.lease)
	return v.Int == 1, err
}

func lab06Students() map[string]func() {
	with := func(grab func(*leased) (bool, error)) func() {
		return play("a lock in Go", func(o *owner) lock { return &leased{owner: o, grab: grab} })
	}
	return map[string]func(){
		"L06/set":               with(setWithLease),
		"L06/script":            with(takeByScript),
		"L06/setnx-then-expire": with(setNXThenExpire),
		"L06/setnx":             with(setNXForEver),
	}
}

func TestALockEndsWithItsClient(t *testing.T) {
	t.Parallel()
	full(t, "L06", "set")
	full(t, "L06", "script")
	loses(t, "L06", "setnx-then-expire", map[int]string{4: "just before request 2 of its take"})
	loses(t, "L06", "setnx", map[int]string{3: "a time to live of -1 ms"})
}
