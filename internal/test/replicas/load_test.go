package replicas

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miniredisd/miniredisd/internal/test/differential"
	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

// load are clients that send random commands until they are told to stop.
type load struct {
	workers  sync.WaitGroup
	quit     chan struct{}
	commands atomic.Int64
	calm     atomic.Int32 // how many steps they wait between two batches
	failed   chan error
}

// newLoad starts the clients of a master, and one of each replica. The latter write as well, and are refused.
func newLoad(t testing.TB, seed uint64, newer bool, master string, replicas []string) *load {
	l := &load{quit: make(chan struct{}), failed: make(chan error, 20)}
	random := func(i uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, i)) }
	// Valkey refuses some damaged HyperLogLogs that Redis reads, and PFCOUNT changes a replica, in Redis as well.
	anything := func(i uint64) func() []string { return differential.Commands(t, seed*100+i, newer, "hll") }
	l.run(master, random(0), rareCommands(random(1)))
	l.run(master, random(2), rareCommands(random(3)))
	l.run(master, random(4), anything(5))
	l.run(master, random(6), randomCommands(random(7), blocking))
	l.run(master, random(8), randomCommands(random(9), blocking))
	for i, replica := range replicas {
		l.run(replica, random(uint64(20+i)), anything(uint64(30+i)))
	}
	return l
}

// run sends commands on a connection until the end.
func (l *load) run(addr string, r *rand.Rand, command func() []string) {
	l.workers.Go(func() {
		c, err := redistest.Connect(addr)
		if err != nil {
			l.failed <- err
			return
		}
		defer c.Close()
		pace := time.NewTicker(20 * time.Millisecond)
		defer pace.Stop()
		for err == nil {
			for range l.calm.Load() + r.Int32N(10)/9 {
				<-pace.C
			}
			select {
			case <-l.quit:
				return
			default:
				err = l.batch(c, r, command)
			}
		}
		l.failed <- err
	})
}

func (l *load) batch(c *redistest.Conn, r *rand.Rand, command func() []string) error {
	batch, replies := randomBatch(r, command)
	if err := c.Send(batch); err != nil {
		return err
	}
	for range replies {
		if _, err := c.TryRead(); err != nil {
			return fmt.Errorf("%w, after %.200q", err, batch)
		}
	}
	l.commands.Add(int64(replies))
	return nil
}

// stop ends the clients.
func (l *load) stop() error {
	close(l.quit)
	l.workers.Wait()
	select {
	case err := <-l.failed:
		return err
	default:
		return nil
	}
}
