package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAChunkGetsAReplyForEachOfItsRequests(t *testing.T) {
	r := newReplies("+OK\r\n")
	ping := "*1\r\n$4\r\nPING\r\n"
	require.Len(t, ping, shortest)
	for _, n := range []int{1, 16, inputSize / shortest} {
		require.Equal(t, strings.Repeat("+OK\r\n", n), string(r.to([]byte(strings.Repeat(ping, n)))))
	}
	require.Equal(t, "+PONG\r\n", string(r.to([]byte("PING\r\n"))))
}

func TestWrongArgumentsAreNamed(t *testing.T) {
	require.ErrorContains(t, run([]string{"127.0.0.1:0"}), "want an address and a reply")
	require.ErrorContains(t, run([]string{"nowhere", "+OK\r\n"}), "nowhere")
	require.Error(t, run([]string{"192.0.2.1:1", "+OK\r\n"}), "an address of another machine")
}
