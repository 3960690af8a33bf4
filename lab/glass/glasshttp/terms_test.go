package glasshttp

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// A click on a word of the kernel says what it means, and does nothing else: not even in a box that is a button.
func TestAClickExplainsAWord(t *testing.T) {
	s := start(t, "--io-threads", "3", "--io-threads-do-reads", "yes")
	p := chromium.Start(t)
	p.Prefer("light", false)
	s.open(p, "loop", "en")
	s.story(p)
	for _, lang := range []string{"en", "zh"} {
		p.Wait(fmt.Sprintf(`document.body.dataset.lang === %q`, lang))
		for _, word := range []string{"epoll_wait", "fd", "Recv-Q", "Send-Q", "barrier"} {
			p.Click(fmt.Sprintf("svg [data-term=%q]", word))
			p.Wait(fmt.Sprintf(`document.querySelector("#term:popover-open b")?.textContent === %q`, word))
			require.NotContains(t, p.Text(`document.querySelector("#term p").textContent`), "term.")
			p.Press("Escape") // it may cover the next word
			p.Wait(`!document.querySelector("#term:popover-open")`)
		}
		require.Equal(t, "0", p.Text(`document.querySelectorAll(".breaks").length`))
		p.Press("l")
	}
	p.Press("?")
	p.Wait(`document.querySelector("dialog[open]")`)
	words := p.Text(`[...document.querySelectorAll(".glossary dt")].map(e => e.textContent).join(" ")`)
	require.Equal(t, "epoll_wait eventfd EAGAIN Recv-Q Send-Q barrier backlog fd", words)
	require.Empty(t, p.Problems())
}

// Every word that is explained stands in a sentence of the page, and is a button there once.
func TestWordsOfASentenceAreButtons(t *testing.T) {
	s := start(t)
	p := chromium.Start(t)
	s.open(p, "loop", "en")
	var marks []string
	p.Eval(`import("/terms.js").then(({marked}) => import("/text/say.js").then(({default: say}) =>
		[...new Set(["en", "zh"].flatMap(l => Object.values(say[l])).flatMap(marked).filter(x => x.dataset)
			.map(x => x.dataset.term))].sort()))`, &marks)
	require.Equal(t, []string{"EAGAIN", "backlog", "barrier", "eventfd", "fd"}, marks, "epoll_wait is a variable there")
	p.Eval(`import("/terms.js").then(({marked}) => marked("fd 7: a descriptor, and epoll_wait, epoll_wait; 描述符")
		.map(x => x.dataset ? "[" + x.textContent + "]" : x))`, &marks)
	require.Equal(t, []string{"[fd]", " 7: a ", "descriptor", ", and ", "[epoll_wait]", ", ", "epoll_wait", "; ", "描述符"},
		marks)
	require.Empty(t, p.Problems())
}
