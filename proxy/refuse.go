package proxy

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"

	"github.com/miniredisd/miniredisd/reactor"
)

// Clients of several nodes look for another one when a node refuses them. A reset is something else to them. So the
// port of a node that refuses connections is closed, until it takes them again:
//
//	client ── port ── node            a connection is refused: the port closes, and its first client gets a reset
//	client ── x       probe ── node   other clients are refused; a probe asks the node
//	client ── port ── node            the probe is accepted: the port opens

// probeEvery is the time between two questions.
const probeEvery = 50 * time.Millisecond

// shuts closes the port, if the node has refused a connection.
func (u *upstream) shuts(err error) {
	if u.p.places == nil || u.listener < 0 || !errors.Is(err, unix.ECONNREFUSED) {
		return
	}
	u.closePort()
	u.p.loop.After(probeEvery, u.probe)
}

// closePort closes the port. Connections that wait are reset.
func (u *upstream) closePort() {
	if u.listener >= 0 {
		u.p.loop.Unwatch(u.listener, reactor.Readable)
		_ = unix.Close(u.listener)
		u.listener = -1
	}
}

// probe begins a connection to the node. It returns when to try again, 0 for not.
func (u *upstream) probe() time.Duration {
	fd, err := startConnect(u.family, u.at)
	if err != nil {
		return probeEvery
	}
	u.probing = fd
	if err := u.p.loop.Watch(fd, reactor.Writable, u.probed); err != nil {
		u.stopProbing()
		return probeEvery
	}
	return 0
}

func (u *upstream) probed() {
	err := socketError(u.probing)
	u.stopProbing()
	if err == nil {
		err = u.opens()
	}
	if err != nil {
		u.p.loop.After(probeEvery, u.probe)
	}
}

func (u *upstream) stopProbing() {
	if u.probing > 0 {
		u.p.loop.Unwatch(u.probing, reactor.Writable)
		_ = unix.Close(u.probing)
		u.probing = 0
	}
}

// opens opens the port again.
func (u *upstream) opens() (err error) {
	if u.listener, err = u.p.listenOn(u.port); err != nil {
		u.p.log('#', "%v", err)
		return err
	}
	u.works()
	u.accepts()
	return nil
}

// accepts lets clients connect, unless the network or the upstream says otherwise.
func (u *upstream) accepts() {
	if u.listener < 0 || u.lab.blackhole || u.p.loop.Watched(u.listener) != 0 {
		return
	}
	if err := u.p.loop.Watch(u.listener, reactor.Readable, u.accept); err != nil {
		u.p.log('#', "Accepting client connection: %v", err)
	}
}
