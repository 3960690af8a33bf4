package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

// exploreArg is the first argument of this program if it runs one client again and again for
// clients/interop/explore.
const exploreArg = "explore"

const (
	exploreWait = 2 * time.Second        // how long a worker waits for the lock
	exploreTurn = 600 * time.Millisecond // how long it waits for the other one, where it usually need not wait
)

// explored is a client to explore.
type explored struct {
	Name      string   `json:"name"`
	Version   string   `json:"version"`
	Arguments []string `json:"arguments"`
	open      func(addr, name string) (*worker, error)
	wakes     bool // a release wakes a waiter
}

// worker is one owner of the lock.
type worker struct {
	look    func() (taken bool, err error) // does not wait
	take    func() error                   // waits
	release func() error
	close   func()
}

// explore lists the clients, or runs the scenario of one of them for each address that it reads.
func explore(args []string) error {
	all := exploredClients()
	if len(args) == 0 {
		return json.NewEncoder(os.Stdout).Encode(all)
	}
	i := slices.IndexFunc(all, func(e explored) bool { return e.Name == args[0] })
	if i < 0 {
		return fmt.Errorf("no client %q", args[0])
	}
	goredis.SetLogger(noLog{})
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		failed := strings.ReplaceAll(scenario(all[i], lines.Text()), "\n", "; ")
		if err := json.NewEncoder(os.Stdout).Encode(map[string]string{"failed": failed}); err != nil {
			return err
		}
	}
	return lines.Err()
}

// event is what one worker waits for and the other one sets.
type event struct {
	set  func()
	done chan bool
}

func newEvent() event {
	done := make(chan bool)
	return event{sync.OnceFunc(func() { close(done) }), done}
}

func (e event) wait(limit time.Duration) {
	select {
	case <-e.done:
	case <-time.After(limit):
	}
}

// play is one run of the scenario: a takes the lock, b tries, a releases, b takes. Each waits a moment for the other,
// and then continues alone.
type play struct {
	client                       explored
	addr                         string
	aOpen, aHas, bTried, aIsDone event
}

func scenario(client explored, addr string) string {
	p := &play{client, addr, newEvent(), newEvent(), newEvent(), newEvent()}
	var failed [2]string
	var workers sync.WaitGroup
	for i, do := range []func(*worker) error{p.a, p.b} {
		workers.Go(func() {
			name := string(rune('a' + i))
			if err := p.guarded(name, do); err != nil {
				failed[i] = name + ": " + err.Error()
			}
		})
	}
	workers.Wait()
	return strings.Trim(failed[0]+"; "+failed[1], "; ")
}

func (p *play) guarded(name string, do func(*worker) error) error {
	defer p.bTried.set()
	if name == "a" {
		defer func() { p.aOpen.set(); p.aHas.set(); p.aIsDone.set() }()
	}
	w, err := p.client.open(p.addr, name)
	if w != nil {
		defer w.close()
	}
	if err != nil {
		return err
	}
	return do(w)
}

func (p *play) a(w *worker) error {
	p.aOpen.set()
	if err := w.take(); err != nil {
		return err
	}
	p.aHas.set()
	p.bTried.wait(exploreTurn)
	if p.client.wakes {
		time.Sleep(exploreTurn / 4) // b begins to wait
	}
	return w.release()
}

func (p *play) b(w *worker) error {
	p.aOpen.wait(20 * exploreTurn)
	p.aHas.wait(exploreTurn)
	taken, err := w.look()
	if err != nil {
		return err
	}
	p.bTried.set()
	if !taken {
		if !p.client.wakes {
			p.aIsDone.wait(exploreTurn)
		}
		if err := w.take(); err != nil {
			return err
		}
	}
	p.aIsDone.wait(exploreTurn)
	return w.release()
}
