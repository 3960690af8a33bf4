package glasshttp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/browser"
)

// chromium is for all tests of this package. Each has a page of its own.
var chromium browser.Browser

// screens are the parts of the page, as the address names them behind #.
func screens() []string {
	return []string{"loop", "timeline", "claims", "locks", "models", "labs", "replay"}
}

// open shows a screen of the page in a language and waits until it is drawn.
func (s *site) open(p *browser.Page, screen, lang string) {
	s.t.Helper()
	p.Go(s.url + "/?lang=" + lang + "#" + screen)
	p.Wait(fmt.Sprintf(`document.body.dataset.screen === %q && document.body.dataset.lang === %q`, screen, lang))
}

// cutSelects finds selects whose text is cut by their arrow.
const cutSelects = `
	const ink = document.createElement("canvas").getContext("2d"), arrow = 20
	for (const e of document.querySelectorAll("select")) {
		if (!seen(e)) continue
		const style = getComputedStyle(e)
		ink.font = style.font
		for (const o of e.options) {
			const wide = ink.measureText(o.text).width + parseFloat(style.paddingLeft) + arrow
			if (wide > e.clientWidth) found.push("select " + JSON.stringify(o.text) + ": " + wide + " > " + e.clientWidth)
		}
	}
`

// faults returns what is wrong with the layout of the page: boxes of one parent that overlap, a
// text outside of its box, a text that is cut off without a title, and a page that is wider than
// its window. It looks after two frames: a page that has a new size draws itself in the first one.
const faults = `(async () => {
	for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame)
	const found = []
	const rect = e => e.getBoundingClientRect()
	const seen = e => e.checkVisibility({opacityProperty: true, visibilityProperty: true}) && rect(e).width > 0
	const name = e => e.dataset.box || e.className.baseVal || e.className || e.tagName
	const words = e => JSON.stringify(e.textContent.trim().slice(0, 40))
	const boxes = [...document.querySelectorAll("[data-box]")].filter(seen)
	for (const a of boxes) for (const b of boxes) {
		if (a === b || a.parentElement.closest("[data-box]") !== b.parentElement.closest("[data-box]")) continue
		if (a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_PRECEDING) continue
		const r = rect(a), o = rect(b)
		const x = Math.min(r.right, o.right) - Math.max(r.left, o.left)
		const y = Math.min(r.bottom, o.bottom) - Math.max(r.top, o.top)
		if (x > 1 && y > 1) found.push("boxes " + name(a) + " and " + name(b) + " overlap")
	}
	for (const text of document.querySelectorAll("[data-box] text")) {
		if (!seen(text)) continue
		const box = text.closest("[data-box]"), r = rect(text), o = rect(box)
		if (r.left < o.left - 1 || r.right > o.right + 1 || r.top < o.top - 3 || r.bottom > o.bottom + 3) {
			found.push("text " + words(text) + " is not inside box " + name(box))
		}
	}
	for (const e of document.querySelectorAll("body *")) {
		if (e instanceof SVGElement || !seen(e) || e.clientWidth === 0) continue
		if (![...e.childNodes].some(n => n.nodeType === Node.TEXT_NODE && n.data.trim())) continue
		const style = getComputedStyle(e)
		if (["auto", "scroll"].includes(style.overflowX) || e.tagName === "OPTION" || e.closest("[title]")) continue
		if (e.scrollWidth > e.clientWidth + 1) found.push("text " + words(e) + " is wider than its " + name(e))
	}
	` + cutSelects + `
	const page = document.documentElement
	if (page.scrollWidth > innerWidth) found.push("the page is " + page.scrollWidth + " wide")
	return found
})()`

func TestNoBoxesOverlapAndNoTextIsWiderThanItsBox(t *testing.T) {
	s := start(t)
	p := chromium.Start(t)
	s.open(p, "loop", "en")
	s.story(p)
	for _, lang := range []string{"en", "zh"} { // another language loads the page again, another screen does not
		for _, screen := range screens() {
			s.open(p, screen, lang)
			for _, size := range [][2]int{{1280, 800}, {1920, 1080}} {
				p.Size(size[0], size[1])
				for _, scheme := range []string{"light", "dark"} {
					p.Prefer(scheme, false)
					var found []string
					p.Eval(faults, &found)
					require.Empty(t, found, "%s %s %s %v:\n%s", screen, lang, scheme, size, strings.Join(found, "\n"))
				}
			}
		}
	}
	require.Empty(t, p.Problems())
}

// With several masters the head of the page has one control more. It fits, and so does the longest state.
func TestTheHeadOfThePageFitsWithSeveralMasters(t *testing.T) {
	s := start(t, "--masters", "3")
	p := chromium.Start(t)
	p.Prefer("light", false)
	for _, lang := range []string{"en", "zh"} {
		for _, screen := range append(screens(), "topology") {
			s.open(p, screen, lang)
			p.Wait(`document.body.dataset.state === "running" && document.querySelector("#masters:not([hidden])")`)
			for _, state := range []string{"running", "stopped at: script goes on"} {
				p.Eval(fmt.Sprintf(`document.getElementById("state").textContent = %q`, state), nil)
				var found []string
				p.Eval(faults, &found)
				require.Empty(t, found, "%s %s %s", screen, lang, state)
			}
		}
	}
	require.Empty(t, p.Problems())
}

// The help begins with its first words, although its button is at the end.
func TestTheHelpBeginsAtItsTop(t *testing.T) {
	s := start(t)
	p := chromium.Start(t)
	p.Prefer("light", false)
	s.open(p, "loop", "en")
	p.Press("?")
	p.Wait(`document.querySelector("dialog[open]")`)
	require.Equal(t, "true", p.Text(`(d => d.scrollHeight > d.clientHeight)(document.querySelector("dialog[open]"))`))
	require.Equal(t, "0", p.Text(`document.querySelector("dialog[open]").scrollTop`))
	p.Press("Escape")
	p.Wait(`!document.querySelector("dialog[open]")`)
	require.Empty(t, p.Problems())
}
