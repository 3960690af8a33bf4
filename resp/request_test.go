package resp

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestARequestIsAnArrayOfBulkStrings(t *testing.T) {
	require.Equal(t, "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n", string(AppendRequest(nil, "GET", "k")))
	require.Equal(t, "*1\r\n$4\r\nPING\r\n", string(AppendRequest(nil, []byte("PING"))))
	require.Equal(t, "*2\r\n$0\r\n\r\n$2\r\n\r\n\r\n", string(AppendRequest(nil, "", "\r\n")))
	require.Equal(t, "*0\r\n", string(AppendRequest[string](nil)))
	require.Equal(t, "before*1\r\n$1\r\nx\r\n", string(AppendRequest([]byte("before"), "x")))
}

// Lengths and counts of one, two and more digits are written in different ways.
func TestRequestsOfEverySizeAreParsedBack(t *testing.T) {
	for _, n := range []int{1, 9, 10, 99, 100, 1000} {
		words := make([]string, n)
		for i := range words {
			words[i] = strings.Repeat("x", i*n%1234)
		}
		var want strings.Builder
		fmt.Fprintf(&want, "*%d\r\n", n)
		for _, w := range words {
			fmt.Fprintf(&want, "$%d\r\n%s\r\n", len(w), w)
		}
		request := AppendRequest(nil, words...)
		require.Equal(t, want.String(), string(request))

		commands, rest, err := feed(Limits{}, string(request), len(request))
		require.NoError(t, err)
		require.Zero(t, rest)
		require.Equal(t, []string{strings.Join(words, "|")}, commands)
	}
}

func TestARequestAllocatesNothingIfThereIsRoom(t *testing.T) {
	room, text, raw := make([]byte, 0, 1000), []string{"SET", "k", "v"}, [][]byte{[]byte("SET"), []byte("k")}
	require.Zero(t, testing.AllocsPerRun(100, func() { room = AppendRequest(room[:0], text...) }))
	require.Zero(t, testing.AllocsPerRun(100, func() { room = AppendRequest(room[:0], raw...) }))
}

func TestTheLengthOfARequestIsThatOfItsBytes(t *testing.T) {
	var many [][]byte
	for n := range 110 {
		many = append(many, bytes.Repeat([]byte{'x'}, 10*n))
		require.Equal(t, len(AppendRequest(nil, many...)), RequestLen(many))
	}
	require.Zero(t, RequestLen(nil))
}
