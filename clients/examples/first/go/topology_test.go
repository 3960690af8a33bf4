// A lock behind Sentinel and in a cluster: go test, go-redis. Run them with `go test`.
package lock

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/miniredisd/miniredisd/miniredistest"
)

// spread is the code under test: a lock with a token of its own for each holder.
type spread struct {
	client redis.UniversalClient
	token  string
}

func (l spread) acquire(t *testing.T) bool {
	t.Helper()
	taken, err := l.client.SetNX(t.Context(), "lock:order", l.token, time.Hour).Result()
	if err != nil {
		t.Fatal(err)
	}
	return taken
}

func (l spread) release(t *testing.T) bool {
	t.Helper()
	const compareAndDelete = `if redis.call('get', KEYS[1]) == ARGV[1]
		then return redis.call('del', KEYS[1]) else return 0 end`
	deleted, err := l.client.Eval(t.Context(), compareAndDelete, []string{"lock:order"}, l.token).Int()
	if err != nil {
		t.Fatal(err)
	}
	return deleted == 1
}

func TestTheOwnerReleasesItsLockAfterAFailover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the Sentinels need half a minute: here it takes no time
		srv := miniredistest.Run(t, miniredistest.Replicas(2), miniredistest.Sentinels(3))
		client := redis.NewFailoverClient(&redis.FailoverOptions{
			MasterName: "mymaster", SentinelAddrs: srv.SentinelAddrs(), Dialer: srv.Nodes().Dial,
		})
		defer client.Close()
		lock := spread{client, "token-1"}
		if !lock.acquire(t) {
			t.Fatal("the lock was free")
		}
		srv.Synced() // without this line the failover may lose the lock

		srv.Crash(2*time.Hour, miniredistest.KeepKeys)
		time.Sleep(time.Minute) // the Sentinels promote a replica
		if srv.Sentinel(1).Master() == srv {
			t.Fatal("there was no failover")
		}
		if (spread{client, "token-2"}).acquire(t) {
			t.Fatal("the failover lost the lock")
		}
		if !lock.release(t) {
			t.Fatal("the owner could not release its lock")
		}
	})
}

func TestTheOwnerReleasesItsLockWhileItsSlotMoves(t *testing.T) {
	m := miniredistest.RunMasters(t, 3, miniredistest.Cluster(), miniredistest.Replicas(1))
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: m.Addrs()})
	defer client.Close()
	lock, other := spread{client, "token-1"}, spread{client, "token-2"}
	if !lock.acquire(t) {
		t.Fatal("the lock was free")
	}

	to := m[0]
	if m.Owner("lock:order") == to {
		to = m[1]
	}
	m.MoveSlot("lock:order", to, miniredistest.SlotKeys) // the old node replies ASK
	if other.acquire(t) {
		t.Fatal("two clients hold the lock")
	}
	if !lock.release(t) {
		t.Fatal("the owner could not release its lock")
	}
	m.MoveSlot("lock:order", to, miniredistest.SlotNode) // and now MOVED
	if !other.acquire(t) {
		t.Fatal("the lock was free")
	}
}
