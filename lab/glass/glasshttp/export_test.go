package glasshttp

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A recording that is saved as one HTML file opens from the disk: it has every module and both style sheets in it, and
// no tour, which needs a server.
func TestASavedFileOpensWithoutAServer(t *testing.T) {
	s := start(t)
	p := chromium.Start(t)
	p.Prefer("light", false)
	s.open(p, "replay", "en")
	p.Wait(`document.querySelector("[data-name=pipeline]")`)
	p.Click("[data-name=pipeline]")
	p.Wait(`document.querySelector("[data-name=pipeline][aria-current]")`)
	var text string
	p.Eval(`import("/replay.js").then(m => m.bundle())`, &text)
	path := filepath.Join(t.TempDir(), "pipeline.html")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	p.Go("file://" + path)
	p.Wait(`document.body.dataset.screen === "replay" && document.body.dataset.seq !== "0"`)
	s.turn(p, "ArrowRight")
	for _, width := range []int{1280, 390} {
		p.Size(width, 800)
		require.Equal(t, "true", p.Text(`document.documentElement.scrollWidth <= innerWidth`))
	}
	p.Press("1")
	p.Wait(`document.body.dataset.screen === "loop" && document.querySelector(".wh-says")`)
	require.Equal(t, "true", p.Text(`document.getElementById("set-tour").hidden`))
	require.Empty(t, p.Problems())
}
