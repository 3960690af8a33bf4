package ioworkers

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"math/big"
	"net"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/miniredisd/miniredisd/resp"
)

// serverConfig has a certificate that nobody has signed.
func serverConfig(t *testing.T) *tls.Config {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	form := &x509.Certificate{SerialNumber: big.NewInt(1)}
	cert, err := x509.CreateCertificate(rand.Reader, form, form, key.Public(), key)
	require.NoError(t, err)
	return &tls.Config{
		Certificates:                []tls.Certificate{{Certificate: [][]byte{cert}, PrivateKey: key}},
		DynamicRecordSizingDisabled: true,
	}
}

// poll is a wait of a handshake that no loop serves.
func poll(fd int) func(room bool) bool {
	return func(room bool) bool {
		events := int16(unix.POLLIN)
		if room {
			events = unix.POLLOUT
		}
		for {
			n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: events}}, -1)
			if n == 1 || err != nil && err != unix.EINTR {
				return err == nil
			}
		}
	}
}

// takeOver makes a net.Conn of a descriptor.
func takeOver(t *testing.T, fd int) net.Conn {
	t.Helper()
	own, err := unix.Dup(fd)
	require.NoError(t, err)
	f := os.NewFile(uintptr(own), "client")
	conn, err := net.FileConn(f)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	t.Cleanup(func() { conn.Close() })
	return conn
}

// tlsPair is pair with a handshake.
func tlsPair(t *testing.T) (c *Conn, client *tls.Conn) {
	t.Helper()
	c, peer := pair(t)
	client = tls.Client(takeOver(t, peer), &tls.Config{InsecureSkipVerify: true})
	c.TLS = NewTLS(c.FD, serverConfig(t))
	done := make(chan error)
	go func() { done <- c.TLS.Handshake(poll(c.FD)) }()
	require.NoError(t, client.Handshake())
	require.NoError(t, <-done)
	return c, client
}

// drainTLS has pool write all output of c while the client reads it.
func drainTLS(t *testing.T, pool *Pool, c *Conn, client io.Reader, n int) []byte {
	t.Helper()
	read := make(chan []byte)
	go func() {
		got := make([]byte, n)
		n, _ := io.ReadFull(client, got) // what is missing, the test sees
		read <- got[:n]
	}()
	wait := poll(c.FD)
	for !c.Drained() {
		require.True(t, wait(true))
		pool.Write([]*Conn{c})
		require.False(t, c.Lost)
	}
	return <-read
}

func TestReferencesAreEncryptedInTheirPlaces(t *testing.T) {
	c, client := tlsPair(t)
	c.Out.MayRefer = true
	copied := resp.Writer{}
	for i := range 3 * maxPieces {
		big := make([]byte, resp.RefMin+i*3001)
		_, _ = rand.Read(big)
		c.Out.BulkRef(big)
		copied.Bulk(big)
		for range i % 5 * i {
			c.Out.OK()
			copied.OK()
		}
	}
	require.Equal(t, len(copied.Buf), c.Unsent())
	pool := &Pool{}
	got := drainTLS(t, pool, c, client, len(copied.Buf))
	require.True(t, bytes.Equal(copied.Buf, got))
	require.Equal(t, int64(len(copied.Buf)), c.NetOut)
	pool.Reclaim(c)
	require.Zero(t, c.Mem(), "nothing is kept")
}

func TestOutputThatNobodyReadsCostsOneRecord(t *testing.T) {
	c, client := tlsPair(t)
	c.Out.MayRefer = true
	value := make([]byte, megabyte)
	_, _ = rand.Read(value)
	copied := resp.Writer{}
	for range 20 {
		c.Out.BulkRef(value)
		copied.Bulk(value)
	}
	pool, before := &Pool{}, -1
	for before != c.Unsent() { // until the socket is full
		before = c.Unsent()
		pool.Write([]*Conn{c})
	}
	require.Greater(t, before, len(copied.Buf)/2)
	for range 10 {
		pool.Write([]*Conn{c})
	}
	require.Equal(t, before, c.Unsent())
	require.LessOrEqual(t, len(c.TLS.socket.rest), record+shortRecord)
	require.LessOrEqual(t, c.TLS.owed, record+shortRecord)
	require.Less(t, cap(c.Out.Buf), 1<<10, "the value is not copied")
	for i := range c.Out.Refs[c.ref:] {
		require.Same(t, &value[megabyte-1], &c.Out.Refs[c.ref+i].Bytes[len(c.Out.Refs[c.ref+i].Bytes)-1])
	}
	require.True(t, bytes.Equal(copied.Buf, drainTLS(t, pool, c, client, len(copied.Buf))))
}

