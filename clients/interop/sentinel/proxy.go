package main

import (
	"io"
	"net"
	"sync"
)

// proxy stands before a server, so that the server can be cut off: then no byte goes through in either direction, and
// no connection ends. So each side waits for the other, as when a cable is unplugged.
type proxy struct {
	listener net.Listener
	target   string

	mu    sync.Mutex
	moved *sync.Cond // waits for the end of a cut
	isCut bool
	conns []net.Conn
	over  bool
}

func newProxy(target string) (*proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{listener: l, target: target}
	p.moved = sync.NewCond(&p.mu)
	go p.accept()
	return p, nil
}

func (p *proxy) addr() string { return p.listener.Addr().String() }

func (p *proxy) accept() {
	for {
		c, err := p.listener.Accept()
		if err != nil {
			return
		}
		go p.serve(c)
	}
}

// serve connects a client with the server. It ends when both directions have ended.
func (p *proxy) serve(client net.Conn) {
	p.pass()
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		client.Close()
		return
	}
	p.keep(client, server)
	var both sync.WaitGroup
	both.Go(func() { p.copy(server, client) })
	both.Go(func() { p.copy(client, server) })
	both.Wait()
	client.Close()
	server.Close()
}

// copy moves bytes in one direction until one side ends. Then it ends the other side, too.
func (p *proxy) copy(to, from net.Conn) {
	chunk := make([]byte, 32<<10)
	for {
		n, err := from.Read(chunk)
		p.pass()
		if n > 0 {
			if _, failed := to.Write(chunk[:n]); failed != nil && err == nil {
				err = failed
			}
		}
		if err != nil {
			if err == io.EOF {
				_ = to.(*net.TCPConn).CloseWrite() // the other side may have ended
				return
			}
			to.Close()
			from.Close()
			return
		}
	}
}

// pass waits while the server is cut off.
func (p *proxy) pass() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.isCut {
		p.moved.Wait()
	}
}

func (p *proxy) keep(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		for _, c := range conns {
			c.Close()
		}
		return
	}
	p.conns = append(p.conns, conns...)
}

// cut cuts the server off, or ends that.
func (p *proxy) cut(off bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.isCut = off
	p.moved.Broadcast()
}

func (p *proxy) close() {
	p.listener.Close()
	p.cut(false)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
	for _, c := range p.conns {
		c.Close()
	}
}
