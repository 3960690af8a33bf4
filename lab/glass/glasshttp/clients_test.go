package glasshttp

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

func (s *site) order(do, name, data string) {
	s.t.Helper()
	s.must("/watch/clients", fmt.Sprintf(`{"do": %q, "name": %q, "data": %s}`, do, name, strconv.Quote(data)))
}

func TestAPageClientIsAConnectionWithNothingButThePagesBytes(t *testing.T) {
	s := start(t)
	f := s.listen("")
	s.order("open", "A", "")
	for _, part := range []string{"*1\r", "\n$4\r\nPI", "NG\r\n"} {
		s.order("send", "A", part)
	}
	f.until("A", `+PONG\r\n`)
	c := redistest.Dial(t, s.masters.Addrs()[0])
	list := c.Do("CLIENT", "LIST").Str
	require.Contains(t, list, " name=page:A ")
	require.Contains(t, list, " cmd=ping ")
	s.order("send", "A", "SET k \xe4\xb8\xad\r\nGET k\r\n")
	f.until("A", `+OK\r\n$3\r\n\xe4\xb8\xad\r\n`)
}

func TestAPageClientSaysHowItsConnectionEnds(t *testing.T) {
	s := start(t)
	f := s.listen("")
	c := redistest.Dial(t, s.masters.Addrs()[0])
	for do, ending := range map[string]string{"close": "page", "reset": "page", "halfclose": "server"} {
		s.order("open", "A", "")
		s.order(do, "A", "")
		f.until("A", ending)
	}
	s.order("open", "A", "")
	s.order("send", "A", "PING\r\n")
	f.until("A", `+PONG\r\n`)
	for strings.Count(c.Do("CLIENT", "LIST").Str, " name=page:A ") != 1 { // the server has not seen all ends yet
	}
	require.Equal(t, int64(1), c.Do("CLIENT", "KILL", "TYPE", "normal").Int)
	f.until("A", "server")
	_, fault := s.post("/watch/clients", `{"do": "send", "name": "A"}`)
	require.Equal(t, "ERR there is no client A", fault)
}

func TestAClientThatDoesNotReadGetsEverythingLater(t *testing.T) {
	s := start(t)
	f := s.listen("")
	s.order("open", "A", "")
	s.must("/watch/clients", `{"do": "reading", "name": "A", "on": false}`)
	const n = 4 << 20 // more than the sockets take
	c := redistest.Dial(t, s.masters.Addrs()[0])
	c.Do("SET", "k", strings.Repeat("x", n))
	s.order("send", "A", "GET k\r\nPING\r\n")
	redistest.Until(t, func() bool { return strings.Contains(c.Do("CLIENT", "LIST").Str, " name=page:A ") })
	s.must("/watch/clients", `{"do": "reading", "name": "A", "on": true}`)
	f.until("A", `+PONG\r\n`)
}

func TestAPageThatComesLaterSeesWhatTheClientsReceived(t *testing.T) {
	s := start(t)
	f := s.listen("")
	s.order("open", "A", "")
	s.order("send", "A", "PING\r\n")
	f.until("A", "PONG")
	s.listen("").until("A", "PONG")
	s.order("open", "A", "")
	c := redistest.Dial(t, s.masters.Addrs()[0])
	require.Equal(t, 1, strings.Count(c.Do("CLIENT", "LIST").Str, " name=page:A "))
}

func TestOrdersThatMakeNoSenseAreRefused(t *testing.T) {
	s := start(t, "--masters", "2")
	s.order("open", "A", "")
	for body, want := range map[string]string{
		`{"do": "open", "name": "A", "master": 2}`: "ERR client A is connected to master 1: close it first",
		`{"do": "open", "name": "a b"}`:            "ERR a name has 1 to 16 letters, digits, - and _",
		`{"do": "open", "name": ""}`:               "ERR a name has 1 to 16 letters, digits, - and _",
		`{"do": "open", "name": "B", "master": 3}`: "ERR master is a number from 1 to 2",
		`{"do": "jump", "name": "A"}`: "ERR a client can open, send, reading, halfclose, reset and close, " +
			"not 'jump'",
		`{"do": "send", "name": "C"}`: "ERR there is no client C",
		`{"what": 1}`:                 `ERR the body is wrong: json: unknown field "what"`,
		`[]`: "ERR the body is wrong: json: cannot unmarshal array into Go value of type " +
			"glasshttp.order",
		`{"do": "send", "name": "A", "data": "` + strings.Repeat("x", maxSend+1) + `"}`: "ERR 65536 bytes " +
			"can be sent at once",
	} {
		_, fault := s.post("/watch/clients", body)
		require.Equal(t, want, fault)
	}
	for i := 1; i < maxClients; i++ {
		s.must("/watch/clients", fmt.Sprintf(`{"do": "open", "name": "c%d", "master": %d}`, i, 1+i%2))
	}
	_, fault := s.post("/watch/clients", `{"do": "open", "name": "more"}`)
	require.Equal(t, "ERR a page has 16 clients at most", fault)
}

func TestALoadCountsItsReplies(t *testing.T) {
	s := start(t)
	require.Regexp(t, `^{"seconds":[0-9.e-]+,"requests":1003}$`,
		s.must("/watch/load", `{"clients": 5, "requests": 1003, "pipeline": 7}`))
	c := redistest.Dial(t, s.masters.Addrs()[0])
	require.Zero(t, c.Do("DBSIZE").Int, "a load leaves no keys behind")
	_, fault := s.post("/watch/load", `{"clients": 1001}`)
	require.Equal(t, "ERR clients is a number from 1 to 1000", fault)
}

func TestALoadCanBeStopped(t *testing.T) {
	s := start(t)
	c := redistest.Dial(t, s.masters.Addrs()[0])
	done := make(chan string, 1)
	go func() {
		result, _ := s.post("/watch/load", `{"clients": 2, "requests": 10000000}`)
		done <- result
	}()
	redistest.Until(t, func() bool { return c.Do("DBSIZE").Int == 2 })
	_, fault := s.post("/watch/load", `{"clients": 2}`)
	require.Equal(t, "ERR a load is running: stop it first", fault)
	s.must("/watch/load", `{"stop": true}`)
	require.Contains(t, <-done, "seconds")
	s.must("/watch/load", `{"requests": 10}`)
}
