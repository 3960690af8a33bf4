package node

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

// A blocked command runs again when its key is ready. The end of CLIENT PAUSE can cause that too,
// not only a client.
func TestAPanicOfABlockedCommandEndsItsClientOnly(t *testing.T) {
	cfg := config.Default()
	cfg.Port, cfg.Bind = 0, []string{"127.0.0.1"}
	logged := make(chan string, 10)
	s, err := New(cfg, func(_ byte, format string, args ...any) {
		if line := fmt.Sprintf(format, args...); strings.HasPrefix(line, "Panic") {
			logged <- line
		}
	})
	require.NoError(t, err)
	row := s.Ex.Table.Lookup([][]byte{[]byte("blpop"), []byte("q"), []byte("0")})
	pop, calls := row.Do, 0
	defer func() { row.Do = pop }() // other servers of this process have the same row
	row.Do = func(c *command.Call) error {
		if calls++; calls == 2 {
			panic("a bug")
		}
		return pop(c)
	}
	done := make(chan error)
	go func() { done <- s.Run() }()

	blocked, admin := redistest.Dial(t, s.Addrs()[0]), redistest.Dial(t, s.Addrs()[0])
	require.NoError(t, blocked.Send([]byte("BLPOP q 0\r\n")))
	redistest.Until(t, func() bool { return strings.Contains(admin.Do("INFO", "clients").Str, "blocked_clients:1\r\n") })
	for _, request := range []string{"MULTI", "RPUSH q x", "CLIENT PAUSE 5 WRITE", "EXEC"} {
		admin.Do(strings.Fields(request)...)
	}
	require.Contains(t, <-logged, "a bug")
	require.Equal(t, "x", admin.Do("LPOP", "q").Str)
	require.Contains(t, admin.Do("INFO", "clients").Str, "blocked_clients:0\r\n")
	require.Equal(t, 1, strings.Count(admin.Do("CLIENT", "LIST").Str, "\n"))
	s.Stop()
	require.NoError(t, <-done)
}
