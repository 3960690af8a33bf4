package grade

import (
	"fmt"
	"net"
	"os"
	"sync"
	"testing"
)

// guarded is memory with a lock around each access, and not around a command.
type guarded struct {
	mu sync.Mutex
	plain
}

func (g *guarded) get(key string) (string, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.plain.get(key)
}

func (g *guarded) set(key, value string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.plain.set(key, value)
}

func lockedAccess() {
	data := &guarded{plain: plain{}}
	serve(func(nc net.Conn) {
		go talk(nc, parseRequest, func(words []string, write func(string)) { write(execute(data, words)) })
	})
}

// announces answers MGET with a length that no memory has.
func announces() {
	serve(func(nc net.Conn) {
		data := plain{}
		go talk(nc, parseRequest, func(words []string, write func(string)) {
			if words[0] == "MGET" {
				write("*2\r\n$9223372036854775807\r\n")
				return
			}
			write(execute(data, words))
		})
	})
}

func lab03Students() map[string]func() {
	return map[string]func(){
		"L03/right":     aGoroutineEach(false),
		"L03/access":    lockedAccess,
		"L03/announces": announces,
		"L03/locked":    aGoroutineEach(true),
		"L03/reported": func() {
			fmt.Fprintln(os.Stderr, "WARNING: DATA RACE") // as the race detector writes
			aGoroutineEach(false)()
		},
	}
}

func TestThreadsThatShareAMap(t *testing.T) {
	t.Parallel()
	full(t, "L03", "right")
	loses(t, "L03", "access", map[int]string{
		2: "two of them got the same number: an update was lost",
		3: "not exactly one got 1",
		4: "MGET saw two different values",
	})
	loses(t, "L03", "announces", map[int]string{4: "where a bulk string should begin"})
	loses(t, "L03", "locked", map[int]string{5: "Is the lock held during a write to a socket?"})
	loses(t, "L03", "reported", map[int]string{6: "The race detector reports a data race"})
}
