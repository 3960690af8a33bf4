package redistest

import (
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/miniredisd/miniredisd/resp"
)

// Watcher is a connection that tells how far its server has come with the others. That it is
// answered itself says nothing of them: on a busy machine what was sent first on one
// connection may arrive later than what was sent after that on another.
type Watcher struct {
	*Conn
	asked int64 // bytes of its own requests
}

// Watch is Dial for a Watcher.
func Watch(t testing.TB, addr string) *Watcher {
	t.Helper()
	return &Watcher{Conn: Dial(t, addr)}
}

// Do is Conn.Do.
func (w *Watcher) Do(args ...string) resp.Value {
	w.t.Helper()
	w.asked += int64(len(AppendCommand(nil, args...)))
	return w.Conn.Do(args...)
}

// Input is how many bytes the server has read from all the others. It does not say while a
// script keeps it busy.
func (w *Watcher) Input() (bytes int64, known bool) {
	_, rest, found := strings.Cut(w.Do("INFO", "stats").Str, "total_net_input_bytes:")
	text, _, _ := strings.Cut(rest, "\r\n")
	bytes, err := strconv.ParseInt(text, 10, 64)
	return bytes - w.asked, found && err == nil
}

// Unread says whether nobody reads what c sends: it waits, or the server has closed it.
func (w *Watcher) Unread(c net.Conn) bool {
	line := w.Sees(c)
	_, flags, _ := strings.Cut(line, " flags=")
	flags, _, _ = strings.Cut(flags, " ")
	return line == "" || strings.Contains(flags, "b")
}

// Sees returns the line of CLIENT LIST about c, "" when the server has closed it.
func (w *Watcher) Sees(c net.Conn) string {
	for line := range strings.Lines(w.Do("CLIENT", "LIST").Str) {
		if strings.Contains(line, " addr="+c.LocalAddr().String()+" ") {
			return line
		}
	}
	return ""
}
