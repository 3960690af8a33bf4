package glasshttp

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// cramped returns what a phone cannot show: an element that is wider than the window or beside it, a control that
// nobody can press since something covers it, and a text of a drawing that is too small to read. It waits until the
// strip has its new width.
const cramped = `(async () => {
	const strip = document.querySelector("svg.strip"), box = strip?.viewBox.baseVal
	const drawn = () => !strip?.clientHeight || !box.width ||
		Math.abs(strip.clientWidth / strip.clientHeight - box.width / box.height) < 0.1
	for (let i = 0; i < 2 || (!drawn() && i < 100); i++) await new Promise(requestAnimationFrame)
	const found = []
	const words = e => JSON.stringify(e.textContent.trim().slice(0, 30))
	const name = e => e.tagName + "." + (e.className.baseVal ?? e.className) + " " + words(e)
	const shown = {opacityProperty: true, visibilityProperty: true}
	const seen = e => e.checkVisibility(shown) && e.getBoundingClientRect().width > 0
	const scrolls = e => e && (["auto", "scroll"].includes(getComputedStyle(e).overflowX) ||
		getComputedStyle(e).textOverflow === "ellipsis" || scrolls(e.parentElement))
	for (const e of document.querySelectorAll("body *")) {
		if (!seen(e) || (e instanceof SVGElement && !e.matches("svg")) || scrolls(e.parentElement)) continue
		const r = e.getBoundingClientRect()
		if (r.left < -1 || r.right > innerWidth + 1) found.push(name(e) + " is at " + r.left + " to " + r.right)
	}
	for (const e of document.querySelectorAll("button, a, input, select")) {
		if (!seen(e) || e.disabled) continue
		e.scrollIntoView({block: "center"})
		const r = e.getBoundingClientRect()
		const at = document.elementFromPoint(r.left + r.width / 2, r.top + r.height / 2)
		if (!at || !(e.contains(at) || at.contains(e))) found.push(name(e) + " is covered by " + (at && name(at)))
		if (r.height < 20) found.push(name(e) + " is only " + r.height + " high")
	}
	for (const e of document.querySelectorAll("svg text")) {
		if (seen(e) && e.getBoundingClientRect().height < 11) found.push(name(e) + " is too small")
	}
	for (const e of document.querySelectorAll("body *")) {
		const size = parseFloat(getComputedStyle(e).fontSize)
		if (!(e instanceof SVGElement) && seen(e) && size < 12) found.push(name(e) + " has letters of " + size)
	}
	` + cutSelects + `
	scrollTo(0, 0)
	const wide = document.documentElement.scrollWidth
	if (wide > innerWidth) found.push("the page is " + wide + " wide")
	return [...new Set(found)]
})()`

// A phone shows every screen in one column: nothing is wider than the window, and every control can be pressed.
func TestEveryScreenFitsAPhone(t *testing.T) {
	s := start(t)
	p := chromium.Start(t)
	p.Prefer("light", false)
	s.open(p, "loop", "en")
	s.story(p)
	p.Size(390, 844)
	for _, lang := range []string{"en", "zh"} {
		for _, screen := range screens() {
			s.open(p, screen, lang)
			if lang == "en" {
				s.fill(p, screen)
			}
			var found []string
			p.Eval(cramped, &found)
			require.Empty(t, found, "%s %s:\n%s", screen, lang, strings.Join(found, "\n"))
		}
	}
	require.Empty(t, p.Problems())
}

// On a phone the picture follows the loop from box to box, and a button looks at another box until the next event.
func TestOnAPhoneThePictureShowsTheBoxWhereSomethingHappens(t *testing.T) {
	s := start(t)
	p := chromium.Start(t)
	p.Prefer("light", false)
	p.Size(390, 844)
	s.open(p, "loop", "en")
	s.pause(p)
	s.command(p, "A", "GET k")
	s.stopped(p, "0")
	s.seek(p, "GET k")
	const inView = `(name => {
		const box = document.querySelector("[data-box=" + name + "]").getBoundingClientRect()
		const view = document.querySelector(".scene").getBoundingClientRect()
		return box.left >= view.left && box.right <= view.right && box.top >= view.top && box.bottom <= view.bottom
	})`
	require.Equal(t, "true", p.Text(inView+`("execute")`))
	p.Click("[data-place=array]")
	require.Equal(t, "true", p.Text(inView+`("array")`))
	require.Equal(t, "false", p.Text(inView+`("execute")`))
	s.press(p, "n")
	require.Equal(t, "true", p.Text(inView+`("output")`))
	p.Size(1280, 800)
	p.Wait(`document.querySelector(".scene").getAttribute("viewBox").startsWith("0 0 ")`)
	require.Empty(t, p.Problems())
}
