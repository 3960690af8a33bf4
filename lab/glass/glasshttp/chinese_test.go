package glasshttp

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// On a Chinese page, what comes from the server is Chinese, too: the doctor's findings, the log of the lab, the main
// thread. Commands and the names of findings stay.
func TestWhatTheServerSaysIsChineseOnAChinesePage(t *testing.T) {
	s := start(t)
	p := chromium.Start(t)
	p.Prefer("light", false)
	s.open(p, "loop", "zh")
	s.story(p)
	s.open(p, "timeline", "zh")
	p.Wait(`document.querySelector(".timeline .ground + text")`)
	require.Equal(t, "主线程", p.Text(`document.querySelector(".timeline .ground + text").textContent`))
	s.open(p, "locks", "zh")
	s.fill(p, "locks")
	var all []string
	p.Eval(`[...document.querySelectorAll(".lk-doctor li")].flatMap(li => [li.querySelector("b"), li.querySelector("p")])
		.map(e => e.textContent)`, &all)
	require.GreaterOrEqual(t, len(all), 6)
	for _, text := range all {
		require.Regexp(t, `\p{Han}`, text)
	}
	var log string
	p.Eval(`document.querySelector(".lk-history").innerText`, &log)
	for _, word := range []string{"过期 lock:a", "已扣住", "时钟"} {
		require.Contains(t, log, word)
	}
	var buttons string
	s.open(p, "replay", "zh")
	p.Wait(`document.querySelector(".drop .choose").textContent`)
	p.Eval(`document.querySelector(".drop").innerText +
		getComputedStyle(document.querySelector(".drop input")).opacity`, &buttons)
	require.Contains(t, buttons, "选择文件")
	require.True(t, strings.HasSuffix(buttons, "0"), "the browser's button has the browser's language")
	s.open(p, "claims", "zh")
	s.fill(p, "claims")
	require.Contains(t, p.Text(`document.body.innerText`), "命令 = 1")
	s.open(p, "locks", "zh")
	p.Wait(`document.querySelector(".lk-verdict a")`)
	var views []string
	p.Eval(`[...document.querySelectorAll(".lk-verdict a")].map(a => a.getAttribute("href"))`, &views)
	require.Equal(t, []string{"/lab/verdict.svg?lang=zh", "/lab/verdict.html?lang=zh"}, views)
	require.Empty(t, p.Problems())
}
