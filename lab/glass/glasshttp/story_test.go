package glasshttp

import (
	"fmt"

	"github.com/miniredisd/miniredisd/internal/test/browser"
)

// story plays a scenario on the screen of the loop: C waits for a list, A and B want one lock, and
// the loop stands before the command of B.
func (s *site) story(p *browser.Page) {
	s.t.Helper()
	p.Wait(`document.body.dataset.state === "running"`)
	s.command(p, "A", "INCR visits")
	s.told(p, "A", `:1\r\n`)
	s.command(p, "C", "BLPOP queue 0")
	s.command(p, "B", "GET lock:a")
	s.told(p, "B", `$-1\r\n`)
	s.pause(p)
	s.command(p, "A", "SET lock:a token-of-A NX PX 30000")
	s.stopped(p, "0")
	s.command(p, "B", "SET lock:a token-of-B NX PX 30000")
	s.seek(p, "token-of-B")
}

// pause presses the space bar until the loop is armed and sleeps. A loop that still has to end a pass stops
// there, and goes on once more.
func (s *site) pause(p *browser.Page) {
	s.t.Helper()
	for {
		p.Press(" ")
		p.Wait(`["asleep", "stopped"].includes(document.body.dataset.state)`)
		if p.Text(`document.body.dataset.state`) == "asleep" {
			return
		}
		p.Press(" ")
		p.Wait(`document.body.dataset.state === "running"`)
	}
}

// stopped waits until the loop stands at another event than before. The page has the snapshot then.
func (s *site) stopped(p *browser.Page, before string) {
	s.t.Helper()
	p.Wait(fmt.Sprintf(`![%q, "0"].includes(document.body.dataset.stop)`, before))
}

// seek steps from command to command until the page speaks of a text. A command that is still on its way
// stops the loop as well, so a loop that sleeps gets no second key.
func (s *site) seek(p *browser.Page, text string) {
	s.t.Helper()
	for p.Text(fmt.Sprintf(`document.getElementById("now").textContent.includes(%q)`, text)) == "false" {
		before := p.Text(`document.body.dataset.stop`)
		p.Press("c")
		s.stopped(p, before)
	}
}

// told waits until a client of the page has received a reply.
func (s *site) told(p *browser.Page, client, reply string) {
	s.t.Helper()
	p.Eval(fmt.Sprintf(`import("/store.js").then(store => new Promise(done => {
		const check = () => { if (store.replies.get(%q)?.got.includes(%q)) done() }
		store.on(check)
		check()
	}))`, client, reply), nil)
}

// command types a command into a terminal and waits until it is sent.
func (s *site) command(p *browser.Page, client, text string) {
	s.t.Helper()
	p.Click(fmt.Sprintf(`[data-client=%q] input`, client))
	p.Type(text)
	p.Press("Enter")
	p.Wait(fmt.Sprintf(`document.querySelector('[data-client=%q] input').value === ""`, client))
	p.Press("Escape")
}

// press presses a key of a step and waits until the loop stands at another event, or sleeps.
func (s *site) press(p *browser.Page, key string) {
	s.t.Helper()
	before := p.Text(`document.body.dataset.stop`)
	p.Press(key)
	p.Wait(fmt.Sprintf(`document.body.dataset.state === "asleep" || ![%q, "0"].includes(document.body.dataset.stop)`,
		before))
}

// turn presses an arrow key and waits until the page shows another event.
func (s *site) turn(p *browser.Page, key string) {
	s.t.Helper()
	before := p.Text(`document.body.dataset.seq`)
	p.Press(key)
	p.Wait(fmt.Sprintf(`document.body.dataset.seq !== %q`, before))
}
