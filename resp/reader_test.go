package resp

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// words formats each command of a batch as a|b|c, which keeps tables readable.
func words(b *Batch) []string {
	var all []string
	for i := range b.Len() {
		var args []string
		for _, a := range b.Args(i) {
			args = append(args, string(a))
		}
		all = append(all, strings.Join(args, "|"))
	}
	return all
}

func frame(args ...string) string { return string(AppendRequest(nil, args...)) }

// feed passes input to a parser in pieces of size bytes, as a connection does. Bytes that are not
// consumed move to another address after each piece. The commands are copied before that.
func feed(limits Limits, input string, size int) (commands []string, rest int, err error) {
	p := Parser{Limits: limits}
	var b Batch
	var buf []byte
	size = max(size, len(input)/200) // copying is quadratic
	for len(input) > 0 {
		n := min(size, len(input))
		buf = append(append(make([]byte, 0, len(buf)+n), buf...), input[:n]...)
		input = input[n:]
		b.Reset()
		consumed, err := p.Parse(buf, &b)
		commands = append(commands, words(&b)...)
		if err != nil {
			return commands, len(buf) - consumed, err
		}
		buf = buf[consumed:]
	}
	return commands, len(buf), nil
}

var chunkings = []int{1 << 30, 1, 2, 3, 5, 7, 16384}

