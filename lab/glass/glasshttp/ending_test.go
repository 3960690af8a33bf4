package glasshttp

import (
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/trace"
	"github.com/miniredisd/miniredisd/lab/glass"
)

func TestOneClaimRunsAtATime(t *testing.T) {
	began, goOn := make(chan int), make(chan struct{})
	s := New(Options{RunClaim: func(_ context.Context, n int) (any, error) {
		began <- n
		<-goOn
		return n, nil
	}})
	first := make(chan error)
	go func() {
		_, err := s.claim(context.Background(), run{1})
		first <- err
	}()
	require.Equal(t, 1, <-began)
	left, leave := context.WithCancel(context.Background())
	leave()
	_, err := s.claim(left, run{2})
	require.ErrorIs(t, err, context.Canceled, "the page has left before its turn")
	close(goOn)
	require.NoError(t, <-first)
}

// unread is a browser that never reads: its connection has no room at all.
type unread struct{ conn net.Conn }

func (u unread) Header() http.Header                 { return http.Header{} }
func (u unread) WriteHeader(int)                     {}
func (u unread) Write(b []byte) (int, error)         { return u.conn.Write(b) }
func (u unread) FlushError() error                   { return nil }
func (u unread) SetWriteDeadline(at time.Time) error { return u.conn.SetWriteDeadline(at) }

func TestABrowserThatDoesNotReadDoesNotDelayTheEnd(t *testing.T) {
	here, there := net.Pipe()
	defer there.Close()
	defer here.Close()
	v := glass.New(trace.New(func() int64 { return 1 }), glass.Options{})
	s := New(Options{Masters: []Master{{View: v}}})
	r, err := http.NewRequest(http.MethodGet, "/watch/events", nil)
	require.NoError(t, err)
	over := make(chan struct{})
	go func() {
		defer close(over)
		s.events(unread{here}, r)
	}()
	var first [1]byte
	_, err = io.ReadFull(there, first[:]) // the rest of hello is under way
	require.NoError(t, err)
	s.Close()
	<-over
}
