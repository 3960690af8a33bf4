package glasshttp

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// docs/glass-loop.md promises three sights to a newcomer. This test presses what the page tells a newcomer to
// press, counts, and finds all three: a partial read, a pipeline, and a lock lost by GET and DEL.
func TestANewcomerSeesThreeThingsInFewClicks(t *testing.T) {
	s := start(t)
	p := chromium.Start(t)
	p.Prefer("light", false)
	s.open(p, "loop", "en")
	p.Wait(`document.body.dataset.state === "running"`)
	presses := 0
	click := func(selector string) { presses++; p.Click(selector) }
	sees := func(text string) {
		p.Wait(fmt.Sprintf(`document.body.dataset.state === "stopped" &&
			document.getElementById("now").textContent.includes(%q)`, text))
	}
	goOn := func() { presses++; p.Press(" "); p.Wait(`document.body.dataset.state === "running"`) }

	click(`[data-box=parse]`) // the loop stops there from now on
	p.Wait(`document.querySelector("[data-box=parse].breaks") !== null`)
	click(`[data-way=cut]`)
	sees("is not complete")
	goOn()
	click(`[data-way=cut]`)
	sees("one complete command")
	goOn()
	click(`[data-way=pipe]`)
	sees("16 complete commands")
	for range 3 {
		presses++
		s.press(p, "c")
	}
	goOn()

	presses++
	p.Press("3")
	p.Wait(`document.querySelector('[data-claim="10"]') !== null`)
	click(`[data-claim="10"]`)
	click(`[data-answer=b]`)
	p.Wait(`document.querySelectorAll(".cl-mark").length === 1`)
	require.Less(t, presses, 20)
	t.Logf("%d presses", presses)
}

// The connection outlives a reload of the page. So do the bytes that the page has not sent yet: otherwise the next
// command would end the one that has begun.
func TestABegunCommandOutlivesAReload(t *testing.T) {
	s := start(t)
	p := chromium.Start(t)
	p.Prefer("light", false)
	s.open(p, "loop", "en")
	p.Wait(`document.body.dataset.state === "running"`)
	p.Click(`[data-way=cut]`)
	p.Wait(`document.querySelector("[data-way=cut].on") !== null`)
	s.open(p, "timeline", "en")
	p.Do("Page.reload")
	s.open(p, "loop", "en")
	p.Wait(`document.querySelector("[data-way=cut].on") !== null`)
	p.Click(`[data-way=whole]`)
	s.told(p, "A", `+OK\r\n`)
	require.Empty(t, p.Problems())
}

// What needs a connection cannot be pressed without one.
func TestAClientThatIsNotConnectedCannotBeReset(t *testing.T) {
	s := start(t)
	p := chromium.Start(t)
	p.Prefer("light", false)
	s.open(p, "loop", "en")
	p.Wait(`document.body.dataset.state === "running"`)
	for _, way := range []string{"reading", "half", "reset"} {
		p.Wait(fmt.Sprintf(`document.querySelector("[data-way=%s]").disabled`, way))
	}
	s.command(p, "A", "PING")
	p.Wait(`!document.querySelector("[data-way=reset]").disabled`)
	p.Click(`[data-way=reset]`)
	p.Wait(`document.querySelector("[data-way=reading]").disabled`)
	require.Empty(t, p.Problems())
}
