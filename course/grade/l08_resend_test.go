package grade

import "testing"

// patient is a lock whose take and release may lose a reply. Programs differ in what they do then.
type patient struct {
	*owner
	token string
	grab  func(p *patient) (bool, error)
	again int // how often release sends its request at most
}

func (p *patient) take() (bool, error) {
	p.token = token()
	return p.grab(p)
}

func (p *patient) release() (ok bool, err error) {
	for range p.again {
		v, err := p.one("EVAL", compareAndDelete, "1", p.key, p.token)
		if err == nil {
			return v.Int == 1, nil
		}
	}
	return false, err
}

func (p *patient) set() (bool, error) {
	v, err := p.one("SET", p.key, p.token, "NX", "PX", p.lease)
	return v.Str == "OK", err
}

// setAgain sends SET again, and believes the refusal.
func setAgain(p *patient) (ok bool, err error) {
	for range attempts {
		if ok, err = p.set(); err == nil {
			break
		}
	}
	return ok, err
}

// hope takes a lost reply for a yes.
func hope(p *patient) (bool, error) {
	ok, err := p.set()
	return ok || err != nil, nil
}

// setAndLook asks whose token the key has after it has sent SET again.
func setAndLook(p *patient) (bool, error) {
	ok, err := setAgain(p)
	for range attempts {
		if ok {
			return true, nil
		}
		v, err := p.one("GET", p.key)
		if err == nil {
			return v.Str == p.token, nil
		}
	}
	return false, err
}

const attempts = 3

func lab08Students() map[string]func() {
	with := func(grab func(*patient) (bool, error), again int) func() {
		return play("a lock in Go", func(o *owner) lock { return &patient{owner: o, grab: grab, again: again} })
	}
	return map[string]func(){
		"L08/look":        with(setAndLook, attempts),
		"L08/once":        with((*patient).set, 1),
		"L08/again":       with(setAgain, attempts),
		"L08/hope":        with(hope, attempts),
		"L08/one-release": with(setAndLook, 1),
	}
}

func TestALostReplySaysNothing(t *testing.T) {
	t.Parallel()
	full(t, "L08", "look")
	loses(t, "L08", "once", map[int]string{3: "The reply to request 1 of `take a` was lost. The answer was `refused`"})
	loses(t, "L08", "again", map[int]string{3: "it is the lock of a itself"})
	loses(t, "L08", "hope", map[int]string{4: "The answer was `held`: a lost reply says nothing"})
	loses(t, "L08", "one-release", map[int]string{5: "Request 1 of `release a` never reached the server"})
}
