package main

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

// ask posts body to the lab at url and returns the answer.
func ask(t *testing.T, url, body string) string {
	t.Helper()
	r, err := http.Post(url, "application/json", strings.NewReader(body))
	require.NoError(t, err)
	defer r.Body.Close()
	answer, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	return strings.TrimSpace(string(answer))
}

func TestTheLabAnswersOverHTTP(t *testing.T) {
	p := start(t, "miniredisd", "", "--port", "0", "--port-file", "ports", "--masters", "3", "--lab", "yes",
		"--lab-http", "127.0.0.1:0", "--lab-http-file", "lab")
	line := p.waitFor("Lab is at http://")
	url := line[strings.Index(line, "http://"):]
	ports := masterPorts(p)
	text, err := os.ReadFile(filepath.Join(p.cmd.Dir, "lab"))
	require.NoError(t, err)
	require.Equal(t, url+"\n", string(text))
	c := dialPort(t, ports[1])
	require.Equal(t, url, "http://"+c.Do("CONFIG", "GET", "lab-http").Elems[1].Str+"/lab")

	require.Equal(t, `{"ok":true,"result":["OK","OK","OK"]}`,
		ask(t, url, `{"master": "all", "args": ["CLOCK", "FREEZE"]}`))
	require.Equal(t, `{"ok":true,"result":"OK"}`, ask(t, url+"/clock/set/1700000000000?master=2", ""))
	require.Equal(t, `{"ok":true,"result":{"unix-ms":1700000000000,"frozen":1,"rate":1}}`,
		ask(t, url+"/clock?master=2", ""))
	require.Equal(t, "OK", c.Do("SET", "lock", "v", "PX", "1000").Str)
	require.Equal(t, `{"ok":true,"result":[0,1,0]}`, ask(t, url+"/clock/advance/1001?master=all", ""))
	require.Equal(t, int64(0), c.Do("EXISTS", "lock").Int)
	require.Contains(t, ask(t, url+"/clock/advance/x", ""),
		`{"ok":false,"error":"ERR LAB CLOCK ADVANCE: milliseconds expects a number`)

	require.Contains(t, ask(t, url+"/verdict/lock*", ""), `{"ok":true,"result":{"verdict":"no-locks","text":"masters: 3,`)
	status, svg := get(t, url+"/verdict.svg?glob=lock*")
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, svg, "Nobody took a lock")
	status, page := get(t, url+"/verdict.html")
	require.Equal(t, http.StatusOK, status)
	require.True(t, strings.HasPrefix(strings.ToLower(page), "<!doctype html>"))

	gone := dialPort(t, ports[0])
	require.NoError(t, gone.Send([]byte("SHUTDOWN\r\n")))
	p.waitFor("[master 1] This master has ended")
	require.Equal(t, `{"ok":false,"error":"ERR LAB: master 1 has ended"}`, ask(t, url+"/clock", ""))
	require.Contains(t, ask(t, url+"/clock/freeze?master=all", ""),
		`[{"error":"ERR LAB: master 1 has ended"},"OK","OK"]`)

	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	require.Equal(t, 0, p.exit())
	require.NoFileExists(t, filepath.Join(p.cmd.Dir, "lab"))
}

func TestTheLabAnswersOverHTTPWhileAScriptRuns(t *testing.T) {
	p := start(t, "miniredisd", "", "--port", "0", "--port-file", "ports", "--masters", "2",
		"--busy-reply-threshold", "10", "--lab", "yes", "--lab-http", "127.0.0.1:0")
	line := p.waitFor("Lab is at http://")
	url := line[strings.Index(line, "http://"):]
	ports := masterPorts(p)
	script, other := dialPort(t, ports[0]), dialPort(t, ports[0])
	require.Equal(t, `{"ok":true,"result":"OK"}`, ask(t, url+"/log/watch/k", ""))
	require.NoError(t, script.Send([]byte("EVAL 'while true do redis.call(\"get\", KEYS[1]) end' 1 k\r\n")))
	redistest.Until(t, func() bool { return strings.HasPrefix(other.Do("PING").Str, "BUSY ") })
	const busy = "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE."
	require.Contains(t, ask(t, url+"/log/1", ""), `"cmd":"get k"`)
	require.Equal(t, `{"ok":true,"result":["OK","OK"]}`, ask(t, url+"/log/reset?master=all", ""))
	require.Equal(t, `{"ok":true,"result":[{"error":"`+busy+`"},"OK"]}`, ask(t, url+"/clock/freeze?master=all", ""))
	require.Equal(t, `{"ok":false,"error":"`+busy+`"}`, ask(t, url+"/crash", ""))
	require.Equal(t, "OK", other.Do("SCRIPT", "KILL").Str)
	require.True(t, strings.HasPrefix(script.Read().Str, "ERR Script killed"))
	require.Equal(t, `{"ok":true,"result":"OK"}`, ask(t, url+"/crash", ""))
}

func TestWrongLabOptionsStopTheStart(t *testing.T) {
	for args, why := range map[string]string{
		"--lab-http 127.0.0.1:0": "lab-http needs --lab yes",
		"--lab yes --lab-http 0.0.0.0:0": "lab-http is for this machine only without a lab-token, " +
			"and '0.0.0.0' is not a loopback address",
		"--lab yes --lab-token correct-horse": "lab-token needs lab-http or watch, and neither is set",
		"--lab yes --lab-http 127.0.0.1:0 --lab-token x": "lab-token expects at least 8 printable ASCII " +
			"characters",
		"--lab yes --lab-http-file somewhere":  "lab-http-file needs lab-http, which is not set",
		"--lab yes --lab-http 127.0.0.1:99999": "lab-http: listen tcp: address 99999: invalid port",
	} {
		p := start(t, "miniredisd", "", strings.Fields("--port 0 "+args)...)
		require.Equal(t, 1, p.exit(), args)
		require.Contains(t, p.out.String(), why)
		require.NotContains(t, p.out.String(), "Ready to accept")
	}
}

func TestALabWithATokenIsReachedFromOutside(t *testing.T) {
	p := start(t, "miniredisd", "", "--port", "0", "--bind", "127.0.0.1", "--lab", "yes", "--lab-http", "0.0.0.0:0",
		"--watch", "0.0.0.0:0", "--lab-token", "correct-horse")
	line := p.waitFor("Lab is at http://")
	url := "http://127.0.0.1" + line[strings.LastIndex(line, ":"):]
	require.Contains(t, ask(t, url+"/clock", ""), "ERR the lab needs its token")
	r, err := http.NewRequest(http.MethodPost, url+"/clock/freeze", nil)
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer correct-horse")
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	answer.Body.Close()
	require.Equal(t, http.StatusOK, answer.StatusCode)

	line = p.waitFor("The loop can be watched at http://")
	require.NotContains(t, p.out.String(), "correct-horse")
	page := "http://127.0.0.1" + line[strings.LastIndex(line, ":"):]
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	browser := http.Client{Jar: jar}
	for path, want := range map[string]int{"": 401, "watch/events": 401} {
		answer, err := browser.Get(page + path)
		require.NoError(t, err)
		answer.Body.Close()
		require.Equal(t, want, answer.StatusCode, path)
	}
	answer, err = browser.Get(page + "?token=correct-horse")
	require.NoError(t, err)
	answer.Body.Close()
	require.Equal(t, http.StatusOK, answer.StatusCode)
	answer, err = browser.Get(page + "watch/events")
	require.NoError(t, err)
	answer.Body.Close()
	require.Equal(t, http.StatusOK, answer.StatusCode, "with the cookie")
}
