package node

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/persist/disk"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/server"
	"github.com/miniredisd/miniredisd/server/persist"
)

// onSim is a server whose append only file is on a simulated disk.
type onSim struct {
	*server.Server
	t     *testing.T
	ended chan error

	mu  sync.Mutex
	log strings.Builder
}

func startOnSim(t *testing.T, policy string) *onSim {
	cfg := config.Default()
	cfg.Port, cfg.Bind, cfg.AppendOnly, cfg.AppendFsync = 0, []string{"127.0.0.1"}, true, policy
	cfg.EnableDebugCommand = "yes"
	o := &onSim{t: t, ended: make(chan error, 1)}
	var err error
	o.Server, err = New(cfg, func(_ byte, format string, args ...any) {
		o.mu.Lock()
		defer o.mu.Unlock()
		fmt.Fprintf(&o.log, format+"\n", args...)
	})
	require.NoError(t, err)
	go func() { o.ended <- o.Run() }()
	t.Cleanup(o.Stop)
	return o
}

func (o *onSim) logged() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.log.String()
}

// fail makes operations of the disk fail, counted from now on.
func (o *onSim) fail(is disk.Fault, operations ...int) {
	done := make(chan struct{})
	o.Loop.Post(func() {
		for _, n := range operations {
			server.PartOf[*persist.Files](o.Server).Disk.(*disk.Sim).Fail(n, is)
		}
		close(done)
	})
	<-done
}

func (o *onSim) dial() *redistest.Conn { return redistest.Dial(o.t, o.Addrs()[0]) }

// With always, nobody hears of a write that is not on the disk: neither its client nor a reader in the same pass.
func TestWithAlwaysAFailureEndsTheServerBeforeTheReply(t *testing.T) {
	for name, fail := range map[string]func(o *onSim){
		"write":       func(o *onSim) { o.fail(disk.NoSpace, 0) },
		"short write": func(o *onSim) { o.fail(disk.Short, 0) },
		"fsync":       func(o *onSim) { o.fail(disk.Failure, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			o := startOnSim(t, "always")
			c := o.dial()
			require.Equal(t, "OK", c.Do("SET", "k", "kept").Str)
			fail(o)
			require.NoError(t, c.Send([]byte("SET k lost\r\nGET k\r\n")))
			_, err := c.TryRead()
			require.ErrorIs(t, err, io.EOF)
			require.ErrorContains(t, <-o.ended, "the append only file cannot be written, and appendfsync is always")
			require.Contains(t, o.logged(), "Exiting...")
		})
	}
}

// A rewrite makes the file whole again. Here it waits until cron continues.
func TestAfterAFailedFsyncEverythingButWritingGoesOn(t *testing.T) {
	t.Parallel()
	o := startOnSim(t, "everysec")
	c := o.dial()
	require.Equal(t, "OK", c.Do("DEBUG", "PAUSE-CRON", "1").Str)
	o.fail(disk.Failure, 1)
	require.Equal(t, "OK", c.Do("SET", "k", "v").Str)
	const misconf = "MISCONF Errors writing to the AOF file: Input/output error"
	redistest.Until(t, func() bool { return strings.HasPrefix(c.Do("PING").Str, misconf) }) // the fsync is due
	for _, line := range []string{
		"SET k w", "PING", "DEL k", "BLPOP q 0", "EVAL return(redis.call('set','k','w')) 0",
	} {
		require.Contains(t, c.Do(strings.Fields(line)...).Str, misconf, line)
	}
	require.Equal(t, "OK", c.Do("MULTI").Str)
	require.Contains(t, c.Do("SET", "k", "w").Str, misconf)
	require.Contains(t, c.Do("EXEC").Str, "EXECABORT")
	require.Equal(t, "v", c.Do("GET", "k").Str)
	require.Equal(t, "OK", c.Do("CONFIG", "SET", "appendfsync", "no").Str)
	require.Contains(t, c.Do("SET", "k", "w").Str, misconf, "another policy does not bring the bytes back")
	require.Contains(t, c.Do("INFO", "persistence").Str, "aof_last_write_status:err\r\n")
	require.Contains(t, o.logged(), "Fail to fsync the AOF file: input/output error")

	require.Equal(t, "OK", c.Do("DEBUG", "PAUSE-CRON", "0").Str)
	redistest.Until(t, func() bool { return c.Do("SET", "k", "w").Str == "OK" })
	require.Contains(t, c.Do("INFO", "persistence").Str, "aof_last_write_status:ok\r\n")
	require.Equal(t, "OK", c.Do("DEBUG", "LOADAOF").Str)
	require.Equal(t, "w", c.Do("GET", "k").Str)
}

// A rewrite leaves the part that could not be written, but not its client with a reply.
func TestWithAlwaysARewriteDoesNotHideAFailure(t *testing.T) {
	for _, operation := range []int{0, 1} { // a write and an fsync
		o := startOnSim(t, "always")
		c := o.dial()
		require.Equal(t, "OK", c.Do("SET", "k", "kept").Str)
		o.fail(disk.Failure, operation)
		require.NoError(t, c.Send([]byte("SET k lost\r\nBGREWRITEAOF\r\n")))
		_, err := c.TryRead()
		require.ErrorIs(t, err, io.EOF)
		require.ErrorContains(t, <-o.ended, "the append only file cannot be written, and appendfsync is always")
	}
}

func TestAfterAFailedWriteTheServerTriesAgain(t *testing.T) {
	o := startOnSim(t, "no")
	c := o.dial()
	o.fail(disk.Short, 0)
	o.fail(disk.NoSpace, 1, 2)
	require.Equal(t, "OK", c.Do("SET", "k", "v").Str)
	require.Contains(t, c.Do("SET", "k", "w").Str, "MISCONF Errors writing to the AOF file: No space left on device")
	redistest.Until(t, func() bool { return c.Do("SET", "k", "w").Str == "OK" })
	require.Contains(t, o.logged(), "AOF write error looks solved")
	o.Stop()
	require.NoError(t, <-o.ended)
	p := server.PartOf[*persist.Files](o.Server)
	f, err := p.Disk.Open(filepath.Join(p.Folder(), "appendonlydir", "appendonly.aof.1.incr.aof"))
	require.NoError(t, err)
	text, err := io.ReadAll(f)
	require.NoError(t, err)
	want := resp.AppendRequest(nil, "SELECT", "0")
	for _, v := range []string{"v", "w"} {
		want = resp.AppendRequest(want, "SET", "k", v)
	}
	require.Equal(t, string(want), string(text), "the half that was written is not written again")
}
