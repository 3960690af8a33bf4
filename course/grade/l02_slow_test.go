package grade

import (
	"net"
	"sync"
	"testing"
)

// aGoroutineEach serves each client in a goroutine. The lock is held for a command, and with whileWriting
// also until the client has taken the reply.
func aGoroutineEach(whileWriting bool) func() {
	return func() {
		var mu sync.Mutex
		data := plain{}
		serve(func(nc net.Conn) {
			go talk(nc, parseRequest, func(words []string, write func(string)) {
				mu.Lock()
				reply := execute(data, words)
				if !whileWriting {
					mu.Unlock()
				}
				write(reply)
				if whileWriting {
					mu.Unlock()
				}
			})
		})
	}
}

func lab02Students() map[string]func() {
	return map[string]func(){
		"L02/right":    aGoroutineEach(false),
		"L02/blocking": oneAfterAnother(parseRequest),
		"L02/locked":   aGoroutineEach(true),
	}
}

func TestASlowClient(t *testing.T) {
	t.Parallel()
	full(t, "L02", "right")
	loses(t, "L02", "blocking", map[int]string{
		2: "PING, while another client is connected and says nothing: no reply came.",
		3: "PING, while another client has sent half a request: no reply came.",
		4: "SET, while another client does not read: no reply came.",
	})
	loses(t, "L02", "locked", map[int]string{4: "SET, while another client does not read: no reply came."})
}
