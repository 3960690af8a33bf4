package glasshttp

import (
	"github.com/miniredisd/miniredisd/internal/trace"
	"github.com/miniredisd/miniredisd/lab/glass"
)

// How clients come together, so that main gathers them and I/O threads get them.

func playEight(p *player) {
	p.together(9, func() {
		for i := range 8 {
			p.send(i+1, "INCR visits")
		}
	})
	for i := range 8 {
		p.read(i+1, 1)
	}
}

// playGather: the server tries to gather at its passes 1, 3 and 7. This is the seventh that reads.
func playGather(p *player) {
	p.at(glass.Breakpoint{Name: "first", At: trace.Handler, ClientID: 1}, func() { p.send(1, "INCR visits") }, func() {
		p.send(2, "INCR visits")
		p.send(3, "INCR visits")
	})
	for i := range 3 {
		p.read(i+1, 1)
	}
}

// playTwo: two clients come together, and nobody else while the server gathers.
func playTwo(p *player) {
	p.together(3, func() {
		p.send(1, "INCR visits")
		p.send(2, "INCR visits")
	})
	p.read(1, 1)
	p.read(2, 1)
}
