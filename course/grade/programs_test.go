package grade

import (
	"bufio"
	"crypto/rand"
	"fmt"
	"maps"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/miniredisd/miniredisd/internal/respclient"
	"github.com/miniredisd/miniredisd/internal/test/amount"
	"github.com/miniredisd/miniredisd/resp"
)

// programVariable names the student's program that this test binary plays. So the tests need no other
// program, and no compiler.
const programVariable = "LAB_PROGRAM"

func TestMain(m *testing.M) {
	if name := os.Getenv(programVariable); name != "" {
		play, found := students()[name]
		if !found {
			fmt.Fprintln(os.Stderr, "no such program:", name)
			os.Exit(2)
		}
		play()
		os.Exit(0)
	}
	amount.SideBySide(12) // the tests mostly wait
	os.Exit(m.Run())
}

// students are right and wrong programs, by lab. Each is a function that runs as main.
func students() map[string]func() {
	all := map[string]func(){}
	for _, some := range []map[string]func(){
		engineStudents(),
		lab01Students(), lab02Students(), lab03Students(), lab04Students(),
		lab05Students(), lab06Students(), lab07Students(), lab08Students(),
		lab09Students(), lab10Students(), lab11Students(), lab12Students(),
		lab13Students(), cheats(),
	} {
		maps.Copy(all, some)
	}
	return all
}

// lock is what the programs of labs about clients write.
type lock interface {
	take() (bool, error)
	release() (bool, error)
}

// search is what the programs of lab 5 write.
type search interface {
	count(pattern string) (int, error)
	purge(pattern string) (int, error)
}

// owner is one owner's connections to the masters.
type owner struct {
	name    string
	masters []*link
	key     string
	lease   string // ms
}

// play reads orders and obeys them, as the skeletons do.
func play(name string, newLock func(o *owner) lock) func() {
	return func() {
		fmt.Println(name)
		owners := map[string]*owner{}
		locks := map[string]lock{}
		for in := bufio.NewScanner(os.Stdin); in.Scan(); {
			words := strings.Fields(in.Text())
			switch words[0] {
			case "open":
				for _, n := range []string{"a", "b"} {
					o := &owner{name: n, key: words[2], lease: words[3]}
					for _, addr := range strings.Split(words[1], ",") {
						o.masters = append(o.masters, &link{addr: addr, name: n})
					}
					owners[n], locks[n] = o, newLock(o)
				}
				fmt.Println("ok")
			case "take":
				fmt.Println(outcome("held", "refused")(locks[words[1]].take()))
			case "release":
				fmt.Println(outcome("released", "failed")(locks[words[1]].release()))
			case "count":
				fmt.Println(number("found")(locks[words[1]].(search).count(words[2])))
			case "purge":
				fmt.Println(number("deleted")(locks[words[1]].(search).purge(words[2])))
			case "close":
				for _, o := range owners {
					for _, l := range o.masters {
						l.close()
					}
				}
				fmt.Println("ok")
			}
		}
	}
}

func outcome(yes, no string) func(bool, error) string {
	return func(ok bool, err error) string {
		switch {
		case err != nil:
			return no + " " + err.Error()
		case ok:
			return yes
		}
		return no
	}
}

func number(word string) func(int, error) string {
	return func(n int, err error) string {
		if err != nil {
			return "failed " + err.Error()
		}
		return word + " " + strconv.Itoa(n)
	}
}

// link is a connection to a master. It connects when it is used.
type link struct {
	addr, name string
	conn       *respclient.Conn
}

// do sends a request. A connection that breaks is closed, and the next request makes a new one.
func (l *link) do(words ...string) (v resp.Value, err error) {
	if l.conn == nil {
		if l.conn, err = respclient.Dial(l.addr); err != nil {
			return v, err
		}
		if _, err := l.do("CLIENT", "SETNAME", l.name); err != nil {
			return v, err
		}
	}
	v, err = l.conn.Do(words...)
	switch {
	case err != nil:
		l.close()
	case v.Kind == '-':
		err = fmt.Errorf("%s", v.Str)
	}
	return v, err
}

func (l *link) close() {
	if l.conn != nil {
		_ = l.conn.Close()
		l.conn = nil
	}
}

// one is do on the only master, for programs of labs with one.
func (o *owner) one(words ...string) (resp.Value, error) { return o.masters[0].do(words...) }

// token returns a new token.
func token() string { return rand.Text() }
