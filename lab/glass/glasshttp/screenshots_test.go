package glasshttp

import (
	"bytes"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/browser"
)

// The pictures in docs/watch show every screen in both languages.
// go test ./lab/glass/glasshttp -run Screenshots -update takes them. Without -update no browser is needed: other tests
// fill the same screens.
func TestScreenshotsOfEveryScreen(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "docs", "watch")
	if update() {
		takeScreenshots(t, dir)
	}
	for _, lang := range []string{"en", "zh"} {
		for _, screen := range screens() {
			path := filepath.Join(dir, screen+"-"+lang+".png")
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Less(t, len(text), 100<<10, path)
			size, err := png.DecodeConfig(bytes.NewReader(text))
			require.NoError(t, err)
			require.Equal(t, []int{1280, 800}, []int{size.Width, size.Height}, path)
		}
	}
}

func takeScreenshots(t *testing.T, dir string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(dir, 0o755))
	p := chromium.Start(t)
	p.Prefer("light", false)
	for _, lang := range []string{"en", "zh"} {
		s := start(t)
		s.open(p, "loop", lang)
		s.story(p)
		for _, screen := range screens() {
			s.open(p, screen, lang)
			s.fill(p, screen)
			p.Do("Input.dispatchMouseEvent", "type", "mouseMoved", "x", 0, "y", 0)
			shot, err := browser.Palette(p.Screenshot())
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(dir, screen+"-"+lang+".png"), shot, 0o644))
		}
	}
}

// fill shows something worth a picture: a claim with its verdict, a lock that is lost.
func (s *site) fill(p *browser.Page, screen string) {
	s.t.Helper()
	switch screen {
	case "labs":
		p.Wait(`document.querySelector("[data-lab=L04]")`)
		p.Click("[data-lab=L04]")
	case "claims":
		p.Press("b")
		p.Wait(`document.querySelector("[data-verdict]")`)
	case "locks":
		s.must("/lab/step/continue", "")
		p.Wait(`document.querySelector("[data-do=story-del]:not([disabled])")`)
		p.Click("[data-do=story-del]")
		for step := range 6 {
			p.Wait(fmt.Sprintf(`document.querySelector("[data-step='%d'] [data-do=next]:not([disabled])")`, step))
			p.Click("[data-do=next]")
		}
		p.Wait(`document.querySelector("[data-busy=false] [data-step='6']") &&
			document.querySelector("[data-verdict=two]")`)
	}
}
