package glasshttp

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/browser"
)

// pressed is what a press changes: what the tour says, the event at which the loop stands, and whether it sleeps.
const pressed = `({
	said: ["press", "say"].map(x => document.querySelector("#tour").dataset[x]) +
		document.querySelector(".lk-caption")?.dataset.step,
	stop: document.body.dataset.stop, asleep: document.body.dataset.state === "asleep",
})`

// lights presses what the tour lights, until the step is done. It returns how many presses that took.
func (s *site) lights(p *browser.Page, step int) (presses int) {
	s.t.Helper()
	for {
		p.Wait(fmt.Sprintf(`document.querySelector("#tour[data-step='%d']") && (document.querySelector(".tour-next") ||
			document.querySelector(".lit:not([disabled])"))`, step))
		if p.Text(`document.querySelector(".tour-next") !== null`) == "true" {
			return presses
		}
		require.Less(s.t, presses, 60, "step %d does not end", step)
		presses++
		p.Eval(`window.before = `+pressed, nil)
		p.Click(".lit")
		p.Wait(`((a, b) => a.said !== b.said || (a.stop !== b.stop && b.stop !== "0") || (a.asleep !== b.asleep && b.asleep))
			(before, ` + pressed + `)`)
	}
}

// The tour leads from the first look to a lock that is lost. What it lights is all that one has to press.
func TestTheTourLeadsToALostLock(t *testing.T) {
	s := start(t)
	p := chromium.Start(t)
	p.Prefer("light", false)
	s.open(p, "loop", "en")
	p.Wait(`document.body.dataset.state === "running"`)
	p.Press("t")
	answers := []string{"b", "a", "b", "b", "b", "b"} // the second one is wrong
	for step, letter := range answers {
		p.Wait(fmt.Sprintf(`document.querySelector("#tour[data-step='%d'] [data-tour]")`, step))
		require.Equal(t, "false", p.Text(`document.querySelector(".lit") !== null`), "a prediction comes first")
		p.Click(fmt.Sprintf("#tour [data-tour=%s]", letter))
		presses := s.lights(p, step)
		t.Logf("step %d: %d presses: %s", step+1, presses, p.Text(`document.querySelector("#tour [aria-live]").innerText`))
		switch step {
		case 1:
			require.Contains(t, p.Text(`document.querySelector("#tour").innerText`), "It is different.")
			require.Contains(t, p.Text(`document.getElementById("now").textContent`), "output buffer")
		case 3:
			require.Contains(t, p.Text(`document.querySelector("#tour").innerText`),
				"16 commands took 1 read(2) and 1 write(2).")
		case 5:
			require.Equal(t, "true", p.Text(`document.querySelector("[data-verdict=two]") !== null`))
		}
		p.Click(".tour-next")
	}
	p.Wait(`document.querySelector("#tour [data-right='5']")`)
	require.Empty(t, p.Problems())
}

// A reader who leaves goes on where the tour was, with the predictions that were made.
func TestTheTourKeepsItsProgress(t *testing.T) {
	s := start(t)
	p := chromium.Start(t)
	p.Prefer("light", false)
	s.open(p, "loop", "en")
	p.Wait(`document.querySelector("#set-tour.first")`)
	p.Click("#set-tour")
	p.Wait(`document.querySelector("#tour [data-tour=a]")`)
	p.Click("#tour [data-tour=a]")
	s.lights(p, 0)
	p.Click(".tour-next")
	p.Wait(`document.querySelector("#tour[data-step='1'] [data-tour=c]")`)
	p.Click("#tour [data-tour=c]")
	p.Do("Page.reload")
	s.open(p, "models", "zh")
	p.Wait(`document.querySelector("#set-tour:not(.first):not([hidden])")`)
	p.Press("t")
	p.Wait(`document.body.dataset.screen === "loop" &&
		document.querySelector("#tour[data-step='1'] [data-tour=c][aria-pressed=true]") !== null`)
	require.NotRegexp(t, `tour\.\w`, p.Text(`document.querySelector("#tour").innerText`), "a text is missing")
	p.Press("t")
	p.Wait(`!document.querySelector("#tour") && !document.querySelector(".lit")`)
	require.Empty(t, p.Problems())
}

// On a phone the tour lies at the bottom and what it lights is in view.
func TestTheTourFitsAPhone(t *testing.T) {
	s := start(t)
	p := chromium.Start(t)
	p.Prefer("light", false)
	p.Size(390, 844)
	s.open(p, "loop", "en")
	p.Wait(`document.body.dataset.state === "running"`)
	p.Click("#set-tour")
	for step := range 2 {
		p.Wait(fmt.Sprintf(`document.querySelector("#tour[data-step='%d'] [data-tour]")`, step))
		p.Click("#tour [data-tour=b]")
		s.lights(p, step)
		p.Click(".tour-next")
	}
	var found []string
	p.Eval(cramped, &found)
	require.Empty(t, found)
}
