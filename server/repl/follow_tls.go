package repl

import (
	"golang.org/x/sys/unix"

	"github.com/miniredisd/miniredisd/ioworkers"
	"github.com/miniredisd/miniredisd/reactor"
	"github.com/miniredisd/miniredisd/server"
)

// shaking is the handshake of TLS on the link to the master, for tls-replication. As with those of clients, a goroutine
// computes, and uses the socket only while it has a turn (tls.go).
//
//	shakeHands ─> a turn ─> waits for the socket ─> shakeOn ─> a turn ─> ... ─> over: greet
type shaking struct {
	goOn  chan bool    // ends a wait of the goroutine: true gives it a turn, false ends it
	turn  bool         // the goroutine may use the socket
	needs reactor.Mask // what the socket must have before the next turn
	over  bool         // the goroutine has ended
	err   error        // how
	gone  bool         // given up: the end of the turn closes the socket
}

// shakeHands begins the handshake.
func (f *following) shakeHands(l *link) {
	made := f.s.Handshakes.ClientConfig(f.Host)
	if made == nil {
		f.fail('#', "Error condition on socket for SYNC: "+server.ErrTLSConfig)
		return
	}
	sh := &shaking{goOn: make(chan bool, 2), turn: true} // room for a turn and for the end
	l.tls, l.Shaking = ioworkers.NewClientTLS(l.FD, made), sh
	f.computing.Add(1)
	go func() {
		defer f.computing.Done()
		err := l.tls.Handshake(func(room bool) bool {
			needs := reactor.Readable
			if room {
				needs = reactor.Writable
			}
			f.s.Loop.Post(func() { l.endTurn(needs, false, nil) })
			return <-sh.goOn
		})
		f.s.Loop.Post(func() { l.endTurn(0, true, err) })
	}()
}

// endTurn notes what the goroutine needs. Nobody else has closed the socket meanwhile.
func (l *link) endTurn(needs reactor.Mask, over bool, err error) {
	sh := l.Shaking
	sh.turn, sh.needs, sh.over, sh.err = false, needs, over, err
	if sh.gone && l.FD >= 0 {
		_ = unix.Close(l.FD)
		l.FD = -1
	}
}

// shakeOn continues with the handshake, if the goroutine has no turn.
func (f *following) shakeOn(l *link) {
	sh := l.Shaking
	switch {
	case sh.turn:
	case sh.over && sh.err != nil:
		f.fail('#', "Error condition on socket for SYNC: "+server.ReasonOf(sh.err))
	case sh.over:
		l.Shaking = nil
		f.greet(l)
	case sh.needs != 0:
		event := sh.needs
		sh.needs = 0
		err := f.s.Loop.Watch(l.FD, event, func() {
			f.s.Loop.Unwatch(l.FD, event)
			sh.turn = true
			sh.goOn <- true
		})
		if err != nil {
			f.fail('#', "Error condition on socket for SYNC: "+err.Error())
		}
	}
}

// stopShaking gives the handshake up. It reports whether the goroutine closes the socket, at the end of its turn.
func (l *link) stopShaking() (later bool) {
	sh := l.Shaking
	if sh == nil || sh.over {
		return false
	}
	sh.gone = true
	sh.goOn <- false
	return sh.turn
}

// read is read(2), or what it means with TLS.
func (l *link) read(p []byte) (int, error) {
	if l.tls == nil {
		return unix.Read(l.FD, p)
	}
	if n, errno := l.tls.Receive(p); errno != 0 {
		return n, errno
	} else {
		return n, nil
	}
}

// write is write(2), or what it means with TLS.
func (l *link) write(p []byte) (int, error) {
	if l.tls == nil {
		return unix.Write(l.FD, p)
	}
	if n, errno := l.tls.Send(p); errno != 0 {
		return n, errno
	} else {
		return n, nil
	}
}
