package glasshttp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/browser"
	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/lab/topology"
)

// topology opens the screen of many servers, whose clocks stand still.
func (s *site) topology(p *browser.Page, lang string) {
	s.t.Helper()
	p.Prefer("light", false)
	s.lab("ALL", "CLOCK", "FREEZE")
	s.open(p, "topology", lang)
	p.Wait(`document.querySelectorAll("[data-node]").length === 6`)
}

// lab sends words of LAB.
func (s *site) lab(words ...string) {
	s.t.Helper()
	s.must("/lab", `{"args": ["`+strings.Join(words, `", "`)+`"]}`)
}

// says sends a command as a client of the page, and waits for the reply.
func (s *site) says(p *browser.Page, client string, master int, command, reply string) {
	s.t.Helper()
	s.must("/watch/clients", fmt.Sprintf(`{"do": "open", "name": %q, "master": %d}`, client, master))
	s.must("/watch/clients", fmt.Sprintf(`{"do": "send", "name": %q, "data": %q}`, client, command+"\r\n"))
	s.told(p, client, reply)
}

// types sends a line of the screen.
func (s *site) types(p *browser.Page, line string) {
	s.t.Helper()
	p.Click(".tp-line input")
	p.Eval(`document.querySelector(".tp-line input").select()`, nil)
	p.Type(line)
	p.Press("Enter")
}

// moves fills the form that moves a slot, and sends it.
func (s *site) moves(p *browser.Page, key, to, step string) {
	s.t.Helper()
	p.Eval(fmt.Sprintf(`for (const [name, value] of [["slot", %q], ["to", %q], ["step", %q]])
		document.querySelector(".tp-mover [name=" + name + "]").value = value`, key, to, step), nil)
	p.Click("[data-do=move]")
}

// has waits until the list of changes has a text.
func (s *site) has(p *browser.Page, text string) {
	s.t.Helper()
	p.Wait(fmt.Sprintf(`document.querySelector(".tp-news").textContent.includes(%q)`, text))
}

func TestThePageShowsAFailoverUnderSentinel(t *testing.T) {
	s := start(t, "--replicas", "2", "--sentinels", "3")
	addr := s.masters.Addrs()[2]
	third := addr[strings.LastIndex(addr, ":")+1:]
	p := chromium.Start(t)
	s.topology(p, "en")
	priority := func(of int, value string) {
		_, err := s.masters.Do(t.Context(), of, "CONFIG", "SET", "replica-priority", value)
		require.NoError(t, err)
	}
	priority(2, "0")
	priority(3, "0")
	p.Click("[data-node='1']")
	p.Click("[data-do=crash]")
	p.Wait(`document.querySelector("[data-node='1'][data-state=down]")`)
	p.Click("[data-do=clock40]")
	p.Wait(`document.querySelectorAll(".tp-s_down").length === 3 && document.querySelectorAll(".tp-o_down").length === 3`)
	s.has(p, "says o_down of its master")
	p.Click("[data-do=reset]") // nobody may take its place
	p.Wait(`!document.querySelector(".tp-s_down") && document.querySelectorAll(".tp-link:not(.tp-broken)").length === 2`)

	priority(2, "100")
	priority(3, "10")
	s.types(p, "ALL CLOCK FREEZE")
	p.Wait(`document.querySelector(".tp-line output").textContent.includes("OK")`)
	p.Click("[data-do=crash]")
	p.Wait(`document.querySelector("[data-node='1'][data-state=down]")`)
	p.Click("[data-do=clock40]")
	p.Wait(fmt.Sprintf(`document.querySelector("[data-node='3'][data-role=master]") &&
		document.querySelectorAll("[data-believes='%s']").length === 3`, third))
	s.has(p, "Node 3 (:"+third+") is a master now.")
	p.Click("[data-do=clock40]") // the old master comes back
	p.Wait(`document.querySelector("[data-node='1'][data-state=up]")`)
	p.Click("[data-do=reconf]")
	p.Wait(`document.querySelector("[data-node='3']").closest("li").querySelectorAll("[data-role=replica]").length === 2`)
	require.Empty(t, p.Problems())
}

