package glasshttp

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/resp"
)

func TestAPageHearsOfTheTopologyWhenItChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		asked, gate := 0, make(chan struct{})
		text := func(s string) (resp.Value, error) { return resp.Value{Kind: '$', Str: s}, nil }
		s := New(Options{Ask: func(ctx context.Context, master int, words []string) (resp.Value, error) {
			require.Equal(t, []string{"LAB", "TOPOLOGY"}, words)
			require.Zero(t, master, "any node that has not ended")
			switch asked++; asked {
			case 1, 2, 3:
				return text("a")
			case 4:
				<-gate
				return text("b")
			case 5:
				return resp.Value{}, errors.New("ERR no")
			}
			return text("c")
		}})
		views := make(chan []byte)
		go s.look(ctx, views)
		require.Equal(t, `{"nodes":"a"}`, string(<-views))
		require.Equal(t, `{"waits":true}`, string(<-views))
		synctest.Wait()
		require.Equal(t, 4, asked, "no second request while one waits")
		close(gate)
		require.Equal(t, `{"nodes":"b"}`, string(<-views))
		require.Equal(t, `{"error":"ERR no"}`, string(<-views))
		require.Equal(t, `{"nodes":"c"}`, string(<-views))
		cancel()
		synctest.Wait() // look has ended
		select {
		case view := <-views:
			require.Fail(t, "look goes on", string(view))
		default:
		}
	})
}

// view is what a page gets.
type view struct {
	Nodes []struct {
		Port, Follows int
		Role, State   string
		Believes      map[string]string
	}
	Waits bool
}

func TestTheStreamTellsOfAFailoverAndOfALoopThatStands(t *testing.T) {
	s := start(t, "--replicas", "1", "--sentinels", "1")
	f := s.listen("?topology=1")
	until := func(what string, fits func(v view) bool) {
		t.Helper()
		for v := (view{}); !fits(v); {
			v = view{}
			require.NoError(t, json.Unmarshal(f.next("topology"), &v), what)
		}
	}
	until("the start", func(v view) bool {
		return len(v.Nodes) == 3 && v.Nodes[1].Role == "replica" && v.Nodes[1].Follows == v.Nodes[0].Port &&
			v.Nodes[2].Believes["mymaster"] != ""
	})
	s.must("/lab/failover", "")
	until("the failover", func(v view) bool {
		return len(v.Nodes) == 3 && v.Nodes[1].Role == "master" && v.Nodes[0].Follows == v.Nodes[1].Port
	})
	s.must("/lab/step/pause?master=2", "")
	s.must("/watch/clients", `{"do": "open", "name": "A", "master": 2}`)
	until("node 2 stands", func(v view) bool { return v.Waits })
	s.must("/lab/step/continue?master=2", "")
	until("node 2 goes on", func(v view) bool { return len(v.Nodes) == 3 })
}

// A page that asks all servers for news does not fill the picture of the loop with its own requests.
func TestWhatAPageAsksAllServersIsNotShown(t *testing.T) {
	s := start(t, "--replicas", "1", "--sentinels", "1")
	f := s.listen("")
	f.next("hello")
	for _, words := range []string{"TOPOLOGY", "ALL LOG", "ALL CLOCK", "ALL DOCTOR", "MASTER 2 LOG"} {
		s.lab(strings.Fields(words)...)
	}
	s.lab("ALL", "CLOCK", "ADVANCE", "1")
	for {
		events := string(f.next("ev"))
		require.NotRegexp(t, `LAB (TOPOLOGY|MASTER|ALL (LOG|DOCTOR|CLOCK"))`, events)
		if strings.Contains(events, "LAB ALL CLOCK ADVANCE 1") {
			return
		}
	}
}
