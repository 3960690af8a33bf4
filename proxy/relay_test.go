package proxy

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/respclient"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/labverdict"
	"github.com/miniredisd/miniredisd/miniredistest"
	"github.com/miniredisd/miniredisd/resp"
)

func withServers(t *testing.T, cfg Config, n int) *running {
	t.Helper()
	for range n {
		cfg.Upstreams = append(cfg.Upstreams, miniredistest.Run(t).Addr())
	}
	cfg.Diagnose = labverdict.Diagnose
	cfg.Judge = func(w *resp.Writer, args [][]byte, logs []lab.History) error {
		judged, err := labverdict.Parse(args)
		if err != nil {
			return err
		}
		return judged.Write(w, logs)
	}
	return startWith(t, cfg)
}

func TestLabAllReachesEachUpstream(t *testing.T) {
	r := withServers(t, Config{}, 3)
	lab := r.client()
	require.Equal(t, "[+OK, +OK, +OK]", lab.do("LAB ALL FAULT ADD no CMD get ACTION ERROR NO"))
	require.Equal(t, "+OK", lab.do("LAB MASTER 2 FAULT CLEAR"))
	require.Equal(t, "[]", lab.do("LAB MASTER 2 FAULT LIST"))
	for i, want := range []string{"-NO", "(nil)", "-NO"} {
		require.Equal(t, want, r.clientOf(i).do("GET a"))
	}
	for line, want := range map[string]string{
		"LAB MASTER 4 LOG":       "-ERR LAB MASTER: there is no upstream 4, only 1 to 3",
		"LAB MASTER x LOG":       "-ERR LAB MASTER: expects the number of an upstream, not 'x'",
		"LAB MASTER 1":           "-ERR LAB MASTER: expects number verb [argument ...]",
		"LAB ALL ALL LOG":        "-ERR LAB ALL: expects a verb for a single upstream, not 'ALL'",
		"LAB MASTER 1 VERDICT":   "-ERR LAB MASTER: expects a verb for a single upstream, not 'VERDICT'",
		"LAB MASTER 2 FAULT ADD": "-ERR LAB FAULT ADD: expects name [CMD command] [KEY pattern] [SCRIPT sha1-or-text] ",
	} {
		require.True(t, strings.HasPrefix(lab.do(line), want), "%s: %s", line, lab.do(line))
	}
	require.Equal(t, "[+OK, +OK, +OK]", lab.do("LAB ALL RESET"))
}

func TestLabWorksWithoutAConnection(t *testing.T) {
	r := withServers(t, Config{}, 2)
	ask := func(n int, line string) string {
		v, err := r.proxy.Ask(context.Background(), n, strings.Fields(line))
		if err != nil {
			return err.Error()
		}
		return v.String()
	}
	require.Equal(t, "OK", strings.Trim(ask(1, "LAB FAULT ADD h CMD get ACTION HOLD"), "+"))
	require.Equal(t, "ERR LAB FAULT DEL: there is no rule 'h'", ask(2, "LAB FAULT DEL h"))
	require.Equal(t, "[+OK, +OK]", ask(0, "LAB ALL BLACKHOLE ON"), "nobody gets through, but this does")
	require.Equal(t, "[+OK, +OK]", ask(0, "LAB ALL BLACKHOLE OFF"))

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := r.proxy.Ask(ctx, 1, []string{"LAB", "HOLD", "WAIT", "h", "0"})
	require.ErrorIs(t, err, context.Canceled)
	client := r.client()
	require.Equal(t, ":1", client.do("INCR n"), "the first client: those who ask over HTTP are none")
	client.send("GET n")
	require.Contains(t, ask(1, "LAB HOLD WAIT h 0"), `"client": :1,`)
	require.Equal(t, ":1", ask(1, "LAB HOLD RELEASE h"))
	require.Equal(t, `"1"`, client.read())
	for _, v := range verbs() {
		for _, args := range []string{"", " x", " 1", " 1 log"} {
			require.NotEmpty(t, ask(1, "LAB "+v.name+args), v.name)
		}
	}
	require.Contains(t, ask(1, "LAB VERDICT"), `"verdict"`)
}

func TestThoseWhoAskAProxyThatEndsGetAnError(t *testing.T) {
	r := withServers(t, Config{}, 1)
	require.Equal(t, "+OK", r.client().do("LAB FAULT ADD h CMD get ACTION HOLD"))
	got := make(chan error)
	go func() {
		_, err := r.proxy.Ask(context.Background(), 1, []string{"LAB", "HOLD", "WAIT", "h", "0"})
		got <- err
	}()
	r.proxy.Stop()
	require.EqualError(t, <-got, "ERR the proxy has ended")
}

func TestTheDoctorOfAProxySaysOnlyWhatItSees(t *testing.T) {
	r := withServers(t, Config{}, 1)
	lab, a, b := r.client(), r.client(), r.client()
	require.Contains(t, lab.do("LAB DOCTOR"), "no key is watched")
	require.Contains(t, lab.do("LAB DOCTOR RESET"), "use LAB LOG RESET")
	require.Equal(t, "+OK", lab.do("LAB LOG WATCH lock:*"))
	require.Equal(t, "[]", lab.do("LAB DOCTOR"))

	require.Equal(t, ":1", a.do("SETNX lock:crash token-of-alice-1"))
	require.Equal(t, ":1", a.do("EXPIRE lock:crash 30"))
	require.Equal(t, "+OK", a.do("SET lock:b token-of-alice-2 NX PX 30000"))
	require.Equal(t, ":1", b.do("DEL lock:b"), "of another client")
	found := lab.do("LAB DOCTOR")
	require.Contains(t, found, `"key", "lock:crash"`)
	require.Contains(t, found, `"key", "lock:b"`)

	require.Equal(t, "+OK", lab.do("LAB LOG RESET"))
	require.Equal(t, "+OK", a.do("SET lock:s token-of-alice-3 NX PX 30000"))
	a.send("PING")
	require.Equal(t, "+PONG", a.read())
	require.NoError(t, b.Send(resp.AppendRequest(nil, "EVAL", "return redis.call('del',KEYS[1])", "1", "lock:s")))
	require.Equal(t, ":1", b.read())
	require.Equal(t, "[]", lab.do("LAB DOCTOR"), "nobody sees whether the script has compared")

	free := withServers(t, Config{Free: true}, 1)
	require.Contains(t, free.client().do("LAB DOCTOR"), "needs --order exact")
}

// clientOf is client for another upstream, from 0.
func (r *running) clientOf(i int) conn {
	return conn{r.t, respclient.New(dialPort(r.t, r.proxy.Ports()[i]), 4096)}
}