// The expected results are those of redis-server 7.0.15 over a raw socket.
func TestCommandsAreReadAsRedisReadsThem(t *testing.T) {
	for _, c := range []struct {
		input string
		want  []string
	}{
		{"PING\r\n", []string{"PING"}},
		{"PING\n", []string{"PING"}},
		{frame("PING"), []string{"PING"}},
		{frame("SET", "k", "") + frame("GET", "k"), []string{"SET|k|", "GET|k"}},
		{frame("ECHO", "a\r\n\x00$1"), []string{"ECHO|a\r\n\x00$1"}},
		{frame(strings.Repeat("x", 12345), "y"), []string{strings.Repeat("x", 12345) + "|y"}},
		{frame("MSET", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10"), []string{"MSET|1|2|3|4|5|6|7|8|9|10"}},
		{frame(""), []string{""}},
		{"\r\n\r\nPING\r\n\n", []string{"PING"}},
		{"  \t\r\n  PING \t a\r\n", []string{"PING|a"}},
		{"*0\r\n\r\n*0\r\nPING\r\n", []string{"PING"}},
		{"*-1\r\nPING\r\n", []string{"PING"}},
		{"*-10\r\nPING\r\n", []string{"PING"}},
		{"*-9223372036854775808\r\nPING\r\n", []string{"PING"}},
		{"*1\rX$4\rXPINGXX*1\r\n$4\r\nPONG\r\n", []string{"PING", "PONG"}},
		{"$4\r\nPING\r\n", []string{"$4", "PING"}},
		{"+OK\r\n *1\r\n", []string{"+OK", "*1"}},
		{"*1\r\n$0\r\n\r\nping\r\n", []string{"", "ping"}},
		{"ping a\vb\fc\n", []string{"ping|a\vb\fc"}},
		{"ping \v\fx\n", []string{"ping|x"}},
		{"ping a\rb\r\r\n", []string{"ping|a|b"}},
		{"ping \xff\xa0\x85\r\n", []string{"ping|\xff\xa0\x85"}},
		{`ping "a\x41\n\t\b\a\r\q"` + "\r\n", []string{"ping|aA\n\t\b\a\rq"}},
		{`ping "\xzz\x4\x4a\xFf\x00"` + "\r\n", []string{"ping|xzzx4J\xff\x00"}},
		{`ping 'a\'b\n' "" ''` + "\r\n", []string{`ping|a'b\n||`}},
		{"ping ab'c d' a\"c d\"\r\n", []string{"ping|abc d|ac d"}},
		{"ping \"a\"\v\"b\"\r\n", []string{"ping|a|b"}},
		{"*1\r\n$4\r\nPING\r\nPING\r\n" + frame("PONG"), []string{"PING", "PING", "PONG"}},
	} {
		for _, size := range chunkings {
			got, rest, err := feed(Limits{}, c.input, size)
			require.NoError(t, err, "%q by %d", c.input, size)
			require.Equal(t, c.want, got, "%q by %d", c.input, size)
			require.Zero(t, rest, "%q by %d", c.input, size)
		}
	}
}

func TestIncompleteCommandsWait(t *testing.T) {
	for _, input := range []string{
		"PING", "ping \"a\\", "*", "*1", "*1\r", "*1\r\n", "*1\r\n$", "*1\r\n$4\r", "*1\r\n$4\r\n", "*1\r\n$4\r\nPING",
		"*1\r\n$4\r\nPING\r", "*1048576\r\n", "*1\r\n$536870912\r\n", "*1\r\nxxxx", "*1\n$4\nPING\n",
		"*" + strings.Repeat("1", 65535), "*1\r\n$" + strings.Repeat("1", 65535), strings.Repeat("a", 65536),
		// Redis does not see the end of a line behind a NUL.
		"ping\x00abc\r\nping\r\n", "\x00\r\nping\r\n", "*1\x00\r\n$4\r\nPING\r\n", "*1\r\n\x00\r\nxx",
		"*1\r\n$4\x00\r\nPING\r\n",
	} {
		for _, size := range chunkings {
			got, rest, err := feed(Limits{}, input, size)
			require.NoError(t, err, "%.40q by %d", input, size)
			require.Empty(t, got, "%.40q by %d", input, size)
			require.Equal(t, len(input), rest, "%.40q by %d", input, size)
		}
	}
}

func TestMalformedFramesGetRedisErrors(t *testing.T) {
	const (
		count  = "Protocol error: invalid multibulk length"
		bulk   = "Protocol error: invalid bulk length"
		quotes = "Protocol error: unbalanced quotes in request"
	)
	ones := strings.Repeat("1", 65536)
	for _, c := range []struct{ input, want string }{
		{"*a\r\n", count}, {"*\r\n", count}, {"*01\r\n", count}, {"*+1\r\n", count}, {"*1 \r\n", count},
		{"* 1\r\n", count},
		{"*-0\r\n", count}, {"*-\r\n", count}, {"*--1\r\n", count}, {"*1\x01\r\n", count},
		{"*1048577\r\n", count}, {"*2147483648\r\n", count}, {"*9223372036854775807\r\n", count},
		{"*9223372036854775808\r\n", count}, {"*-9223372036854775809\r\n", count}, {"*18446744073709551617\r\n", count},
		{"*1\r\n$-1\r\n", bulk}, {"*1\r\n$-2\r\n", bulk}, {"*1\r\n$\r\n", bulk}, {"*1\r\n$a\r\n", bulk},
		{"*1\r\n$1e1\r\n", bulk},
		{"*1\r\n$+4\r\nPING\r\n", bulk}, {"*1\r\n$04\r\nPING\r\n", bulk}, {"*1\r\n$4 \r\nPING\r\n", bulk},
		{"*1\r\n$-0\r\n\r\n", bulk},
		{"*1\r\n$536870913\r\n", bulk}, {"*1\r\n$9223372036854775807\r\n", bulk},
		{"*1\r\n$99999999999999999999\r\n", bulk},
		{"*1\r\n$00000000000000000000000000004\r\nPING\r\n", bulk},
		{"*1\r\nx4\r\nPING\r\n", "Protocol error: expected '$', got 'x'"},
		{"*1\r\nping\r\n", "Protocol error: expected '$', got 'p'"},
		{"*1\r\n\r\n", "Protocol error: expected '$', got '\r'"},
		{"*1\r\n\n$4\r\nPING\r\n", "Protocol error: expected '$', got '\n'"},
		{"*1\r\n'\r\n", "Protocol error: expected '$', got '''"},
		{"*1\r\n\xff\r\n", "Protocol error: expected '$', got '\xff'"},
		{"*3\r\n$3\r\nSET\r\n$1\r\nx\r\nfoo\r\n", "Protocol error: expected '$', got 'f'"},
		{"*2\r\n$4\r\nPING\r\n\r\n", "Protocol error: expected '$', got '\r'"},
		{"ping 'a'b\r\n", quotes}, {"ping \"a\"b\r\n", quotes}, {"ping \"a\r\n", quotes}, {"ping 'a\r\n", quotes},
		{"ping \"a\\\r\n", quotes}, {`ping 'a\\'` + "\r\n", quotes}, {`ping 'a\'` + "\r\n", quotes},
		{"set x \"\r\n", quotes},
		{"*" + ones, "Protocol error: too big mbulk count string"},
		{"*1\x00" + ones, "Protocol error: too big mbulk count string"},
		{"*1\r\n$" + ones, "Protocol error: too big bulk count string"},
		{"*1\r\nx" + ones, "Protocol error: too big bulk count string"},
		{ones + "1", "Protocol error: too big inline request"},
		{ones + "1\r\n", "Protocol error: too big inline request"},
		{"\x00\n" + ones, "Protocol error: too big inline request"},
	} {
		for _, size := range chunkings {
			for _, before := range []string{"", frame("PING"), "PING\r\n"} {
				got, _, err := feed(Limits{}, before+c.input, size)
				require.Equal(t, ErrProtocol(c.want), err, "%.40q by %d", before+c.input, size)
				require.Equal(t, before != "", len(got) == 1, "the commands before %.40q by %d", c.input, size)
			}
		}
	}
}

func TestAnErrorConsumesOnlyTheCommandsBeforeIt(t *testing.T) {
	var p Parser
	var b Batch
	before := "PING\r\n" + frame("GET", "k")
	n, err := p.Parse([]byte(before+"*x\r\nPING\r\n"), &b)
	require.EqualError(t, err, "Protocol error: invalid multibulk length")
	require.Equal(t, len(before), n)
	require.Equal(t, []string{"PING", "GET|k"}, words(&b))
}

func TestConfiguredLimitsReplaceRedisDefaults(t *testing.T) {
	limits := Limits{MaxBulk: 5, MaxArgs: 2, MaxInline: 8}
	for _, c := range []struct{ input, want string }{
		{frame("ab", "12345"), ""}, {"12345678\n", ""},
		{frame("ab", "123456"), "Protocol error: invalid bulk length"},
		{frame("a", "b", "c"), "Protocol error: invalid multibulk length"},
		{"123456789\n", "Protocol error: too big inline request"},
		{"*12345678\r\n", "Protocol error: too big mbulk count string"},
	} {
		for _, size := range chunkings {
			got, _, err := feed(limits, c.input, size)
			if c.want == "" {
				require.NoError(t, err)
				require.Len(t, got, 1)
			} else {
				require.Equal(t, ErrProtocol(c.want), err, "%q by %d", c.input, size)
			}
		}
	}
}

func TestClientsThatHaveNotAuthenticatedSendLittle(t *testing.T) {
	const (
		count = "Protocol error: unauthenticated multibulk length"
		bulk  = "Protocol error: unauthenticated bulk length"
	)
	ten := strings.Split("1 2 3 4 5 6 7 8 9 10", " ")
	for _, c := range []struct{ input, want string }{
		{frame(ten...), ""}, {frame(append(ten, "11")...), count},
		{frame(strings.Repeat("x", 16384)), ""}, {frame(strings.Repeat("x", 16385)), bulk},
		{frame("AUTH", strings.Repeat("x", 16385)), bulk},
		{"*2147483648\r\n", "Protocol error: invalid multibulk length"},
		{"*1\r\n$-1\r\n", "Protocol error: invalid bulk length"},
	} {
		for _, size := range chunkings {
			_, _, err := feed(Limits{Unauthenticated: true}, c.input, size)
			if c.want == "" {
				require.NoError(t, err)
			} else {
				require.Equal(t, ErrProtocol(c.want), err, "%.20q by %d", c.input, size)
			}
		}
	}
}

func TestAuthLiftsTheLimitForCommandsBehindItInTheSameRead(t *testing.T) {
	auth := frame("AUTH", "secret")
	for _, big := range []string{frame("SET", "k", strings.Repeat("x", 20000)),
		frame(strings.Split("a b c d e f g h i j k l", " ")...)} {
		for _, authenticated := range []bool{true, false} {
			p := Parser{Limits: Limits{Unauthenticated: true}}
			var b Batch
			n, err := p.Parse([]byte(auth+big), &b)
			require.NoError(t, err)
			require.Equal(t, []string{"AUTH|secret"}, words(&b))
			require.Equal(t, len(auth), n)

			b.Reset()
			p.Limits.Unauthenticated = !authenticated
			n, err = p.Parse([]byte(big), &b)
			if authenticated {
				require.NoError(t, err)
				require.Equal(t, len(big), n)
				require.Equal(t, 1, b.Len())
			} else {
				require.ErrorContains(t, err, "unauthenticated")
			}
		}
	}
}

func TestArgumentsAliasTheInput(t *testing.T) {
	buf := []byte(frame("GET", "key") + "get key\r\n")
	var p Parser
	var b Batch
	_, err := p.Parse(buf, &b)
	require.NoError(t, err)
	for i := range buf {
		if buf[i] == 'y' {
			buf[i] = 'Y'
		}
	}
	require.Equal(t, []string{"GET|keY", "get|keY"}, words(&b))
	for i := range b.Len() {
		for _, a := range b.Args(i) {
			require.Equal(t, len(a), cap(a), "an append to an argument must not overwrite the next one")
		}
	}
}

func TestUnescapingLeavesTheInputAsItIs(t *testing.T) {
	line := `set "k" ab'\'' "\x41\n"` + "\r\n"
	buf := []byte(line)
	var p Parser
	var b Batch
	_, err := p.Parse(buf, &b)
	require.NoError(t, err)
	require.Equal(t, []string{"set|k|ab'|A\n"}, words(&b))
	require.Equal(t, line, string(buf))
}