// Two Sentinels that disagree, two masters, and two holders of a lock: story 37.
func TestThePageShowsThatSentinelsDisagreeAndTwoMastersHoldALock(t *testing.T) {
	s := start(t, "--replicas", "2", "--sentinels", "3")
	p := chromium.Start(t)
	s.topology(p, "en")
	p.Click("[data-do=watch]")
	p.Click("[data-node='6']")
	p.Click("[data-do=pause]")
	p.Wait(`document.querySelector("[data-node='6'][data-state=paused]")`)
	require.Equal(t, "null", p.Text(`document.querySelector("[data-disputed]")`))
	p.Click("[data-node='2']")
	p.Wait(`document.querySelector("[data-do=leave]")`)
	p.Click("[data-do=leave]")
	p.Wait(`document.querySelector("[data-disputed]") && document.querySelector("[data-node='2'][data-role=master]")`)
	s.says(p, "A", 1, "SET lock:order token-1 NX PX 30000", `+OK\r\n`)
	p.Wait(`document.querySelector("[data-key-at='lock:order'][data-two=false]")`)
	s.says(p, "B", 2, "SET lock:order token-2 NX PX 30000", `+OK\r\n`)
	p.Wait(`document.querySelector("[data-key-at='lock:order'][data-two=true]")`)
	words := p.Text(`document.querySelector("[data-key-at]").textContent`)
	require.Contains(t, words, "'token-1' by A")
	require.Contains(t, words, "'token-2' by B")

	p.Click("[data-node='6']")
	p.Wait(`document.querySelector("[data-do=resume]")`)
	p.Click("[data-do=resume]")
	p.Click("[data-do=reconf]")
	p.Wait(`!document.querySelector("[data-disputed]") && document.querySelector("[data-node='1'][data-role=replica]") &&
		document.querySelector("[data-key-at='lock:order'][data-two=false]")`)
	require.Empty(t, p.Problems())
}

func TestThePageShowsASlotThatMovesStepByStep(t *testing.T) {
	s := start(t, "--cluster", "yes", "--masters", "3", "--replicas", "1")
	p := chromium.Start(t)
	s.topology(p, "en")
	p.Click("[data-do=watch]")
	s.says(p, "A", 3, "SET lock:{order} token-1 NX PX 30000", `+OK\r\n`)
	p.Wait(`document.querySelector("[data-key-at='lock:{order}']")?.textContent.includes("slot 16025")`)
	for _, step := range []struct{ name, meets string }{
		{"IMPORTING", "node 1 replies MOVED unless the client sends ASKING. Keys: ? at node 3, 0 at node 1."},
		{"MIGRATING", "TRYAGAIN for several keys of which some are there. Keys: 1 at node 3, 0 at node 1."},
		{"KEYS", "for every key of the slot, and sends clients to node 1. Keys: 0 at node 3, 1 at node 1."},
	} {
		s.moves(p, "lock:{order}", "1", step.name)
		p.Wait(fmt.Sprintf(`document.querySelector("[data-slot='16025'][data-step=%s]")`, step.name))
		require.Contains(t, p.Text(`document.querySelector("[data-slot]").textContent`), step.meets)
	}
	s.moves(p, "16025", "1", "NODE")
	s.has(p, "that node 1 serves slot 16025.")
	p.Wait(`!document.querySelector("[data-slot]") && !document.querySelector("[data-odd]")`)
	const owners = `[...document.querySelectorAll("[data-map='5'] title")].map(t => t.textContent)`
	require.Equal(t, "true", p.Text(owners+`.includes("slot 16025: node 1")`), "node 5 believes it, too")
	require.Empty(t, p.Problems())
}

