package browser

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// chromium is for all tests of this package.
var chromium Browser

// serve serves a page with a content security policy.
func serve(t *testing.T, page string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'self'")
		switch r.URL.Path {
		case "/":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, `<!doctype html><link rel="icon" href="icon"><script src="script"></script>`+page)
		case "/script":
			w.Header().Set("Content-Type", "text/javascript")
			fmt.Fprint(w, `addEventListener("load", () => {
				const list = document.querySelector("ul")
				const say = text => { const li = document.createElement("li"); li.textContent = text; list.append(li) }
				document.querySelector("button").onclick = () => setTimeout(() => say("clicked"))
				addEventListener("keydown", e => say(e.key))
			})`)
		case "/icon":
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

const simple = `<button>press</button><input><ul></ul>`

func TestAClickAndAKeyChangeThePage(t *testing.T) {
	p := chromium.Start(t)
	url := serve(t, simple)
	p.Go(url)
	p.Click("button")
	p.Wait(`document.querySelector("li")`)
	for _, key := range []string{"n", "ArrowLeft", " ", "Enter"} {
		p.Press(key)
	}
	p.Wait(`document.querySelectorAll("li").length >= 5`)
	var all []string
	p.Eval(`[...document.querySelectorAll("li")].map(e => e.textContent)`, &all)
	require.Subset(t, all, []string{"clicked", "n", "ArrowLeft", " ", "Enter"})
	p.Click("input")
	p.Type("lock:中文")
	require.Equal(t, "lock:中文", p.Text(`document.querySelector("input").value`))
	require.Empty(t, p.Problems())
	for _, request := range p.Requests() {
		require.Contains(t, request, url)
	}
}

func TestWhatThePageMayNotDoIsAProblem(t *testing.T) {
	p := chromium.Start(t)
	p.Go(serve(t, simple+`<p style="color: red">`))
	require.Contains(t, fmt.Sprint(p.Problems()), "Content Security Policy")
	p = chromium.Start(t)
	p.Go(serve(t, simple))
	p.Eval(`console.error("broken")`, nil)
	p.Eval(`setTimeout(() => { throw new Error("thrown") })`, nil)
	p.Eval(`fetch("/nowhere")`, nil)
	p.Eval(`new Promise(done => setTimeout(done))`, nil)
	problems := fmt.Sprint(p.Problems())
	for _, text := range []string{"broken", "thrown", "404"} {
		require.Contains(t, problems, text)
	}
}

func TestSizeAndPreferencesReachThePage(t *testing.T) {
	p := chromium.Start(t)
	p.Go(serve(t, simple))
	p.Size(700, 300)
	p.Prefer("dark", false)
	require.Equal(t, "700,300,true,true", p.Text(`[innerWidth, innerHeight,
		matchMedia("(prefers-color-scheme: dark)").matches, matchMedia("(prefers-reduced-motion: reduce)").matches]`))
	shot, err := png.Decode(bytes.NewReader(p.Screenshot()))
	require.NoError(t, err)
	require.Equal(t, 700, shot.Bounds().Dx())
}

// What one test leaves in its browser does not reach the next one. Events reach the page that they belong to.
func TestPagesShareNothing(t *testing.T) {
	url := serve(t, simple)
	p, other := chromium.Start(t), chromium.Start(t)
	require.Same(t, p.chromium, other.chromium)
	for _, page := range []*Page{p, other} {
		page.Go(url)
		require.Equal(t, "null,,visible,true", page.Text(`[localStorage.getItem("k") + "", document.cookie,
			document.visibilityState, document.hasFocus()]`))
		page.Eval(`localStorage.setItem("k", "v"); document.cookie = "k=v"`, nil)
	}
	p.Eval(`console.error("broken")`, nil)
	require.Contains(t, fmt.Sprint(p.Problems()), "broken")
	require.Empty(t, other.Problems())
	require.Equal(t, len(p.Requests()), len(other.Requests()))
}

// A page whose scripts are frozen runs no timer. Another page continues.
func TestAFrozenPageStandsAlone(t *testing.T) {
	url := serve(t, simple)
	p, other := chromium.Start(t), chromium.Start(t)
	p.Go(url)
	other.Go(url)
	p.Eval(`window.ran = 0; window.turn = () => { ran++; setTimeout(turn) }; turn()`, nil)
	p.Freeze()
	before := p.Text("ran")
	other.Eval(`new Promise(done => {
		let turns = 0
		const turn = () => ++turns > 20 ? done() : setTimeout(turn)
		turn()
	})`, nil)
	require.Equal(t, before, p.Text("ran"))
	p.Thaw()
	p.Eval(`new Promise(done => {
		const before = ran
		const look = () => ran > before ? done() : setTimeout(look)
		look()
	})`, nil)
}

// failing is a test that keeps what it says of its failure, and has an end of its own.
type failing struct {
	testing.TB
	said string
	ends []func()
}

func (f *failing) Errorf(format string, args ...any) { f.said += fmt.Sprintf(format, args...) }
func (f *failing) Cleanup(end func())                { f.ends = append(f.ends, end) }

// The test that was under way fails. The profile is gone, and the next test starts another chromium.
func TestWhenChromiumEndsTheNextTestStartsAnother(t *testing.T) {
	var own Browser
	under := &failing{TB: t}
	p := own.Start(under)
	profile := strings.TrimSuffix(p.chromium.log.Name(), "/stderr")
	require.DirExists(t, profile)
	require.Error(t, p.chromium.call("", "Browser.crash", nil, nil))
	<-p.chromium.done
	require.NoDirExists(t, profile)
	for _, end := range under.ends {
		end()
	}
	require.Contains(t, under.said, "chromium ended by itself")
	next := own.Start(t)
	require.NotSame(t, p.chromium, next.chromium)
	next.Go(serve(t, simple))
}

func TestAPaletteKeepsFrequentColours(t *testing.T) {
	m := image.NewRGBA(image.Rect(0, 0, 640, 10))
	for x := range 640 {
		for y := range 10 {
			m.Set(x, y, color.RGBA{R: uint8(x % 320), G: uint8(x / 320), A: 255})
		}
	}
	var full bytes.Buffer
	require.NoError(t, png.Encode(&full, m))
	small, err := Palette(full.Bytes())
	require.NoError(t, err)
	got, err := png.Decode(bytes.NewReader(small))
	require.NoError(t, err)
	require.LessOrEqual(t, len(got.(*image.Paletted).Palette), 256)
	for x := range 640 {
		r, _, _, _ := got.At(x, 0).RGBA()
		require.InDelta(t, x%320%256, int(r>>8), 4)
	}
}
