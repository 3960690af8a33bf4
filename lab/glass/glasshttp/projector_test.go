package glasshttp

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Before an audience the sentence is large, nothing overflows, and the arrows or the keys of a remote control move on:
// back among what has happened, and forward in the server. Escape ends it.
func TestBeforeAnAudienceTheSentenceIsBigAndArrowsMoveOn(t *testing.T) {
	s := start(t)
	p := chromium.Start(t)
	p.Prefer("light", false)
	s.open(p, "loop", "en")
	s.story(p)
	const size = `parseFloat(getComputedStyle(document.getElementById("now")).fontSize)`
	require.Equal(t, "true", p.Text(size+` < 20`))
	p.Press("f")
	p.Wait(`document.documentElement.dataset.projector === "on" && !document.getElementById("forward").disabled`)
	before := p.Text(`document.body.dataset.seq`)
	for _, key := range []string{"ArrowRight", "PageDown"} {
		s.press(p, key)
		p.Wait(`document.body.dataset.seq > ` + before)
	}
	s.turn(p, "PageUp")
	s.turn(p, "ArrowRight")
	for _, window := range [][2]int{{1280, 800}, {1920, 1080}} {
		p.Size(window[0], window[1])
		require.Equal(t, "true", p.Text(size+` >= 24`))
		for _, lang := range []string{"en", "zh"} {
			p.Eval(`import("/i18n.js").then(m => m.setLang("`+lang+`"))`, nil)
			p.Wait(`document.body.dataset.lang === "` + lang + `"`)
			var found []string
			p.Eval(faults, &found)
			require.Empty(t, found)
			require.Equal(t, "true", p.Text(`document.documentElement.scrollHeight <= innerHeight + 1`))
		}
	}
	p.Press("Escape")
	p.Wait(`document.documentElement.dataset.projector === "off"`)
	require.Empty(t, p.Problems())
}