func TestThePageShowsANodeThatKeepsItsOldMap(t *testing.T) {
	s := start(t, "--cluster", "yes", "--masters", "3", "--replicas", "1")
	p := chromium.Start(t)
	s.topology(p, "en")
	p.Click("[data-node='2']")
	p.Wait(`document.querySelector("[data-of='2'] [data-do=stale]")`)
	p.Click("[data-do=stale]")
	p.Wait(`document.querySelector("[data-do=fresh]")`)
	require.Equal(t, "null", p.Text(`document.querySelector("[data-odd]")`), "its map is still that of the others")
	s.moves(p, "foo", "1", "NODE")
	p.Wait(`document.querySelectorAll("[data-odd]").length === 1 && document.querySelector("[data-odd='2']")`)
	require.Equal(t, "2 Node 2 hears nothing, and its map is not that of most nodes. "+
		"For slot 12182 it says node 3, and most nodes say node 1.",
		p.Text(`document.querySelector("[data-odd]").textContent`))
	require.Equal(t, "1", p.Text(`document.querySelector("[data-map='2']").dataset.apart`))
	p.Click("[data-do=fresh]")
	p.Wait(`!document.querySelector("[data-odd]") && document.querySelector("[data-map='2'][data-apart='0']")`)
	require.Empty(t, p.Problems())
}

// While a loop stands still nobody can ask that node. The screen says so, and lets it run.
func TestThePageSaysWhichLoopKeepsTheTopologyBack(t *testing.T) {
	s := start(t, "--masters", "3", "--replicas", "1")
	p := chromium.Start(t)
	s.topology(p, "en")
	s.must("/lab/step/pause?master=2", "")
	s.must("/watch/clients", `{"do": "open", "name": "A", "master": 2}`)
	p.Wait(`document.querySelector("[data-waits='2'] button") &&
		document.querySelector("[data-node='2'][data-state=stopped]")`)
	p.Click("[data-waits] button")
	p.Wait(`!document.querySelector("[data-waits]") && document.querySelector("[data-node='2'][data-state=up]")`)
	require.Empty(t, p.Problems())
}

// The screen is there only where there are several servers, and its stream brings the topology only while it is open.
func TestTheTopologyIsAskedForWhileItsScreenIsOpen(t *testing.T) {
	p := chromium.Start(t)
	s := start(t)
	s.open(p, "loop", "en")
	p.Wait(`document.body.dataset.state === "running"`)
	require.Equal(t, "true", p.Text(`document.getElementById("tab-topology").hidden`))
	s.open(p, "topology", "en")
	p.Wait(`document.querySelector(".tp").textContent.includes("This process is one server.")`)

	s = start(t, "--masters", "3", "--replicas", "1")
	streams := func() (all []string) {
		for _, r := range p.Requests() {
			if strings.HasPrefix(r, s.url+"/watch/events") {
				all = append(all, r)
			}
		}
		return all
	}
	s.open(p, "loop", "en")
	p.Wait(`document.body.dataset.state === "running" && !document.getElementById("tab-topology").hidden`)
	require.NotContains(t, strings.Join(streams(), " "), "topology")
	p.Press("8")
	p.Wait(`document.querySelectorAll("[data-node]").length === 6`)
	require.Contains(t, streams()[len(streams())-1], "&topology=1")
	p.Press("1")
	p.Wait(`document.body.dataset.screen === "loop"`)
	redistest.Until(t, func() bool { return !strings.Contains(streams()[len(streams())-1], "topology") })
	require.Empty(t, p.Problems())
}

