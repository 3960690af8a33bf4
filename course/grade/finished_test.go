package grade

import (
	"net"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// finished is a right server that also answers what only finished servers do.
func finished() {
	data := plain{}
	serve(func(nc net.Conn) {
		talk(nc, parseRequest, func(words []string, write func(string)) {
			switch words[0] {
			case "COMMAND":
				write(":" + strconv.Itoa(241) + "\r\n")
			case "INFO":
				write(bulk("# Server\r\nredis_version:7.2.6\r\n"))
			default:
				write(execute(data, words))
			}
		})
	})
}

func TestAFinishedServerIsNamedAndKeepsItsPoints(t *testing.T) {
	t.Parallel()
	r := gradeOf(t, "L01", "finished", nil)
	require.Contains(t, r.Output, "COMMAND COUNT (241) and INFO. It may be a finished server, and not yours.")
	require.Equal(t, 15, r.Tests[0].Score)
	require.NotContains(t, gradeOf(t, "L01", "right", nil).Output, "finished server")
}

// deaf reads nothing, as a skeleton does whose parser is not written.
func deaf() {
	serve(func(nc net.Conn) { go talk(nc, func([]byte) ([]string, int) { return nil, 0 }, nil) })
}

func TestAServerThatAnswersNothingIsDoneWithSoon(t *testing.T) {
	t.Parallel()
	tests := gradeOf(t, "L01", "deaf", nil).Tests
	require.Contains(t, tests[0].Output, "PING: no reply came.")
	for _, r := range tests[1:] {
		require.Contains(t, r.Output, "Not tried: the program answers nothing")
	}
}
