package main

import (
	"bufio"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

// watched starts a server whose loop can be watched, and returns the URL of its page.
func watched(t *testing.T, args ...string) (p *process, url string) {
	t.Helper()
	p = start(t, "miniredisd", "", append([]string{"--port", "0", "--bind", "127.0.0.1", "--port-file", "ports",
		"--lab", "yes", "--watch", "127.0.0.1:0"}, args...)...)
	line := p.waitFor("The loop can be watched at http://")
	return p, strings.TrimSuffix(line[strings.Index(line, "http://"):], "/")
}

// stopAt lets the loop stop at the next command, and sends one.
func stopAt(t *testing.T, url string, c *redistest.Conn) {
	t.Helper()
	require.Contains(t, ask(t, url+"/lab/step/next/command", ""), `"ok":true`)
	require.NoError(t, c.Send([]byte("SET k v\r\n")))
	redistest.Until(t, func() bool { return strings.Contains(ask(t, url+"/lab/step", ""), `"stopped"`) })
}

func TestTheLoopIsWatchedOverHTTP(t *testing.T) {
	p, url := watched(t)
	r, err := http.Get(url + "/")
	require.NoError(t, err)
	r.Body.Close()
	require.Equal(t, http.StatusOK, r.StatusCode)
	stream, err := http.Get(url + "/watch/events")
	require.NoError(t, err)
	defer stream.Body.Close()
	lines := bufio.NewReader(stream.Body)
	first, err := lines.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "event: hello\n", first)
	c := dialPort(t, masterPorts(p)[0])
	stopAt(t, url, c)
	require.Contains(t, ask(t, url+"/lab/step/continue", ""), `"ok":true`)
	require.Equal(t, "OK", c.Read().Str)
	require.Equal(t, strings.TrimPrefix(url, "http://"), c.Do("CONFIG", "GET", "watch").Elems[1].Str)
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	require.Equal(t, 0, p.exit(), "with an open stream")
}

func TestAStoppedServerEndsAtOnce(t *testing.T) {
	for name, end := range map[string]func(p *process, url string){
		"SIGTERM": func(p *process, _ string) { require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM)) },
		"SIGINT":  func(p *process, _ string) { require.NoError(t, p.cmd.Process.Signal(syscall.SIGINT)) },
	} {
		for _, threads := range []string{"1", "3"} {
			t.Run(name+" with "+threads+" threads", func(t *testing.T) {
				p, url := watched(t, "--io-threads", threads, "--io-threads-do-reads", "yes")
				stopAt(t, url, dialPort(t, masterPorts(p)[0]))
				end(p, url)
				require.Equal(t, 0, p.exit())
			})
		}
	}
}

// LAB RESET and LAB CRASH over HTTP let a stopped loop go on. SHUTDOWN waits in the socket, as
// every other command.
func TestResetAndCrashReachAStoppedServer(t *testing.T) {
	p, url := watched(t)
	port := masterPorts(p)[0]
	c := dialPort(t, port)
	stopAt(t, url, c)
	require.Equal(t, `{"ok":true,"result":"OK"}`, ask(t, url+"/lab/reset", ""))
	require.Equal(t, "OK", c.Read().Str)
	require.Contains(t, ask(t, url+"/lab/step", ""), `"running"`)

	stopAt(t, url, c)
	require.Equal(t, `{"ok":true,"result":"OK"}`, ask(t, url+"/lab/crash", ""))
	for err := error(nil); err == nil; { // the reply to SET may come first
		_, err = c.TryRead()
	}

	c = dialPort(t, port)
	stopAt(t, url, c)
	other := dialPort(t, port)
	require.NoError(t, other.Send([]byte("SHUTDOWN NOSAVE\r\n")))
	require.Contains(t, ask(t, url+"/lab/step/continue", ""), `"ok":true`)
	require.Equal(t, 0, p.exit())
}

func TestWrongWatchOptionsStopTheStart(t *testing.T) {
	for args, why := range map[string]string{
		"--watch 127.0.0.1:0": "watch needs --lab yes",
		"--lab yes --watch 0.0.0.0:0": "watch is for this machine only without a lab-token, " +
			"and '0.0.0.0' is not a loopback address",
		"--lab yes --watch 127.0.0.1:99999": "watch: listen tcp: address 99999: invalid port",
	} {
		p := start(t, "miniredisd", "", strings.Fields("--port 0 "+args)...)
		require.Equal(t, 1, p.exit(), args)
		require.Contains(t, p.out.String(), why)
		require.NotContains(t, p.out.String(), "Ready to accept")
	}
}
