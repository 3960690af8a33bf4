package replicas

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/amount"
	"github.com/miniredisd/miniredisd/resp"
)

// A hundred replicas that come at once get the keys of one snapshot. A file may be complete before the last one has
// asked, so then there may be another one.
func TestAHundredReplicasShareASnapshot(t *testing.T) {
	amount.Large(t)
	build(t)
	for _, kind := range []string{ours, redis} {
		for _, args := range []string{
			"--repl-diskless-sync-delay 1000 --repl-diskless-sync-max-replicas 100", "--repl-diskless-sync no",
		} {
			t.Run(kind+" "+args, func(t *testing.T) {
				n := &node{t: t, kind: kind, dir: t.TempDir(), args: strings.Fields(args)}
				n.start()
				var keys []byte
				for i := range 10_000 {
					keys = resp.AppendRequest(keys, "SET", "key:"+strconv.Itoa(i), strings.Repeat("v", 100))
				}
				go func() { _ = n.admin.Send(keys) }()
				for range 10_000 {
					n.admin.Read()
				}
				var all sync.WaitGroup
				files, replicas := make([]string, 100), make([]net.Conn, 100)
				for i := range replicas {
					var err error
					replicas[i], err = net.Dial("tcp", n.addr)
					require.NoError(t, err)
					defer replicas[i].Close()
				}
				began := time.Now()
				for i, c := range replicas {
					all.Go(func() { files[i] = fetch(c) })
				}
				all.Wait()
				for _, file := range files {
					require.True(t, strings.HasPrefix(file, "REDIS0011") && strings.Contains(file, "key:9999"), "%.40q", file)
				}
				t.Logf("%d bytes for each of %d after %s, forks or snapshots: %s", len(files[0]), len(files),
					time.Since(began).Round(time.Millisecond), n.info("total_forks"))
				forks, err := strconv.Atoi(n.info("total_forks"))
				require.NoError(t, err)
				most := map[bool]int{true: 3, false: 1}[strings.HasSuffix(args, "no")]
				require.LessOrEqual(t, forks, most)
				require.Equal(t, "100", n.info("sync_full"))
			})
		}
	}
}

// fetch returns the file of all keys, or why it has none.
func fetch(c net.Conn) string {
	in := bufio.NewReader(c)
	_, _ = c.Write(resp.AppendRequest(nil, "REPLCONF", "capa", "eof", "capa", "psync2"))
	if line, err := in.ReadString('\n'); line != "+OK\r\n" {
		return fmt.Sprint(line, err)
	}
	_, _ = c.Write(resp.AppendRequest(nil, "PSYNC", "?", "-1"))
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return err.Error()
		}
		if mark, isMark := strings.CutPrefix(strings.TrimSpace(line), "$EOF:"); isMark {
			return untilMark(in, mark)
		}
		if length, isLength := strings.CutPrefix(strings.TrimSpace(line), "$"); isLength {
			size, _ := strconv.Atoi(length)
			file := make([]byte, size)
			_, _ = io.ReadFull(in, file)
			return string(file)
		}
	}
}

func untilMark(in *bufio.Reader, mark string) string {
	var file []byte
	piece := make([]byte, 1<<14)
	for !bytes.HasSuffix(file, []byte(mark)) {
		n, err := in.Read(piece)
		if err != nil {
			return err.Error()
		}
		file = append(file, piece[:n]...)
	}
	return string(file)
}
