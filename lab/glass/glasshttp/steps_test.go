package glasshttp

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/browser"
)

// at returns what the page says of an event and the texts of its boxes, one a line. Numbers of
// descriptors and times differ from run to run.
func at(p *browser.Page) string {
	text := "== " + p.Text(`document.getElementById("now").textContent`) + "\n"
	text += p.Text(`[...document.querySelectorAll("[data-box]:not(.absent)")].map(box => {
		const words = text => [...text.childNodes].filter(n => n.nodeName !== "title").map(n => n.textContent).join(" ")
		const texts = [...box.querySelectorAll("text")].map(words)
		return box.dataset.box + ": " + texts.filter(x => x.trim()).join(" | ")
	}).join("\n")`)
	for _, change := range [][2]string{{`fd \d+`, "fd N"}, {`\d+(\.\d+)? (µs|ms|s)\b`, "N s"}} {
		text = regexp.MustCompile(change[0]).ReplaceAllString(text, change[1])
	}
	return text + "\n"
}

// One command, from the first byte to the reply, one event at a time. Going back shows the same
// states, and going forward again too. go test ./lab/glass/glasshttp -run GoldenSteps -update writes
// the golden file.
func TestGoldenStepsForwardAndBack(t *testing.T) {
	s := start(t)
	p := chromium.Start(t)
	p.Prefer("light", false)
	s.open(p, "loop", "en")
	s.command(p, "A", "PING")
	s.told(p, "A", `+PONG\r\n`)
	s.pause(p)
	s.command(p, "A", "SET lock:a token-of-A NX PX 30000")
	s.stopped(p, "0")
	first := p.Text(`document.body.dataset.seq`)
	var states []string
	for p.Text(`document.body.dataset.state`) == "stopped" {
		states = append(states, at(p))
		s.press(p, "n")
	}
	p.Wait(`document.body.dataset.state === "asleep"`)
	for i := len(states) - 1; i > 0; i-- {
		s.turn(p, "ArrowLeft")
		require.Equal(t, states[i-1], at(p), "back at %d", i)
	}
	require.Equal(t, first, p.Text(`document.body.dataset.seq`))
	for i := 1; i < len(states)-1; i++ { // behind the last one the loop is asleep
		s.turn(p, "ArrowRight")
		require.Equal(t, states[i], at(p), "forward at %d", i)
	}
	got := strings.Join(states, "\n")
	golden := filepath.Join("testdata", "steps.txt")
	if update() {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

// What the server says may redraw a screen while a button is down. The click arrives all the same, then the news.
func TestAButtonThatIsDownIsNotReplaced(t *testing.T) {
	s := start(t)
	p := chromium.Start(t)
	p.Prefer("light", false)
	for screen, button := range map[string][2]string{
		"claims": {"[data-claim='3']", `document.querySelector("[data-n='3']")`},
		"locks":  {"[data-do=story-lost]", `document.querySelector("[data-do=story-lost][aria-pressed=true]")`},
	} {
		s.open(p, screen, "en")
		p.Wait(fmt.Sprintf(`document.querySelector(%q)`, button[0]+":not([disabled])"))
		var at struct{ X, Y float64 }
		p.Eval(fmt.Sprintf(`(r => ({x: r.x + r.width / 2, y: r.y + r.height / 2}))(
			document.querySelector(%q).getBoundingClientRect())`, button[0]), &at)
		p.Do("Input.dispatchMouseEvent", "type", "mousePressed", "x", at.X, "y", at.Y, "button", "left", "clickCount", 1)
		p.Eval(`import("/i18n.js").then(m => m.setLang("zh"))`, nil)
		p.Eval(fmt.Sprintf(`import("/%s.js").then(m => m.render())`, screen), nil)
		p.Do("Input.dispatchMouseEvent", "type", "mouseReleased", "x", at.X, "y", at.Y, "button", "left", "clickCount", 1)
		p.Wait(button[1])
		p.Wait(fmt.Sprintf(`/\p{Script=Han}/u.test(document.querySelector(%q).textContent)`, button[0]))
		p.Press("l")
	}
	require.Empty(t, p.Problems())
}
