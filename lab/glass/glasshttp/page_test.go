package glasshttp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/course/claims"
	"github.com/miniredisd/miniredisd/course/grade"
	"github.com/miniredisd/miniredisd/course/labs"
	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

// Everything that the page needs comes from the server. The browser has nothing to complain of: no
// violation of the policy, no error in the console, no file that is missing.
func TestThePageNeedsNothingFromElsewhere(t *testing.T) {
	s := start(t)
	p := chromium.Start(t)
	p.Prefer("light", false)
	for _, lang := range []string{"en", "zh"} {
		for _, screen := range screens() {
			s.open(p, screen, lang)
		}
	}
	s.open(p, "loop", "en")
	s.story(p)
	requests := p.Requests()
	require.Greater(t, len(requests), 10)
	for _, request := range requests {
		own := strings.HasPrefix(request, s.url+"/") || strings.HasPrefix(request, "data:")
		require.True(t, own, request)
	}
	require.Empty(t, p.Problems())
}

// From the first look to a reply with keys alone: the tab key reaches the first terminal, and letters
// step.
func TestTheKeyboardAloneSuffices(t *testing.T) {
	s := start(t)
	p := chromium.Start(t)
	p.Prefer("light", false)
	s.open(p, "loop", "en")
	p.Press("3")
	p.Wait(`document.body.dataset.screen === "claims"`)
	p.Press("1")
	p.Wait(`document.body.dataset.screen === "loop"`)
	s.pause(p)
	for tabs := 0; p.Text(`document.activeElement.matches("[data-client=A] input")`) == "false"; tabs++ {
		require.Less(t, tabs, 60, "the tab key does not reach the terminal of A")
		p.Press("Tab")
	}
	p.Type("SET k v")
	p.Press("Enter")
	s.stopped(p, "0")
	p.Press("Escape")
	s.seek(p, "SET k v")
	s.turn(p, "ArrowLeft")
	s.turn(p, "ArrowRight")
	p.Press(" ")
	s.told(p, "A", `+OK\r\n`)
	p.Press("l")
	p.Wait(`document.body.dataset.lang === "zh"`)
	p.Press("d")
	p.Wait(`document.documentElement.dataset.theme === "dark"`)
}

// A page whose scripts are frozen reads nothing any more, and the server answers all the same.
// Afterwards the page goes on.
func TestAFrozenTabDoesNotStopTheServer(t *testing.T) {
	s := start(t)
	p := chromium.Start(t)
	s.open(p, "loop", "en")
	p.Wait(`document.body.dataset.state === "running"`)
	p.Freeze()
	s.manyEvents()
	p.Thaw()
	s.command(p, "A", "PING")
	s.told(p, "A", `+PONG\r\n`)
}

// manyEvents makes 30 MB of events, more than a socket and a queue take. While a step is under way,
// readers get each event, and not ten summaries a second.
func (s *site) manyEvents() {
	s.t.Helper()
	c := redistest.Dial(s.t, s.masters.Addrs()[0])
	value := strings.Repeat("v", 300)
	s.must("/lab/step/next/event/1000000", "")
	for range 20_000 {
		require.Equal(s.t, "OK", c.Do("SET", "k", value).Str)
	}
	s.must("/lab/step/continue", "")
}

func TestEveryClaimReachesItsVerdictOnThePage(t *testing.T) {
	s := start(t)
	p := chromium.Start(t)
	s.open(p, "claims", "en")
	all := len(claims.List())
	p.Wait(fmt.Sprintf(`document.querySelectorAll("[data-claim]").length === %d`, all))
	p.Click("[data-run=all]")
	p.Wait(fmt.Sprintf(`document.querySelectorAll(".cl-mark").length === %d ||
		document.querySelector(".cl-failed") !== null`, all))
	for _, lang := range []string{"en", "zh"} {
		p.Wait(fmt.Sprintf(`document.body.dataset.lang === %q`, lang))
		require.Equal(t, "", p.Text(`document.querySelector(".cl-failed")?.innerText ?? ""`))
		require.NotRegexp(t, `claims\.\w`, p.Text(`document.body.innerText`), "a text is missing")
		require.Equal(t, "0", p.Text(`document.querySelectorAll(".cl-right").length`), "nobody has predicted")
		p.Press("l")
	}
	require.Empty(t, p.Problems())
}

