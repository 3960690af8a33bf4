package child

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/respclient"
	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

// parentVariable makes this test binary a program that starts a server and then waits.
const parentVariable = "CHILD_TEST_PARENT"

// brokenVariable makes this test binary a server that ends at once.
const brokenVariable = "CHILD_TEST_BROKEN"

func TestMain(m *testing.M) {
	if os.Getenv(brokenVariable) != "" {
		fmt.Println("no")
		os.Exit(3)
	}
	if command := os.Getenv(parentVariable); command != "" {
		c, err := New(command, func(string) {}, func(string) {})
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			panic(err)
		}
		fmt.Println(c.Addr)
		select {}
	}
	os.Exit(m.Run())
}

const redis = `redis-server --port {port} --save ""`

func TestACommandThatCannotRunIsRefused(t *testing.T) {
	t.Setenv(brokenVariable, "yes")
	quiet := func(string) {}
	for command, why := range map[string]string{
		"redis-server":                "lacks {port}",
		`redis-server "--port {port}`: "the quotes",
		"/no/such/server {port}":      "cannot be started",
		os.Args[0] + " {port}":        "has ended before it answered (exit status 3); it printed:\nno",
	} {
		c, err := New(command, quiet, quiet)
		if err == nil {
			defer c.Close()
			err = c.Start()
		}
		require.ErrorContains(t, err, why)
	}
}

func TestAServerIsKilledAndStartedAgainAtItsAddress(t *testing.T) {
	redistest.Need(t, "redis-server")
	var mu sync.Mutex
	var printed []string
	ended := make(chan string, 1)
	c, err := New(redis+" --dir {dir}", func(line string) {
		mu.Lock()
		defer mu.Unlock()
		printed = append(printed, line)
	}, func(how string) { ended <- how })
	require.NoError(t, err)
	folder := c.folder
	require.DirExists(t, folder)
	for range 2 {
		require.NoError(t, c.Start())
		require.NoError(t, c.Start(), "it runs")
		require.True(t, c.Answers())
		c.Kill()
		require.False(t, c.Answers())
	}
	c.Kill()
	require.NoError(t, c.Start())
	conn, err := respclient.Dial(c.Addr)
	require.NoError(t, err)
	v, err := conn.Do("INFO", "server")
	require.NoError(t, err)
	require.Regexp(t, `^redis \d+\.\d+\.\d+$`, Identity(v.Str))
	_, _ = conn.Do("SHUTDOWN")
	require.Equal(t, "exit status 0", <-ended, "nobody has asked for this end but a client")
	c.Close()
	require.NoDirExists(t, folder)
	require.ErrorContains(t, c.Start(), "closed")
	mu.Lock()
	defer mu.Unlock()
	require.Contains(t, strings.Join(printed, "\n"), "Ready to accept connections")
}

func TestAServerDoesNotOutliveItsParent(t *testing.T) {
	redistest.Need(t, "redis-server")
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells a child of the end of its parent")
	}
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), parentVariable+"="+redis)
	out, err := parent.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, parent.Start())
	addr, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	conn, err := respclient.Dial(strings.TrimSpace(addr))
	require.NoError(t, err)
	require.NoError(t, parent.Process.Kill())
	_ = parent.Wait()
	_, err = conn.Read()
	require.Error(t, err, "the server has ended")
}

func TestTheIdentityOfAServerIsItsNameAndVersion(t *testing.T) {
	for info, want := range map[string]string{
		"# Server\r\nredis_version:7.2.6\r\n":                                              "redis 7.2.6",
		"redis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:9.1.2\r\n":            "valkey 9.1.2",
		"redis_version:7.4.0\r\ndragonfly_version:df-v1.30.0\r\nredis_mode:standalone\r\n": "dragonfly df-v1.30.0",
	} {
		require.Equal(t, want, Identity(info))
	}
}
