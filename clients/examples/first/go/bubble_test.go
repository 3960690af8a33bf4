package lock

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/miniredisd/miniredisd/miniredistest"
)

// The lease takes no real time: in a bubble, Sleep moves the clock of the server as well.
func TestALeaseEndsInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := miniredistest.Run(t)
		client := redis.NewClient(&redis.Options{Addr: srv.Addr(), Dialer: srv.Dial})
		defer client.Close()
		for _, owner := range []string{"a", "b"} {
			taken, err := client.SetNX(t.Context(), "lock:order:42", owner, 30*time.Second).Result()
			if err != nil || !taken {
				t.Fatalf("%s has not got the lock: %v", owner, err)
			}
			time.Sleep(31 * time.Second)
		}
		srv.AssertNone("lock:*")
		srv.AssertOneHolder("lock:*")
	})
}
