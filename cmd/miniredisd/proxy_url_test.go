package main

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAURLSaysHowToReachAnUpstream(t *testing.T) {
	const password = "sec:re/t"
	server := start(t, "miniredisd", "", "--port", "0", "--save", "", "--lab", "yes", "--lab-tls", "certs",
		"--requirepass", password)
	plain := server.port()
	server.waitFor("Ready to accept connections tls")
	certs := filepath.Join(server.cmd.Dir, "certs")
	secure, err := os.ReadFile(filepath.Join(certs, "port"))
	require.NoError(t, err)
	tls := []string{"--upstream-tls-ca-cert-file", certs + "/ca.crt", "--upstream-tls-cert-file", certs + "/client.crt",
		"--upstream-tls-key-file", certs + "/client.key"}
	for at, options := range map[string][]string{
		fmt.Sprintf("redis://default:%s@127.0.0.1:%d/0", url.QueryEscape(password), plain):                     nil,
		fmt.Sprintf("redis://:%s@127.0.0.1:%d", url.QueryEscape(password), plain):                              nil,
		fmt.Sprintf("rediss://%s@localhost:%s/", url.QueryEscape(password), strings.TrimSpace(string(secure))): tls,
	} {
		p := start(t, "miniredisd", "", append([]string{"proxy", "--port", "0", "--upstream", at}, options...)...)
		_, port, found := strings.Cut(p.waitFor("Ready to accept"), "port ")
		require.True(t, found)
		port, _, _ = strings.Cut(port, " ")
		c := dialPort(t, port)
		require.Equal(t, "OK", c.Do("LAB", "LOG", "WATCH", "lock:*").Str, "the proxy itself has logged in")
		require.Equal(t, "OK", c.Do("AUTH", password).Str, "and the client does so itself")
		require.Equal(t, "OK", c.Do("SET", "lock:1", "x").Str)
		require.NotContains(t, p.out.String(), "sec")
	}
}

func TestAURLThatTheProxyCannotFollowIsRefusedByName(t *testing.T) {
	for args, want := range map[string]string{
		"--upstream redis://h/3":                                      "leave the database /3 out of the URL",
		"--upstream redis://h/?timeout=5":                             "leave what follows the port out of the URL",
		"--upstream http://u:hidden@h":                                "an upstream is host:port, or a URL such as",
		"--upstream-cluster redis://u:hidden@h:x":                     "an upstream is host:port, or a URL such as",
		"--upstream redis://:hidden@h --upstream redis://:other@h":    "all upstreams alike",
		"--upstream redis://:hidden@h --upstream h:1":                 "all upstreams alike",
		"--upstream redis://:hidden@h --auth x":                       "exclude each other",
		"--upstream rediss://h --upstream redis://h":                  "all upstreams have TLS, or none",
		"--upstream rediss://h --upstream-tls-ca-cert-file /no":       "/no: no such file",
		"--upstream redis://h --upstream-tls-insecure yes":            "need --upstream-tls yes",
		"--upstream-sentinel redis://255.255.255.255":                 "255.255.255.255:26379 does not say",
		"--upstream-cluster redis://[::1]:1 --upstream redis://[::1]": "exclude each other",
	} {
		p := start(t, "miniredisd", "", append([]string{"proxy", "--port", "0"}, strings.Fields(args)...)...)
		require.NotZero(t, p.exit(), args)
		require.Contains(t, p.errs.String(), want, args)
		require.NotContains(t, p.errs.String(), "hidden")
	}
}
