package glasshttp

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

// A server that is silent may sleep or work. The page says which, in both languages: it knows that a command has
// begun and not ended.
func TestThePageOfABusyServerDoesNotSayThatItSleeps(t *testing.T) {
	s := start(t, "--busy-reply-threshold", "300")
	p := chromium.Start(t)
	p.Prefer("light", false)
	s.open(p, "loop", "en")
	says := func(words string) {
		t.Helper()
		p.Wait(fmt.Sprintf(`document.getElementById("now").textContent.includes(%q)`, words))
		require.Equal(t, strings.Contains(words, "sleeps") || strings.Contains(words, "休眠"),
			p.Text(`document.querySelector(".scene .moon") !== null`) == "true", words)
	}
	s.command(p, "B", "PING")
	s.told(p, "B", `+PONG\r\n`)
	says("The loop sleeps in epoll_wait")
	s.command(p, "A", `EVAL "while true do end" 0`)
	says("still runs. The loop cannot go on before it ends, so nobody else is served.")
	require.Equal(t, "busy", p.Text(`document.getElementById("state").textContent`))
	p.Press("l")
	says("还在运行。它结束之前，循环无法继续，别人都得不到服务。")
	s.command(p, "B", "GET k")
	says("它们大多得到 BUSY。")
	p.Press("l")
	says("most of them get BUSY.")
	s.command(p, "B", "SCRIPT KILL")
	says("The loop sleeps in epoll_wait")
	require.Empty(t, p.Problems())
}

// While nobody watched, clients have come and gone, and keys as well. A page that is opened then shows who is there
// and how many keys, and knows its own client again.
func TestAPageThatIsOpenedLaterShowsWhatThereIs(t *testing.T) {
	s := start(t)
	p := chromium.Start(t)
	p.Prefer("light", false)
	s.open(p, "loop", "en")
	s.command(p, "A", "SET k v")
	s.told(p, "A", `+OK\r\n`)
	var all []*redistest.Conn
	for i := range 30 {
		all = append(all, redistest.Dial(t, s.masters.Addrs()[0]))
		all[i].Do("SET", fmt.Sprint("more:", i), "v")
	}
	s.must("/lab/step/next/event/1000000", "") // so that there are events of everything, and the oldest are forgotten
	for range 700 {
		all[0].Do("PING")
	}
	s.must("/lab/step/continue", "")
	p.Go("about:blank")
	for i, c := range all {
		c.Do("DEL", fmt.Sprint("more:", i))
		c.Close()
	}
	redistest.Until(t, func() bool {
		info, err := s.masters.Do(context.Background(), 1, "INFO", "clients")
		return err == nil && strings.Contains(info.Str, "connected_clients:1\r\n")
	})
	s.open(p, "loop", "en")
	p.Eval(`import("/store.js").then(store => new Promise(done => {
		const check = () => {
			const {clients, keys, keysMore} = store.view()
			if (clients.map(c => store.who(c.id).name).join() === "A" && keys.length === 1 && !keysMore) done()
		}
		store.on(check)
		check()
	}))`, nil)
	p.Wait(`document.querySelector("[data-client=A] .mood").textContent === "idle"`)
	p.Wait(`!document.querySelector(".scene").textContent.includes("others")`)
	require.Empty(t, p.Problems())
}

// The button says what its client does, also after a reload. A connection that begins anew reads again.
func TestAButtonSaysWhetherItsClientReads(t *testing.T) {
	s := start(t)
	p := chromium.Start(t)
	p.Prefer("light", false)
	s.open(p, "loop", "en")
	says := func(words string) {
		t.Helper()
		p.Wait(fmt.Sprintf(`(b => b.textContent === %q && !b.disabled)(document.querySelector("[data-way=reading]"))`, words))
	}
	s.command(p, "A", "PING")
	says("stop reading")
	p.Click("[data-way=reading]")
	says("read again")
	p.Go("about:blank")
	s.open(p, "loop", "en")
	says("read again")
	p.Click("[data-way=reset]")
	p.Wait(`document.querySelector("[data-way=reading]").disabled`)
	p.Wait(`[...document.querySelectorAll(".strip .band")].some(band => band.textContent.includes("close"))`)
	p.Click("[data-way=whole]")
	says("stop reading")
	s.told(p, "A", `+OK\r\n`)
	require.Empty(t, p.Problems())
}
