package claims

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/trace"
	"github.com/miniredisd/miniredisd/lab/glass"
	"github.com/miniredisd/miniredisd/resp"
)

// The recordings that the page and the docs show. Their order of points and their texts are always the
// same. Times, descriptors, and what the kernel decides are not.

var update = flag.Bool("update", false, "write the recordings of the page")

func recordings() map[string]act {
	readers := []string{"--io-threads", "3", "--io-threads-do-reads", "yes"}
	return map[string]act{
		"one-command":  {play: playOneCommand},
		"pipeline":     {play: playOnePacket},
		"partial-read": {play: playPartialRead},
		"full-socket":  {play: playFullSocket},
		"blpop":        {play: playBlockedPop},
		"busy-script":  {config: []string{"--busy-reply-threshold", "50"}, play: playBusyScript},
		"io-threads":   {config: readers, play: playEightClients},
		"get-del":      {play: playLostByDelete},
		"lost-reply":   {play: playLostReply},
	}
}

func playOneCommand(s *story) {
	a := s.client("A")
	s.freeze()
	s.begin()
	a.lock("lock:a")
}

// playPartialRead: the request of A is cut in the middle of a word. B is served meanwhile.
func playPartialRead(s *story) {
	a, b := s.client("A"), s.client("B")
	whole := resp.AppendRequest(nil, "SET", "lock:a", "token-A", "NX", "PX", "30000")
	s.freeze()
	s.during(a, func() { a.write(whole[:27]) }, func() { b.send("GET", "lock:a") })
	b.reply()
	a.write(whole[27:])
	a.reply()
	b.do("GET", "lock:a")
}

// playFullSocket: A asks for more than its socket takes and does not read. B is served, then A reads. The kernel
// would take megabytes, in many turns, so its buffers are small here.
func playFullSocket(s *story) {
	a, b := s.client("A"), s.client("B")
	s.narrow(a)
	b.do("SET", "value", strings.Repeat("x", 100_000))
	s.during(a, func() { a.send("GET", "value") }, func() { b.send("PING") })
	b.reply()
	a.reply()
}

// narrow gives the socket of a client small buffers, on both ends. The server runs in this process.
func (s *story) narrow(c *client) {
	const small = 8 << 10
	line := c.do("CLIENT", "LIST", "ID", strconv.FormatInt(c.id, 10)).Str
	_, fd, found := strings.Cut(line, " fd=")
	s.wants(found, "a client has no descriptor: %s", line)
	if s.err != nil {
		return
	}
	fd, _, _ = strings.Cut(fd, " ")
	n, err := strconv.Atoi(fd)
	s.check(err)
	s.check(syscall.SetsockoptInt(n, syscall.SOL_SOCKET, syscall.SO_SNDBUF, small))
	s.check(c.conn.Net.(*net.TCPConn).SetReadBuffer(small))
}

// during calls next while the server reads what first has sent, so next's request is in the next pass.
func (s *story) during(c *client, first, next func()) {
	s.stopped(glass.Breakpoint{Name: "during", At: trace.Parsed, ClientID: c.id}, func() { s.together(first) }, next)
}

func playBlockedPop(s *story) {
	a, b := s.client("A"), s.client("B")
	s.during(a, func() { a.send("BLPOP", "queue", "0") }, func() { b.send("LPUSH", "queue", "job") })
	b.reply()
	a.reply()
}

// playBusyScript: a script does not end. B gets BUSY, and then ends it.
func playBusyScript(s *story) {
	a, b := s.client("A"), s.client("B")
	s.begin()
	s.stopped(glass.Breakpoint{Name: "script", At: trace.Executes, Cmd: "eval"}, func() {
		a.send("EVAL", "while true do end", "0")
	}, func() { b.send("GET", "lock:a") })
	b.reply()
	b.do("SCRIPT", "KILL")
	a.reply()
	b.do("GET", "lock:a")
}

func playEightClients(s *story) {
	var clients []*client
	for _, name := range strings.Split("ABCDEFGH", "") {
		clients = append(clients, s.client(name))
	}
	s.together(func() {
		for _, c := range clients {
			c.send("INCR", "visits")
		}
	})
	for _, c := range clients {
		c.reply()
	}
}

func playLostByDelete(s *story) {
	a, b, c := s.client("A"), s.client("B"), s.client("C")
	s.freeze()
	s.begin()
	s.lateRelease(a, b, c, "lock:a", "DEL", "lock:a")
}

// playLostReply: A takes the lock and never learns it. Its second try is refused.
func playLostReply(s *story) {
	a, b := s.client("A"), s.client("B")
	s.freeze()
	s.lab("FAULT", "ADD", "lost", "CMD", "SET", "NTH", "1", "ACTION", "DROP-REPLY")
	s.begin()
	s.wants(!a.lock("lock:a"), "the reply should be lost")
	again := s.client("A")
	again.lock("lock:a")
	again.do("GET", "lock:a")
	b.lock("lock:a")
}

func TestRecordingsOfThePageShowWhatTheServerDoes(t *testing.T) {
	for name, a := range recordings() {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join("..", "..", "lab", "glass", "glasshttp", "recordings", name+".loop.gz")
			now, err := perform(a, nil)
			require.NoError(t, err)
			if *update {
				require.NoError(t, write(path, now))
			}
			file, err := os.Open(path)
			require.NoError(t, err, "go test ./course/claims -run Recordings -update writes it")
			defer file.Close()
			kept, err := glass.ReadRecording(file)
			require.NoError(t, err)
			var then Record
			require.NoError(t, then.keep(kept))
			require.Equal(t, then.course(), now.course())
		})
	}
}

// write keeps a record as .loop.gz.
func write(path string, r *Record) error {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return err
	}
	for _, line := range r.Lines {
		_, _ = z.Write(append(slices.Clone(line), '\n')) // Close returns the error
	}
	return errors.Join(z.Close(), os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, b.Bytes(), 0o644))
}

// course is what a recording always has: the commands and replies of each thread, in order, and the other
// events when they come first. The kernel decides how many pieces a read or a write has.
func (r *Record) course() map[string][]string {
	threads, waits := map[string][]string{}, map[int64]bool{}
	for _, e := range r.Events {
		text := e.Text
		if strings.HasPrefix(text, "LAB HOLD WAIT") { // it may come before the request that it waits for
			waits[e.Client] = true
		}
		if e.is("j") || waits[e.Client] { // a join is of the thread that is done last
			continue
		}
		if e.is("wsoal") { // descriptors, times, addresses
			text = ""
		}
		line := fmt.Sprintf("%s %d %s", e.Point, e.Client, text)
		thread := fmt.Sprint("thread ", e.Thread)
		if e.is("o") || e.is("h") && text == "reply" { // the kernel decides when a socket has room
			thread += fmt.Sprint(" to client ", e.Client)
		}
		if e.is("xype") || !slices.Contains(threads[thread], line) {
			threads[thread] = append(threads[thread], line)
		}
	}
	return threads
}
