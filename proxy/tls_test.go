package proxy

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/respclient"
	"github.com/miniredisd/miniredisd/lab/labtls"
	"github.com/miniredisd/miniredisd/miniredistest"
)

// certificates returns the configurations of a server and of a client.
func certificates(t *testing.T) (server, client *tls.Config) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, labtls.Write(dir))
	return certificatesIn(t, dir)
}

func certificatesIn(t *testing.T, dir string) (server, client *tls.Config) {
	t.Helper()
	pem, err := os.ReadFile(dir + "/ca.crt")
	require.NoError(t, err)
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(pem))
	pair := func(name string) []tls.Certificate {
		cert, err := tls.LoadX509KeyPair(dir+"/"+name+".crt", dir+"/"+name+".key")
		require.NoError(t, err)
		return []tls.Certificate{cert}
	}
	server = &tls.Config{Certificates: pair("server"), ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert}
	return server, &tls.Config{Certificates: pair("client"), RootCAs: pool}
}

// The first proxy is a client of the second one, which is a server with TLS.
func TestBothSidesSpeakTLS(t *testing.T) {
	serverSide, clientSide := certificates(t)
	s := miniredistest.Run(t)
	second := startWith(t, Config{Upstreams: []string{s.Addr()}, TLS: serverSide})
	first := startWith(t, Config{Upstreams: []string{second.addr()}, UpstreamTLS: clientSide})
	client, lab := first.client(), first.client()
	long := strings.Repeat("x", 5<<20)
	require.Equal(t, "+OK", client.do("SET a "+long))
	require.Equal(t, "+OK", lab.do("LAB LOG WATCH lock:*"))
	client.send("SET lock:a token NX PX 30000", "GET a", "GET lock:a")
	require.Equal(t, "+OK", client.read())
	require.Len(t, client.read(), len(long)+2)
	require.Equal(t, `"token"`, client.read())
	require.Contains(t, lab.logText(), "|command|SET lock:a token NX PX 30000|lock:a|0|executed|OK")

	direct := func() conn {
		raw := second.dial()
		c := tls.Client(raw, &tls.Config{Certificates: clientSide.Certificates, RootCAs: clientSide.RootCAs,
			ServerName: "localhost"})
		require.NoError(t, c.Handshake())
		return conn{t, respclient.New(c, 4096)}
	}
	admin, victim := direct(), direct()
	require.Equal(t, "+OK", admin.do("LAB FAULT ADD slow CMD get ACTION SLICE 2"))
	require.Equal(t, `"token"`, victim.do("GET lock:a"))
	require.Equal(t, "+OK", admin.do("LAB FAULT ADD lost CMD del ACTION DROP-REPLY"))
	victim.send("DEL lock:a")
	_, err := io.ReadAll(victim.In)
	require.NoError(t, err, "the end says that nothing is missing")
	require.Equal(t, "(nil)", admin.do("GET lock:a"))
	require.Equal(t, "+OK", admin.do("LAB FAULT ADD gone CMD incr ACTION RESET-AFTER"))
	other := direct()
	other.send("INCR n")
	_, err = io.ReadAll(other.In)
	require.ErrorIs(t, err, syscall.ECONNRESET)
}

// refusal returns how a connection ends at once: while it is made, or when it is read.
func (r *running) refusal() error {
	c, err := net.Dial("tcp", r.addr())
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = io.ReadAll(c)
	return err
}

func (r *running) addr() string { return fmt.Sprintf("127.0.0.1:%d", r.proxy.Ports()[0]) }

func TestAnUpstreamThatIsNotToBeTrustedGetsNothing(t *testing.T) {
	serverSide, clientSide := certificates(t)
	_, stranger := certificates(t)
	noClient := clientSide.Clone()
	noClient.Certificates = nil
	otherName := clientSide.Clone()
	otherName.ServerName = "example.org"
	plain := miniredistest.Run(t).Addr()
	secure := startWith(t, Config{Upstreams: []string{plain}, TLS: serverSide}).addr()
	for _, c := range []struct {
		at   string
		cfg  *tls.Config
		want string
	}{
		{secure, stranger, "has refused TLS: tls: failed to verify certificate: x509: certificate signed by unknown"},
		{secure, otherName, "has refused TLS: tls: failed to verify certificate: x509: certificate is valid for"},
	} {
		r := startWith(t, Config{Upstreams: []string{c.at}, UpstreamTLS: c.cfg})
		require.ErrorIs(t, r.refusal(), syscall.ECONNRESET, c.want)
		r.left(0)
		require.Contains(t, r.logged(), c.want)
	}
	u := newUpstream(t)
	without := startWith(t, Config{Upstreams: []string{u.at()}, UpstreamTLS: clientSide})
	client := without.dial()
	send(t, u.accept(), "-ERR Protocol error\r\n")
	_, err := io.ReadAll(client)
	require.ErrorIs(t, err, syscall.ECONNRESET)
	require.Contains(t, without.logged(), "has refused TLS: tls: first record does not look like a TLS handshake")

	insecure := otherName.Clone()
	insecure.InsecureSkipVerify = true
	require.Equal(t, "+PONG", startWith(t, Config{Upstreams: []string{secure}, UpstreamTLS: insecure}).client().do("PING"))

	r := startWith(t, Config{Upstreams: []string{secure}, UpstreamTLS: noClient})
	require.Error(t, r.refusal(), "the server wants a certificate")
	r.left(0)
}

func TestAHandshakeWithoutAnAnswerIsGivenUp(t *testing.T) {
	serverSide, clientSide := certificates(t)
	u := newUpstream(t) // it says nothing
	r := startWith(t, Config{Upstreams: []string{u.at(), u.at()}, UpstreamTLS: clientSide})
	client, server := r.dial(), u.accept()
	arrives(t, server, "\x16\x03\x01") // of a hello
	r.giveUpAll(1)
	_, err := io.ReadAll(client)
	require.ErrorIs(t, err, syscall.ECONNRESET)
	r.left(0)
	require.Equal(t, "Upstream NAME has refused TLS: the TLS handshake takes longer than 10 s", r.logged())
	r.dial() // its handshake is under way when the proxy stops
	u.accept()

	r = startWith(t, Config{Upstreams: []string{u.at()}, TLS: serverSide})
	silent := r.dial()
	r.giveUpAll(1)
	endsBy(t, silent, nil, "")
	const said = "Error accepting a client connection: "
	require.Equal(t, said+"the TLS handshake takes longer than 10 s", r.logged())
	plain := r.dial()
	send(t, plain, "PING\r\n")
	_, _ = io.ReadAll(plain) // an alert, and then the end or a reset
	require.Contains(t, r.logged(), said+"tls: first record does not look like a TLS handshake")
	r.left(0)
}

// giveUpAll ends the handshakes as if their time were over, once there are so many.
func (r *running) giveUpAll(want int) {
	for n := 0; n < want; {
		done := make(chan int)
		r.proxy.loop.Post(func() {
			for h := range r.proxy.handshakes.all {
				h.giveUp(errHandshakeSlow)
			}
			done <- len(r.proxy.handshakes.all)
		})
		n = <-done
	}
}
