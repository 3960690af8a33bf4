package glasshttp

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Under load the server tells sums, and not every pass. After a stop in the middle of a pass, the end of that pass is
// not told. When the load is over, the page says all the same that the loop sleeps, and shows nothing under way.
func TestAfterALoadTheLoopSleepsOnThePage(t *testing.T) {
	s := start(t)
	p := chromium.Start(t)
	p.Prefer("light", false)
	s.open(p, "loop", "en")
	p.Wait(`document.body.dataset.state === "running"`)
	p.Eval(`void import("/store.js").then(m => m.post("/watch/load",
		{clients: 50, requests: 10000000, pipeline: 1}))`, nil)
	p.Wait(`document.getElementById("now").textContent.includes("passes a second")`)
	p.Press(" ")
	p.Wait(`document.body.dataset.state === "stopped"`)
	p.Press("c")
	p.Wait(`document.getElementById("now").textContent.includes("SET load:")`)
	p.Press(" ")
	p.Wait(`document.body.dataset.state === "running"`)
	s.must("/watch/load", `{"stop": true}`)
	p.Wait(`document.getElementById("now").textContent.startsWith("The loop sleeps")`)
	text := p.Text(`["read", "parse", "execute", "write"].map(box =>
		document.querySelector("[data-box=" + box + "]").textContent).join()`)
	require.NotRegexp(t, `ready|next:|load:|\+\d`, text)
	require.Empty(t, p.Problems())
}
