// The first tests of a lock with a lab: go test, go-redis. Run them with `go test`.
package lock

import (
	"context"
	"testing"
	"time"

	"github.com/miniredisd/miniredisd/miniredistest"
	"github.com/redis/go-redis/v9"
)

// The code under test: a lock with a token of its own for each holder.
type lock struct {
	client *redis.Client
	token  string
}

var compareAndDelete = redis.NewScript(
	`if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) else return 0 end`)

func newLock(t *testing.T, srv *miniredistest.Server, token string) *lock {
	client := redis.NewClient(&redis.Options{Addr: srv.Addr()})
	t.Cleanup(func() { _ = client.Close() })
	return &lock{client, token}
}

func (l *lock) acquire() bool {
	taken, err := l.client.SetNX(context.Background(), "lock:order", l.token, 30*time.Second).Result()
	return err == nil && taken
}

func (l *lock) release() bool {
	deleted, err := compareAndDelete.Run(context.Background(), l.client, []string{"lock:order"}, l.token).Int()
	return err == nil && deleted == 1
}

func TestALostReplyLeavesALockBehind(t *testing.T) {
	srv := miniredistest.Run(t, miniredistest.Frozen())
	srv.Fault("lost").Cmd("SET").Key("lock:*").Nth(1).DropReply()

	if newLock(t, srv, "token-1").acquire() { // the first SET took it; go-redis sent a second one
		t.Error("a lock whose reply was lost counts as taken")
	}
	srv.AssertCalled(2, "SET", "lock:*")
	srv.Clock().Advance(30*time.Second + time.Millisecond)
	srv.AssertNone("lock:*")
	if !newLock(t, srv, "token-2").acquire() {
		t.Error("the lock is not free after its lease")
	}
}

func TestALateReleaseDoesNotFreeTheNextLock(t *testing.T) {
	srv := miniredistest.Run(t, miniredistest.Frozen())
	slow, next := newLock(t, srv, "token-1"), newLock(t, srv, "token-2")
	slow.acquire()
	pause := srv.Fault("pause").Cmd("EVALSHA").Times(1).Hold()

	released := make(chan bool)
	go func() { released <- slow.release() }()
	pause.Wait()                                           // the release has reached the server
	srv.Clock().Advance(30*time.Second + time.Millisecond) // its lease ends
	if !next.acquire() {
		t.Error("the lock is not free after its lease")
	}
	pause.Release() // only now does the server execute the release

	if <-released {
		t.Error("the first holder released the lock of the second")
	}
	srv.AssertString("lock:order", "token-2")
	srv.AssertOneHolder("lock:*")
}
