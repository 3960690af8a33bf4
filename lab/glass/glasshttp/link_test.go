package glasshttp

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// packed returns the address of a page with a recording in it.
func (s *site) packed(text string) string {
	s.t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write([]byte(text))
	require.NoError(s.t, err)
	require.NoError(s.t, z.Close())
	return s.url + "/?lang=en#rec=" + base64.RawURLEncoding.EncodeToString(b.Bytes())
}

// Every recording that the server has goes into a link, and comes out the same, at the same event.
func TestALinkHoldsARecordingAndAPlaceInIt(t *testing.T) {
	s := start(t)
	p := chromium.Start(t)
	p.Prefer("light", false)
	s.open(p, "replay", "en")
	var names []string
	p.Eval(`[...document.querySelectorAll("[data-name]")].map(b => b.dataset.name)`, &names)
	require.Greater(t, len(names), 5)
	const told = `import("/store.js").then(s => JSON.stringify([s.frames.length, s.frame().e, s.frame().state]))`
	for i, name := range names {
		p.Click(fmt.Sprintf("[data-name=%s]", name))
		p.Wait(fmt.Sprintf(`document.querySelector("[data-name=%s][aria-current]")`, name))
		s.turn(p, "ArrowRight")
		s.turn(p, "ArrowRight")
		seq, want := p.Text(`document.body.dataset.seq`), p.Text(told)
		p.Click("[data-t='rp.share']")
		p.Wait(`!document.querySelector(".rp-link").hidden`)
		link := p.Text(`document.querySelector(".rp-link").value`)
		require.Less(t, len(link), 14_000, name)
		if i == 0 {
			p.Go("about:blank")
			p.Go(link)
		} else {
			p.Press("Escape") // out of the field with the link
			s.turn(p, "ArrowRight")
			p.Eval(fmt.Sprintf(`void (location.hash = new URL(%q).hash)`, link), nil)
		}
		p.Wait(fmt.Sprintf(`document.body.dataset.screen === "replay" && document.body.dataset.seq === %q`, seq))
		p.Wait(`document.getElementById("state").textContent.includes("from a link")`)
		require.Equal(t, want, p.Text(told), name)
	}
	require.Empty(t, p.Problems())
}

// hostileHeader has no fault. What follows it has.
const hostileHeader = `{"v":1,"version":"0","threads":["main"],"exec":"inline","multiplexer":"epoll"}`

// What is in a link becomes text. Nothing in it is an element, and nothing runs.
func TestALinkBringsNoElements(t *testing.T) {
	s := start(t)
	p := chromium.Start(t)
	p.Prefer("light", false)
	evil := `<img src=x onerror=window.ran=1><script>window.ran=1</script>`
	client := `{"id":1,"name":"` + evil + `","fd":7,"addr":"` + evil + `","recvq":1,"sendq":1,"buffered":1,"commands":1,` +
		`"output":9,"state":"reading","on":"` + evil + `","multi":-1,"watch":0,"db":0,"partial":"` + evil + `","next":["` +
		evil + `"],"out":"` + evil + `","thread":0}`
	text := hostileHeader + "\n" + `{"stop":{"event":[1,1,"x",0,1,1,1,0,0,"` + evil + `"],"why":"step",` +
		`"snapshot":{"clients":[` + client + `],"keys":[{"k":"` + evil + `","type":"string","v":"` + evil +
		`","ttl":-1,"by":1}],"more":0,"__proto__":{"polluted":1},"hostile":"` + evil + `"}}}` +
		"\n" + `[2,1,"y",0,1,2,1,5,0,"` + evil + `"]`
	for _, screen := range []string{"", "loop", "timeline"} {
		p.Go("about:blank")
		p.Go(s.packed(text))
		p.Wait(`document.body.dataset.screen === "replay" && document.body.dataset.seq === "1"`)
		if screen != "" {
			p.Click("#tab-" + screen)
			p.Wait(fmt.Sprintf(`document.body.dataset.screen === %q`, screen))
		}
		s.turn(p, "ArrowRight")
		require.Equal(t, "0", p.Text(`document.querySelectorAll("img, body script:not([type])").length`))
		require.Equal(t, "undefined undefined", p.Text(`String(window.ran) + " " + String({}.polluted)`))
		require.Contains(t, p.Text(`document.getElementById("now").textContent`), "<img src=x", "it is text")
	}
	require.Empty(t, p.Problems())
}

// A link that holds no recording, or one that is too large, says so. The page goes on with the live server. The first
// link loads the page, and the others come to a page that is there.
func TestALinkWithoutARecordingIsRefused(t *testing.T) {
	s := start(t)
	p := chromium.Start(t)
	p.Prefer("light", false)
	event := `[1,1,"w",0,0,1,1,1,1,"event"]`
	many := strings.Repeat(`"",`, 99) + `""`
	client := func(v string) string {
		return hostileHeader + "\n" + `{"stop":{"event":` + event + `,"snapshot":{"clients":` + v + `}}}`
	}
	for what, link := range map[string]string{
		"no base64":       s.url + "/?lang=en#rec=%3Cscript%3E",
		"not packed":      s.url + "/?lang=en#rec=aGVsbG8",
		"too long":        s.url + "/?lang=en#rec=" + strings.Repeat("A", 20_000),
		"a bomb":          s.packed(hostileHeader + "\n" + strings.Repeat(" ", 4<<20)),
		"no header":       s.packed(event),
		"a wrong point":   s.packed(hostileHeader + "\n" + strings.Replace(event, `"w"`, `"constructor"`, 1)),
		"a huge thread":   s.packed(hostileHeader + "\n" + `[1,1,"w",1e9,0,1,1,1,1,""]`),
		"clients a text":  s.packed(client(`"x"`)),
		"a wrong state":   s.packed(client(`[{"id":1}]`)),
		"many threads":    s.packed(strings.Replace(hostileHeader, `"main"`, many, 1) + "\n" + event),
		"many lines":      s.packed(hostileHeader + strings.Repeat("\n"+event, 6000)),
		"nothing to show": s.packed(hostileHeader),
	} {
		p.Go(link)
		p.Wait(`document.querySelector("#toast:not([hidden])")?.textContent === "This link holds no recording."`)
		p.Wait(`document.body.dataset.state === "running" && document.body.dataset.screen === "replay"`)
		t.Log(what)
		p.Eval(`document.getElementById("toast").hidden = true; location.hash = "loop"`, nil)
		p.Wait(`document.body.dataset.screen === "loop"`)
	}
	require.Empty(t, p.Problems())
}
