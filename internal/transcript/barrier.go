package transcript

import (
	"strconv"
	"strings"

	"github.com/miniredisd/miniredisd/internal/redistest"
	"github.com/miniredisd/miniredisd/resp"
)

// barrier is a connection that tells how far the server has come with the others. That it is
// answered itself is not enough: on a busy machine what was sent first on one connection may
// arrive later than what was sent after that on another.
type barrier struct {
	*redistest.Conn
	sent int64 // bytes of its own questions
}

func (b *barrier) ask(args ...string) resp.Value {
	b.sent += int64(len(redistest.AppendCommand(nil, args...)))
	return b.Do(args...)
}

// input is how many bytes the server has read from all the others. It does not say while a
// script keeps it busy, which has come, then.
func (b *barrier) input() (bytes int64, known bool) {
	_, rest, found := strings.Cut(b.ask("INFO", "stats").Str, "total_net_input_bytes:")
	text, _, _ := strings.Cut(rest, "\r\n")
	bytes, err := strconv.ParseInt(text, 10, 64)
	return bytes - b.sent, found && err == nil
}

// holds says whether c waits or has ended: then nobody reads what it sends.
func (b *barrier) holds(c *redistest.Conn) bool {
	_, line, there := strings.Cut(b.ask("CLIENT", "LIST").Str, " addr="+c.Net.LocalAddr().String()+" ")
	line, _, _ = strings.Cut(line, "\n")
	_, flags, _ := strings.Cut(line, " flags=")
	flags, _, _ = strings.Cut(flags, " ")
	return !there || strings.Contains(flags, "b")
}
