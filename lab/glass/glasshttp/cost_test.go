package glasshttp

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/resp"
)

// cpu returns the time that this process has used of its processors.
func cpu(b *testing.B) time.Duration {
	var use syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &use))
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

// BenchmarkCost shows what a request costs without package glass, with it and nobody looking, and
// with one reader of the stream. The time of the processors has the client and the reader in it,
// and is the figure to compare: go test ./lab/glass/glasshttp -bench Cost -count 6
func BenchmarkCost(b *testing.B) {
	for _, c := range []struct {
		name    string
		args    []string
		watched bool
	}{{"off", []string{"--watch", ""}, false}, {"unwatched", nil, false}, {"watched", nil, true}} {
		for _, pipeline := range []int{16, 512} {
			b.Run(c.name+"/P"+strconv.Itoa(pipeline), func(b *testing.B) {
				s := start(b, c.args...)
				if c.watched {
					r, err := http.Get(s.url + "/watch/events")
					require.NoError(b, err)
					defer r.Body.Close()
					go func() { _, _ = io.Copy(io.Discard, r.Body) }()
				}
				conn, err := net.Dial("tcp", s.masters.Addrs()[0])
				require.NoError(b, err)
				defer conn.Close()
				batch := bytes.Repeat(resp.AppendRequest(nil, "SET", "k", "v"), pipeline)
				replies := make([]byte, pipeline*len("+OK\r\n"))
				began := cpu(b)
				b.ResetTimer()
				for n := 0; n < b.N; n += pipeline {
					_, err := conn.Write(batch)
					require.NoError(b, err)
					_, err = io.ReadFull(conn, replies)
					require.NoError(b, err)
				}
				b.ReportMetric(float64(cpu(b)-began)/float64(b.N), "cpu-ns/op")
			})
		}
	}
}
