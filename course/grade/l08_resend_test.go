package grade

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/amount"
	"github.com/miniredisd/miniredisd/resp"
)

// patient is a lock whose take and release may lose a reply. Programs differ in what they do then.
type patient struct {
	*owner
	token string
	grab  func(p *patient) (bool, error)
	again int // how often release sends its request at most
	// blind deletes whatever is there, when it sends a release again. literal believes that it released nothing.
	blind, literal bool
}

func (p *patient) take() (bool, error) {
	p.token = token()
	return p.grab(p)
}

func (p *patient) release() (ok bool, err error) {
	for n := range p.again {
		var v resp.Value
		if n > 0 && p.blind {
			v, err = p.one("DEL", p.key)
		} else {
			v, err = p.one("EVAL", compareAndDelete, "1", p.key, p.token)
		}
		if err == nil {
			return v.Int == 1 || n > 0 && !p.literal, nil
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
		"L08/literal": play("a lock in Go", func(o *owner) lock {
			return &patient{owner: o, grab: setAndLook, again: attempts, literal: true}
		}),
		"L08/blind": play("a lock in Go", func(o *owner) lock {
			return &patient{owner: o, grab: setAndLook, again: attempts, blind: true}
		}),
		"L08/liar": liar,
	}
}

// liar answers what the grader wants to hear, and never asks the server.
func liar() {
	fmt.Println("a lock in Go")
	holder := ""
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		switch words := strings.Fields(in.Text()); {
		case words[0] == "take" && holder != "":
			fmt.Println("refused")
		case words[0] == "take":
			holder = words[1]
			fmt.Println("held")
		case words[0] == "release":
			holder = ""
			fmt.Println("released")
		default:
			fmt.Println("ok")
		}
	}
}

func TestALostReplySaysNothing(t *testing.T) {
	t.Parallel()
	full(t, "L08", "look")
	loses(t, "L08", "once", map[int]string{3: "The reply to request 1 of `take a` was lost. The answer was `refused`"})
	loses(t, "L08", "again", map[int]string{3: "it is the lock of a itself"})
	loses(t, "L08", "hope", map[int]string{4: "The answer was `held`: a lost reply says nothing"})
	loses(t, "L08", "one-release", map[int]string{5: "Request 1 of `release a` never reached the server"})
	loses(t, "L08", "literal", map[int]string{6: "a second attempt that finds nothing says so"})
	loses(t, "L08", "blind", map[int]string{6: "It deleted the lock of b"})
	loses(t, "L08", "liar", map[int]string{2: "your program has sent no request about any key"})
}

func TestAProgramThatNeverTalksGetsNothing(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"L06", "L07", "L08", "L09", "L10", "L11", "L13"}[:amount.Count(2, 7)] {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			require.Zero(t, gradeOf(t, id, "liar", func(o *Options) {
				o.Env = []string{programVariable + "=L08/liar"}
				o.AnswerLimit = patience
			}).Score)
		})
	}
}
