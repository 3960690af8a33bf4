package node_test

import (
	"bufio"
	"io"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/resp"
)

// The memory of a replaced value becomes the input buffer of the next large command. Replies, snapshots and
// copies that still need the old value must not see what arrives there.
func TestMemoryOfAReplacedValueIsUsedAgainOnlyWhenNobodyNeedsIt(t *testing.T) {
	t.Parallel()
	for mode, begin := range map[string]func(*testing.T) string{
		"main":    func(t *testing.T) string { return start(t, nil) },
		"threads": func(t *testing.T) string { return startThreads(t, true) },
	} {
		t.Run(mode, func(t *testing.T) {
			addr := begin(t)
			chance := rand.New(rand.NewPCG(1, 2))
			clients := make([]*redistest.Conn, 4)
			for i := range clients {
				clients[i] = redistest.Dial(t, addr)
			}
			model := map[string]string{}
			for turn := range 300 {
				c, key := clients[chance.IntN(4)], "k"+strconv.Itoa(chance.IntN(3))
				value := strings.Repeat(strconv.Itoa(turn)+",", 10_000+chance.IntN(8)*100)
				before, there := model[key]
				var pipeline []byte
				for _, r := range largeOverwrites(chance.IntN(6), key, value) {
					pipeline = resp.AppendRequest(pipeline, r...)
				}
				pipeline = resp.AppendRequest(pipeline, "GET", key)
				require.NoError(t, c.Send(pipeline))
				first := c.Read() // a GET before the change, in every kind of it
				require.True(t, !there && first.Null || first.Str == before, "turn %d", turn)
				c.Read()
				require.True(t, c.Read().Str == value, "turn %d", turn)
				model[key] = value
			}
			for key, value := range model {
				require.True(t, clients[0].Do("GET", key).Str == value)
			}
		})
	}
}

// largeOverwrites are two commands: the first replies with the value of key, the second replaces it. The
// fourth kind does both at once.
func largeOverwrites(kind int, key, value string) [][]string {
	get := []string{"GET", key}
	switch kind {
	case 0:
		return [][]string{get, {"SET", key, value}}
	case 1:
		return [][]string{get, {"SET", key, value, "PX", "100000"}}
	case 2:
		return [][]string{get, {"SETEX", key, "100", value}}
	case 3:
		return [][]string{{"SET", key, value, "GET"}, {"PING"}}
	case 4:
		return [][]string{{"GETSET", key, value}, {"COPY", key, "copy", "REPLACE"}}
	}
	return [][]string{get, {"EVAL", `return redis.call("set", KEYS[1], ARGV[1])`, "1", key, value}}
}

func TestAReplyThatIsNotYetSentKeepsTheMemoryOfItsValue(t *testing.T) {
	addr := start(t, nil)
	old, young := strings.Repeat("o", 6_000_000), strings.Repeat("y", 6_000_000)
	writer := redistest.Dial(t, addr)
	writer.Do("SET", "k", old)
	reader, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	defer reader.Close()
	_, err = reader.Write(resp.AppendRequest(nil, "GET", "k"))
	require.NoError(t, err)
	reply := bufio.NewReader(reader)
	_, err = reply.Peek(1) // the command is executed, and its reply does not fit into the socket
	require.NoError(t, err)
	for range 3 {
		writer.Do("SET", "k", young)
		writer.Do("SET", "other", young)
	}
	header, err := reply.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "$6000000\r\n", header)
	got := make([]byte, len(old))
	_, err = io.ReadFull(reply, got)
	require.NoError(t, err)
	require.True(t, string(got) == old)
}