// A prediction counts if it was made before the verdict was known. The exported file has each of them, with
// the reason.
func TestPredictionsOfClaimsAreScoredAndExported(t *testing.T) {
	s := start(t)
	p := chromium.Start(t)
	s.open(p, "claims", "en")
	p.Wait(fmt.Sprintf(`document.querySelectorAll("[data-claim]").length === %d`, len(claims.List())))
	predict := func(n int, answer string) {
		p.Click(fmt.Sprintf("[data-claim='%d']", n))
		p.Wait(fmt.Sprintf(`document.querySelector("[data-n='%d'] [data-answer=%s]")`, n, answer))
		p.Click("[data-answer=" + answer + "]")
		p.Wait(fmt.Sprintf(`document.querySelector("[data-n='%d'] [data-verdict]")`, n))
	}
	predict(18, "b")
	predict(15, "a")
	p.Wait(`document.querySelector("[data-told]").innerText.includes("What is so is: “In the middle")`)
	p.Click("[data-answer=b]") // too late
	p.Wait(`document.querySelector("[data-score='1']").innerText === "predicted right: 1 of 2"`)
	var results grade.Results
	p.Eval(`import("/claims.js").then((m) => m.results())`, &results)
	require.Equal(t, 1, results.Score)
	require.Len(t, results.Tests, len(claims.List()))
	require.Equal(t, "passed", results.Tests[17].Status)
	require.Contains(t, results.Tests[14].Output, "You predicted: “After all 16”")
	require.Contains(t, results.Tests[4].Output, "does not count")
	p.Click("[data-export=results]")
	require.Empty(t, p.Problems())
}

// A hint is shown only when one asks for it.
func TestThePageShowsLabsAndTheirHintsOneByOne(t *testing.T) {
	s := start(t)
	p := chromium.Start(t)
	all, err := labs.All("en")
	require.NoError(t, err)
	for _, lang := range []string{"en", "zh"} {
		s.open(p, "labs", lang)
		p.Wait(fmt.Sprintf(`document.querySelectorAll("[data-lab]").length === %d`, len(all)))
		p.Click("[data-lab=L07]")
		for n := range 3 {
			p.Wait(fmt.Sprintf(`document.querySelectorAll(".lb-hint").length === %d`, n))
			p.Press("h")
		}
		p.Wait(`document.querySelectorAll(".lb-hint").length === 3`)
		for _, l := range all {
			p.Click("[data-lab=" + l.ID + "]")
			p.Wait(fmt.Sprintf(`document.querySelector("[data-n=%s]") !== null`, l.ID))
			words := p.Text(`document.body.innerText`)
			require.NotRegexp(t, "labs\\.\\w|`|\\*\\*|\\[object", words, "a text is missing, or its marks are there")
		}
		require.Contains(t, p.Text(`document.body.innerText`), "miniredisd grade L13 --template python L13")
	}
	require.Empty(t, p.Problems())
}

// With several masters the locks have a lane for each. With I/O threads the boxes have one for each, and
// main waits while it lends a client.
func TestThePageHasALaneForEachMasterAndThread(t *testing.T) {
	p := chromium.Start(t)
	p.Prefer("light", false)
	s := start(t, "--masters", "5")
	s.open(p, "locks", "en")
	p.Wait(`document.body.innerHTML.includes("master 5")`)

	s = start(t, "--io-threads", "3", "--io-threads-do-reads", "yes")
	s.open(p, "loop", "en")
	p.Wait(`document.body.dataset.state === "running"`)
	s.pause(p)
	s.command(p, "A", "INCR visits")
	s.stopped(p, "0")
	for p.Text(`document.getElementById("now").textContent.includes("lends")`) == "false" {
		s.press(p, "n")
	}
	for _, box := range []string{"read", "write"} {
		lanes := p.Text(fmt.Sprintf(`document.querySelector("[data-box=%s]").textContent`, box))
		require.Contains(t, lanes, "io_1")
		require.Contains(t, lanes, "io_2")
	}
	require.Contains(t, p.Text(`document.querySelector("[data-box=read]").textContent`), "main waits")
	require.Empty(t, p.Problems())
}
