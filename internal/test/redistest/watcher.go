package redistest

import (
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/miniredisd/miniredisd/resp"
)

// Watcher is a connection that asks the server about other connections. A reply to the Watcher does not
// mean that the server has read earlier requests of other connections: on a busy machine these may
// arrive later.
type Watcher struct {
	*Conn
	asked int64 // the bytes of the Watcher's own requests
}

// Watch is Dial for a Watcher.
func Watch(t testing.TB, addr string) *Watcher {
	t.Helper()
	return &Watcher{Conn: Dial(t, addr)}
}

// Do is Conn.Do.
func (w *Watcher) Do(args ...string) resp.Value {
	w.t.Helper()
	w.asked += int64(len(resp.AppendRequest(nil, args...)))
	return w.Conn.Do(args...)
}

// BytesRead returns how many bytes the server has read from other connections. known is false while a
// script keeps the server busy.
func (w *Watcher) BytesRead() (bytes int64, known bool) {
	_, rest, found := strings.Cut(w.Do("INFO", "stats").Str, "total_net_input_bytes:")
	text, _, _ := strings.Cut(rest, "\r\n")
	bytes, err := strconv.ParseInt(text, 10, 64)
	return bytes - w.asked, found && err == nil
}

// NotReading reports whether the server does not read from c, because c is blocked or closed.
func (w *Watcher) NotReading(c net.Conn) bool {
	line := w.ClientLine(c)
	_, flags, _ := strings.Cut(line, " flags=")
	flags, _, _ = strings.Cut(flags, " ")
	return line == "" || strings.Contains(flags, "b")
}

// ClientLine returns the line of CLIENT LIST about c, or "" if the server has closed c.
func (w *Watcher) ClientLine(c net.Conn) string {
	for line := range strings.Lines(w.Do("CLIENT", "LIST").Str) {
		if strings.Contains(line, " addr="+c.LocalAddr().String()+" ") {
			return line
		}
	}
	return ""
}
