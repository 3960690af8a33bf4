package glasshttp

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/course/labs"
)

// With any number of masters, A and B each have a majority, and what both need is as small as it can be.
func TestStoriesOfRedlockFitAnyNumberOfMasters(t *testing.T) {
	s := start(t)
	p := chromium.Start(t)
	s.open(p, "locks", "en")
	for n := 2; n <= 9; n++ {
		var q struct{ A, B, Both []int }
		p.Eval(fmt.Sprintf(`import("/stories.js").then(m => m.quorums(%d))`, n), &q)
		require.Len(t, q.A, n/2+1)
		require.Len(t, q.B, n/2+1)
		require.Equal(t, n, q.B[len(q.B)-1])
		require.Len(t, q.Both, 2-n%2, "%d masters", n)
		require.Subset(t, q.A, q.Both)
		require.Subset(t, q.B, q.Both)
	}
}

// With three masters there are the three stories of Redlock: a crash and a clock that jumps make two holders. A pause
// makes none, and the late write replaces the right one all the same.
func TestRedlockIsLostByACrashAClockAndAPause(t *testing.T) {
	s := start(t, "--masters", "3")
	p := chromium.Start(t)
	p.Prefer("light", false)
	s.open(p, "locks", "en")
	for _, story := range []struct {
		name    string
		steps   int
		verdict string
	}{{"redlock", 3, "two"}, {"jump", 3, "two"}, {"pause", 5, "one"}} {
		button := fmt.Sprintf("[data-do=story-%s]:not([disabled])", story.name)
		p.Wait(fmt.Sprintf(`document.querySelector(%q)`, button))
		p.Click(button)
		for step := range story.steps {
			p.Wait(fmt.Sprintf(`document.querySelector("[data-step='%d'] [data-do=next]:not([disabled])")`, step))
			p.Click("[data-do=next]")
		}
		p.Wait(fmt.Sprintf(`document.querySelector("[data-busy=false] [data-step='%d']") &&
			document.querySelector("[data-verdict=%s]")`, story.steps, story.verdict))
	}
	writes := p.Text(`[...document.querySelectorAll(".lk-history li")].filter(li => li.innerText.includes("lock:a:stock"))
		.map(li => li.querySelector("b").textContent + " " + li.querySelector(".lk-reply").textContent).join(", ")`)
	require.Equal(t, "A 1 OK, B 1 OK, A 1 held", writes, "newest first")
	require.Empty(t, p.Problems())
}

// A screen that is still empty says what to press, and pressing it is enough.
func TestEmptyScreensSayWhatToPress(t *testing.T) {
	s := start(t)
	p := chromium.Start(t)
	p.Prefer("light", false)
	s.open(p, "timeline", "en")
	p.Wait(`document.querySelector("[data-do=ping]").checkVisibility()`)
	require.Equal(t, "0",
		p.Text(`[...document.querySelectorAll(".timeline svg")].filter(e => e.checkVisibility()).length`))
	p.Click("[data-do=ping]")
	p.Wait(`!document.querySelector("[data-do=ping]").checkVisibility() && document.querySelector(".request")`)
	s.open(p, "locks", "en")
	p.Wait(`document.querySelector("[data-do=first]:not([disabled])")`)
	p.Wait(`document.querySelector(".lk-told").clientWidth > 400`)
	p.Click("[data-do=first]")
	p.Wait(`document.querySelector("[data-step='0'] [data-do=next]:not([disabled])")`)
	require.Equal(t, "false", p.Text(`document.querySelector("[data-do=first]") !== null`))
	require.Empty(t, p.Problems())
}

// A screen reader hears the sentence of each stop. While the server runs it hears that, and not ten sentences a
// second.
func TestAScreenReaderHearsWhatTheLoopDoes(t *testing.T) {
	s := start(t)
	p := chromium.Start(t)
	p.Prefer("light", false)
	s.open(p, "loop", "en")
	s.story(p)
	const heard = `document.querySelector("[aria-live].heard").textContent`
	require.Equal(t, "true", p.Text(heard+` === document.getElementById("now").textContent`))
	require.Contains(t, p.Text(heard), "token-of-B")
	s.must("/lab/step/continue", "")
	s.must("/watch/load", `{"clients": 4, "requests": 20000, "pipeline": 1, "master": 1}`)
	p.Wait(heard + ` === "running" || document.getElementById("now").textContent.startsWith("The loop sleeps")`)
	inside := p.Text(`document.querySelectorAll("[role=img] [role=button]").length`)
	require.Equal(t, "0", inside, "an image has no buttons")
	var nameless []string
	for _, screen := range screens() {
		s.open(p, screen, "en")
		p.Eval(`[...document.querySelectorAll("button, a, input, select, [role=button]")]
			.filter(e => e.checkVisibility())
			.filter(e => !(e.getAttribute("aria-label") || e.textContent.trim() || e.title || e.labels?.length))
			.map(e => e.outerHTML.slice(0, 80))`, &nameless)
		require.Empty(t, nameless, screen)
	}
	require.Empty(t, p.Problems())
}

// The page names every language that has a skeleton, with the commands that start it.
func TestThePageStartsEverySkeleton(t *testing.T) {
	s := start(t)
	p := chromium.Start(t)
	s.open(p, "labs", "en")
	var commands map[string][]string
	p.Eval(`import("/labs.js").then(m => m.COMMANDS)`, &commands)
	require.Len(t, commands, len(labs.Languages()))
	for _, language := range labs.Languages() {
		build, run := labs.Command(language)
		if build != "" {
			build += " && "
		}
		require.Equal(t, []string{build, run}, commands[language][1:], language)
	}
}