// Output of every kind, read in pieces of every size.
func TestEncryptedOutputArrivesAsItWasWritten(t *testing.T) {
	for step := range 12 {
		c, client := tlsPair(t)
		require.NoError(t, unix.SetsockoptInt(c.FD, unix.SOL_SOCKET, unix.SO_SNDBUF, 1<<(step+8)))
		copied := resp.Writer{}
		random := make([]byte, 100_000)
		_, _ = rand.Read(random)
		for i := range 60 {
			switch v := random[i : i+int(random[i])*300]; {
			case len(v) >= resp.RefMin && i%2 == 0:
				c.Out.BulkRef(v)
				copied.Bulk(v)
			default:
				c.Out.Bulk(v)
				copied.Bulk(v)
			}
		}
		require.True(t, bytes.Equal(copied.Buf, drainTLS(t, &Pool{}, c, client, len(copied.Buf))))
		require.Zero(t, c.TLS.owed)
		require.Nil(t, c.TLS.socket.rest)
	}
}

func TestShortRecordsTravelWithTheNextOne(t *testing.T) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM, 0)
	require.NoError(t, err)
	defer unix.Close(fds[0])
	defer unix.Close(fds[1])
	s := socket{fd: fds[0], more: true}
	for _, record := range []string{"head", string(make([]byte, shortRecord)), "tail"} {
		s.more = record != "tail"
		n, err := s.Write([]byte(record))
		require.NoError(t, err)
		require.Equal(t, len(record), n)
	}
	for _, want := range []int{len("head") + shortRecord, len("tail")} { // one packet for each write(2)
		n, err := unix.Read(fds[1], make([]byte, 2*shortRecord))
		require.NoError(t, err)
		require.Equal(t, want, n)
	}
	require.Empty(t, s.rest)
}

// A client can ask for new keys again and again. crypto/tls answers that, without asking whether there is room.
func TestAClientThatWantsAnswersAndReadsNothingIsGivenUp(t *testing.T) {
	c, _ := pair(t)
	s := socket{fd: c.FD}
	answer := make([]byte, 1<<10)
	var err error
	for n := 0; err == nil; n++ {
		require.Less(t, n, 10_000)
		_, err = s.Write(answer)
	}
	require.ErrorIs(t, err, unix.ENOBUFS)
	require.LessOrEqual(t, len(s.rest), mostRest+len(answer))
}

// The server's first flight does not fit into the socket, so the handshake waits for room.
func TestAHandshakeWaitsForRoom(t *testing.T) {
	c, peer := pair(t)
	config := serverConfig(t)
	for range 200 {
		config.Certificates[0].Certificate = append(config.Certificates[0].Certificate, make([]byte, 1000))
	}
	require.NoError(t, unix.SetsockoptInt(c.FD, unix.SOL_SOCKET, unix.SO_SNDBUF, 4<<10))
	rooms, wait := 0, poll(c.FD)
	c.TLS = NewTLS(c.FD, config)
	done := make(chan error)
	go func() {
		done <- c.TLS.Handshake(func(room bool) bool {
			if room {
				rooms++
			}
			return wait(room)
		})
	}()
	client := tls.Client(takeOver(t, peer), &tls.Config{InsecureSkipVerify: true})
	_ = client.Handshake() // the client refuses the chain, or not: it has read it
	err := <-done
	require.NotErrorIs(t, err, net.ErrClosed)
	require.Positive(t, rooms)
}

// hello returns the first record of a client.
func hello(t *testing.T) []byte {
	t.Helper()
	ours, theirs := net.Pipe()
	go func() { _ = tls.Client(theirs, &tls.Config{InsecureSkipVerify: true}).Handshake() }()
	buf := make([]byte, 16<<10)
	n, err := ours.Read(buf)
	require.NoError(t, err)
	require.NoError(t, ours.Close())
	return buf[:n]
}

// Once wait has returned false, the descriptor may belong to somebody else. So there is not even an alert.
func TestAHandshakeThatIsGivenUpLeavesTheSocketAlone(t *testing.T) {
	first := hello(t)
	for _, sent := range []string{"", string(first[:9]), string(first)} {
		c, peer := pair(t)
		send(t, peer, sent)
		c.TLS = NewTLS(c.FD, serverConfig(t))
		flight := 0
		err := c.TLS.Handshake(func(room bool) bool {
			require.False(t, room)
			flight, _ = unix.Read(peer, make([]byte, 16<<10))
			return false
		})
		require.ErrorIs(t, err, net.ErrClosed)
		require.Equal(t, len(sent) == len(first), flight > 0)
		_, err = unix.Read(peer, make([]byte, 1))
		require.Equal(t, unix.EAGAIN, err, "something was written")
	}
}
