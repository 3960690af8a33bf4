package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/respclient"
	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/lab/labtls"
)

func TestAProxyServesUntilASignalEndsIt(t *testing.T) {
	server := start(t, "miniredisd", "", "--port", "0", "--save", "")
	upstream := fmt.Sprintf("127.0.0.1:%d", server.port())
	file := filepath.Join(t.TempDir(), "ports")
	p := start(t, "miniredisd", "", "proxy", "--port", "0", "--port-file", file, "--upstream", "127.0.0.1:1",
		"--upstream", upstream)
	p.waitFor("leads to 127.0.0.1:1") // the file has all ports by then
	ports, err := os.ReadFile(file)
	require.NoError(t, err)
	c, err := respclient.Dial("127.0.0.1:" + strings.Fields(string(ports))[1])
	require.NoError(t, err)
	defer c.Close()
	v, err := c.Do("ECHO", "hello")
	require.NoError(t, err)
	require.Equal(t, "hello", v.Str)
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	require.Equal(t, 0, p.exit())
	require.NoFileExists(t, file)
}

func TestAProxyAnswersLabOverHTTPAndSpeaksTLS(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, labtls.Write(dir))
	first := start(t, "miniredisd", "", "proxy", "--port", "0", "--upstream", "127.0.0.1:1", "--upstream", "127.0.0.1:2",
		"--lab-http", "127.0.0.1:0", "--tls-cert-file", dir+"/server.crt", "--tls-key-file", dir+"/server.key",
		"--tls-ca-cert-file", dir+"/ca.crt")
	at := first.waitFor("Lab is at ")
	at = at[strings.Index(at, "http"):]
	reply, err := http.Post(at+"/fault/list?master=all", "", nil)
	require.NoError(t, err)
	body, err := io.ReadAll(reply.Body)
	require.NoError(t, err)
	require.NoError(t, reply.Body.Close())
	require.Equal(t, `{"ok":true,"result":[[],[]]}`+"\n", string(body))
	require.NoError(t, first.cmd.Process.Signal(syscall.SIGTERM))
	require.Equal(t, 0, first.exit())
}

func TestAProxyRefusesWrongArguments(t *testing.T) {
	for args, want := range map[string]string{
		"":                             "--upstream HOST:PORT or --server COMMAND is missing",
		"--upstream a:1 --server x":    "exclude each other",
		"--server redis-server":        "'redis-server' lacks {port}",
		"--port 0 --server /no/{port}": "the server cannot be started",
		"--port 0 --port-file /no/file --upstream 127.0.0.1:1": "writing the port file",
		"--upstream a:1 --order no":                            "--order expects exact or free, not 'no'",
		"--upstream":                                           "flag needs an argument",
		"--upstraem a:1":                                       "Did you mean --upstream?",
		"--upstream a:1 b:1":                                   "'b:1' is no option",
		"--port 65535 --upstream a:1 --upstream b:1":           "2 ports from --port 65535 on",
		"--upstream 127.0.0.1":                                 "'127.0.0.1' is no address",
		"--upstream a:1 --upstream-cluster b:1":                "exclude each other",
		"--upstream-cluster 127.0.0.1:1":                       "does not say which nodes there are",
		"--server {port} --upstream-tls yes":                   "--upstream-tls does not go with --server",
		"--sentinel-name m --upstream a:1":                     "--sentinel-name needs --upstream-sentinel",
		"--announce h --upstream a:1":                          "--announce needs --upstream-sentinel",
	} {
		p := start(t, "miniredisd", "", append([]string{"proxy"}, strings.Fields(args)...)...)
		require.NotZero(t, p.exit(), args)
		require.Contains(t, p.errs.String(), want, args)
	}
}

func TestAProxyRefusesHalfOfTLSAndOfHTTP(t *testing.T) {
	for args, want := range map[string]string{
		"--lab-token long-enough":                                  "--lab-token needs --lab-http",
		"--lab-http 0.0.0.0:0":                                     "for this machine only without a lab-token",
		"--tls-cert-file x":                                        "--tls-cert-file and --tls-key-file belong together",
		"--tls-cert-file x --tls-key-file y":                       "--tls-ca-cert-file is missing",
		"--tls-cert-file x --tls-key-file y --tls-auth-clients no": "x and y: ",
		"--tls-auth-clients maybe":                                 "expects yes, no or optional, not 'maybe'",
		"--upstream-tls on":                                        "--upstream-tls expects yes or no, not 'on'",
		"--upstream-tls-insecure yes":                              "need --upstream-tls yes",
		"--upstream-tls yes --upstream-tls-key-file k":             "belong together",
		"--upstream-tls yes --upstream-tls-ca-cert-file /no":       "no such file",
	} {
		p := start(t, "miniredisd", "", append([]string{"proxy", "--upstream", "a:1"}, strings.Fields(args)...)...)
		require.NotZero(t, p.exit(), args)
		require.Contains(t, p.errs.String(), want, args)
	}
}

func TestAProxyStartsItsServerAndEndsIt(t *testing.T) {
	own := filepath.Join(bin, "miniredisd") + " --port {port} --save \"\""
	p := start(t, "miniredisd", "", "proxy", "--port", "0", "--server", own)
	line := p.waitFor("leads to ")
	var port int
	var upstream string
	_, err := fmt.Sscanf(line[strings.Index(line, "port "):], "port %d leads to %s", &port, &upstream)
	require.NoError(t, err)
	server, err := respclient.Dial(upstream)
	require.NoError(t, err)
	defer server.Close()
	for range 2 {
		c, err := respclient.Dial(fmt.Sprintf("127.0.0.1:%d", port))
		require.NoError(t, err)
		v, err := c.Do("SET", "k", "v", "NX", "GET")
		require.NoError(t, err)
		require.True(t, v.Null, "the crash has lost the key")
		_, err = c.Do("LAB", "CRASH")
		require.NoError(t, err)
		require.NoError(t, c.Close())
	}
	_, err = server.Read()
	require.Error(t, err, "that process is gone")
	server, err = respclient.Dial(upstream)
	require.NoError(t, err)
	defer server.Close()
	_, err = server.Do("SHUTDOWN", "NOSAVE")
	require.Error(t, err)
	p.waitFor("and is started again")
	redistest.Until(t, func() bool {
		server, err = respclient.Dial(upstream)
		return err == nil
	})
	defer server.Close()
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGINT))
	require.Equal(t, 0, p.exit())
	_, err = server.Read()
	require.Error(t, err, "and so is its successor")
	require.Contains(t, p.out.String(), "Server: ")
}
