package report

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/browser"
)

// chromium is for all tests of this package. Each has a page of its own.
var chromium browser.Browser

// opened returns a browser that shows a report from a file.
func opened(t *testing.T, lang string) *browser.Page {
	t.Helper()
	p := chromium.Start(t)
	path := filepath.Join(t.TempDir(), "report.html")
	require.NoError(t, WriteHTML(path, sample(t), lang))
	p.Size(1280, 800)
	p.Prefer("light", false) // a page that scrolls slowly moves what the mouse is about to click
	p.Go("file://" + path)
	return p
}

func TestThePageWorksFromAFile(t *testing.T) {
	p := opened(t, "en")
	p.Click(`.matrix a[href="#f4"]`)
	p.Wait(`document.querySelector("#f4").open`)
	p.Wait(`document.activeElement.parentElement.id === "f4"`)
	require.Equal(t, "false", p.Text(`document.querySelector("#f3").open`))
	require.Equal(t, "worker-1, 1st request SET lock:order · request lost · noticed: the program ended with exit status 1",
		p.Text(`(document.querySelector(".matrix td").focus(), document.querySelector("#cell").textContent)`))
	p.Click("#f4 .copy")
	p.Wait(`document.querySelector("#f4 .copy").textContent === "Copied"`)
	require.Empty(t, p.Problems())
	for _, request := range p.Requests() {
		require.Regexp(t, "^(file|data):", request[:5])
	}
}

func TestKeysReachEveryCell(t *testing.T) {
	p := opened(t, "en")
	p.Eval(`document.querySelector(".matrix a").focus()`, nil)
	for _, key := range []string{"ArrowDown", "ArrowDown", "ArrowRight", "Enter"} {
		p.Press(key)
	}
	p.Wait(`document.querySelector("#f4").open`)
	require.Equal(t, "#f4", p.Text("location.hash"))
}

func TestTheLanguageAndTheThemeSwitch(t *testing.T) {
	p := opened(t, "en")
	before := p.Text(`document.body.innerText`)
	p.Click("#language")
	require.Equal(t, "zh", p.Text(`document.documentElement.lang`))
	require.Equal(t, "有 4 个错误会弄坏锁，6 个故障让它显现", p.Text(`document.querySelector("h1").textContent`))
	require.Contains(t, p.Text(`document.querySelector(".remarks li [lang=en]").textContent`), "The log cannot tell")
	svg := `decodeURIComponent(escape(atob(document.querySelector("figure img").src.split(",")[1])))`
	require.Contains(t, p.Text(svg), "服务器上的租约")
	require.Contains(t, p.Text(`document.querySelector("figure img").alt`), "任何时刻都只有一个持有者")
	require.Equal(t, "true", p.Text(`document.querySelector("figure a").href ===
		document.querySelector("figure img").src`))
	p.Click("#language")
	require.Equal(t, before, p.Text(`document.body.innerText`))
	require.Contains(t, p.Text(svg), "lease on the server")
	light := p.Text(`getComputedStyle(document.body).backgroundColor`)
	p.Click("#theme")
	require.NotEqual(t, light, p.Text(`getComputedStyle(document.body).backgroundColor`))
	require.Empty(t, p.Problems())
}

// contrasts returns the texts whose contrast with what is behind them is less than 4.5, and the icons with less
// than 3. A colour is drawn on a canvas first, because it may be a mix.
const contrasts = `(() => {
	const canvas = Object.assign(document.createElement("canvas"), { width: 1, height: 1 })
	const draw = canvas.getContext("2d", { willReadFrequently: true })
	const over = (colours) => {
		draw.fillStyle = "#fff"
		draw.fillRect(0, 0, 1, 1)
		for (const c of colours) { draw.fillStyle = c; draw.fillRect(0, 0, 1, 1) }
		return draw.getImageData(0, 0, 1, 1).data
	}
	const light = (d) => [0, 1, 2].map(i => d[i] / 255).map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
		.reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0)
	const bad = []
	for (const e of document.querySelectorAll("body *")) {
		const icon = e.matches("svg.icon")
		const words = [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim())
		if ((!icon && !words) || !e.checkVisibility() || e.closest(".sr, .skip, script, style")) continue
		const behind = []
		for (let p = e; p; p = p.parentElement) behind.unshift(getComputedStyle(p).backgroundColor)
		const a = light(over(behind)), b = light(over([...behind, getComputedStyle(e).color]))
		const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
		if (ratio < (icon ? 3 : 4.5)) bad.push(e.className + " " + e.textContent.slice(0, 30) + " " + ratio.toFixed(2))
	}
	return [...new Set(bad)].slice(0, 10)
})()`

func TestThePageIsReadableInEverySizeThemeAndLanguage(t *testing.T) {
	p := opened(t, "en")
	for range 2 {
		for _, theme := range []string{"light", "dark"} {
			p.Prefer(theme, false)
			p.Eval(`document.querySelectorAll("details:not([name])").forEach(e => e.open = true)`, nil)
			var bad []string
			p.Eval(contrasts, &bad)
			require.Empty(t, bad, theme)
			for _, width := range []int{390, 1280, 1920} {
				p.Size(width, 800)
				require.Equal(t, "true", p.Text(`document.documentElement.scrollWidth <= innerWidth`), "%s, %d", theme, width)
			}
		}
		p.Click("#language")
	}
}

// A screen reader says for each cell: its row, its column, and its mark in a word.
func TestTheMatrixIsATableForAScreenReader(t *testing.T) {
	p := opened(t, "en")
	require.Equal(t, "What each failure did at each place",
		p.Text(`document.querySelector(".matrix caption").textContent`))
	require.Equal(t, "true", p.Text(`[...document.querySelectorAll(".matrix tbody tr")].every(row =>
		row.cells.length === 21 && row.cells[0].scope === "row" &&
		[...row.cells].slice(1).every(c => c.textContent.trim()))`))
	require.Equal(t, "21", p.Text(`document.querySelectorAll(".matrix thead th[scope=col]").length`))
	require.Equal(t, "true", p.Text(`[...document.querySelectorAll("img")].every(i => i.alt.length > 100)`))
}