// In both languages, wide and narrow, nothing overlaps or is cut, every control has a name, and keys reach the nodes.
func TestTheTopologyFitsEveryWindow(t *testing.T) {
	for name, args := range map[string][]string{
		"cluster":   {"--cluster", "yes", "--masters", "3", "--replicas", "1"},
		"sentinels": {"--replicas", "2", "--sentinels", "3"},
	} {
		s := start(t, args...)
		p := chromium.Start(t)
		s.topology(p, "en")
		s.lab("ALL", "LOG", "WATCH", "*")
		master := map[string]int{"cluster": 3, "sentinels": 1}[name]
		s.says(p, "A", master, "SET lock:{order} token-1 PX 30000", `+OK\r\n`)
		if name == "cluster" {
			s.lab("CLUSTER", "STALE", "2")
			s.lab("CLUSTER", "MOVE", "12182", "TO", "1")
			s.lab("CLUSTER", "MOVE", "16025", "TO", "1", "STEP", "MIGRATING")
			p.Wait(`document.querySelector("[data-odd]") && document.querySelector("[data-step=MIGRATING]")`)
		} else {
			s.lab("SENTINEL", "3", "PAUSE")
			s.lab("FAILOVER", "LEAVE")
			p.Wait(`document.querySelector("[data-disputed]")`)
		}
		for _, lang := range []string{"en", "zh"} {
			s.open(p, "topology", lang)
			p.Wait(`document.querySelectorAll("[data-node]").length === 6 && document.querySelector("[data-key-at]")`)
			for size, check := range map[[2]int]string{{1280, 800}: faults, {1920, 1080}: faults, {390, 844}: cramped} {
				p.Size(size[0], size[1])
				var found []string
				p.Eval(check, &found)
				require.Empty(t, found, "%s %s %v:\n%s", name, lang, size, strings.Join(found, "\n"))
			}
			p.Size(1280, 800)
			words := p.Text(`document.querySelector(".tp").innerText`)
			require.NotRegexp(t, `\btp\.\w|undefined|\[object`, words)
		}
		for tabs := 0; p.Text(`document.activeElement.matches("[data-node='4']")`) == "false"; tabs++ {
			require.Less(t, tabs, 60, "the tab key does not reach node 4")
			p.Press("Tab")
		}
		p.Press("Enter")
		p.Wait(`document.querySelector("[data-of='4']") && document.activeElement.matches("[data-node='4']")`)
		require.Empty(t, p.Problems())
	}
}

// The page finds the slot of a key by itself, and reads from the log where a key is.
func TestThePageKnowsTheSlotOfAKeyAndReadsItsPlaceFromTheLog(t *testing.T) {
	s := start(t)
	p := chromium.Start(t)
	s.open(p, "loop", "en")
	for _, key := range []string{"foo", "lock:{order}", "{}a", "{}{a}", "a{b}c}", "锁:{订单}", "x{", ""} {
		var slot int
		p.Eval(fmt.Sprintf(`import("/nodes.js").then(m => m.slotOf(%q))`, key), &slot)
		require.Equal(t, topology.Slot(key), slot, key)
	}
	for changes, want := range map[string]string{
		"k: absent -> 'v' until +5 ms":                        `k 'v' w`,
		"k: absent -> 'v'; k: 'v' -> absent (expired)":        ``,
		"k in database 2: absent -> hash of 1 {'f:1': '1'}":   `k (db 2) hash of 1 {'f:1': '1'} w`,
		"k: absent -> 'a; b: absent -> 'c'; d: absent -> 'e'": `k ? `,
		"k: absent -> 'v'; 3 more":                            `k 'v' w,  ? `,
	} {
		var got string
		p.Eval(fmt.Sprintf(`import("/nodes.js").then(m => m.held([[{key: "k", client: 4, name: "w", changes: %q}]])
			.map(h => [h.key, h.values[0].value, h.values[0].by].join(" ")).join(", "))`, changes), &got)
		require.Equal(t, want, got, changes)
	}
}

// worker-1 and worker-2 are two clients, and the connections of the page are one.
func TestThePageTellsClientsApartByTheirWholeNames(t *testing.T) {
	s := start(t)
	p := chromium.Start(t)
	s.open(p, "loop", "en")
	var owners []string
	p.Eval(`import("/lease.js").then(m =>
		["worker-1", "worker-2", "page:A-1", "A-2", "B"].map(name => m.ownerOf({name})))`, &owners)
	require.Equal(t, []string{"worker-1", "worker-2", "A", "A", "B"}, owners)
	var found []string
	p.Eval(`import("/lease.js").then(m => m.leases([[1, 2].map(n => ({client: n, name: "worker-" + n, time: n,
		key: "lock:a", event: "command", outcome: "executed", cmd: "SET lock:a t PX 9", reply: "OK"}))],
		"lock:a", 5).overlaps[0].owners)`, &found)
	require.Equal(t, []string{"worker-1", "worker-2"}, found)
}
