package glasshttp

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/browser"
)

// docs/watch.md promises three sights to a newcomer. This test presses what the page tells a newcomer to
// press, counts, and finds all three: a partial read, a pipeline, and a lock lost by GET and DEL.
func TestANewcomerSeesThreeThingsInFewClicks(t *testing.T) {
	s := start(t)
	p := browser.Start(t)
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
