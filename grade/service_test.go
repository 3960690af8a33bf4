package grade

import (
	"bufio"
	"bytes"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// What the programs of labs about servers share.

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// parseRequest returns the words of the first complete request, and its length, or nil.
func parseRequest(b []byte) (words []string, taken int) {
	line := func(kind byte) (int, bool) {
		end := bytes.Index(b[taken:], []byte("\r\n"))
		if end < 0 || b[taken] != kind {
			return 0, false
		}
		n, err := strconv.Atoi(string(b[taken+1 : taken+end]))
		taken += end + 2
		return n, err == nil
	}
	n, ok := line('*')
	for range n {
		size, whole := line('$')
		if !ok || !whole || len(b) < taken+size+2 {
			return nil, 0
		}
		words = append(words, string(b[taken:taken+size]))
		taken += size + 2
	}
	return words, taken
}

func execute(data map[string]string, words []string) string {
	switch strings.ToUpper(words[0]) {
	case "PING":
		return "+PONG\r\n"
	case "ECHO":
		return bulk(words[1])
	case "SET":
		data[words[1]] = words[2]
		return "+OK\r\n"
	case "GET":
		if v, ok := data[words[1]]; ok {
			return bulk(v)
		}
		return "$-1\r\n"
	case "DEBUG":
		seconds, err := strconv.ParseFloat(words[2], 64)
		must(err)
		time.Sleep(time.Duration(seconds * float64(time.Second)))
		return "+OK\r\n"
	}
	return "-ERR unknown command\r\n"
}

// goroutines is a server with a goroutine for each connection.
func goroutines(oneAtATime bool) {
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Getenv("PORT"))
	must(err)
	var mu sync.Mutex
	data := map[string]string{}
	for {
		nc, err := listener.Accept()
		must(err)
		go func() {
			defer nc.Close()
			var in []byte
			out := bufio.NewWriterSize(nc, 1<<20)
			for buf := make([]byte, 64<<10); ; {
				n, err := nc.Read(buf)
				if err != nil {
					return
				}
				in = append(in, buf[:n]...)
				for words, taken := parseRequest(in); words != nil; words, taken = parseRequest(in) {
					in = in[taken:]
					slow := words[0] == "DEBUG" && !oneAtATime
					if slow {
						time.Sleep(200 * time.Millisecond)
						words = []string{"SET", "slow", "yes"}
					}
					mu.Lock()
					reply := execute(data, words)
					mu.Unlock()
					_, _ = out.WriteString(reply)
				}
				if out.Flush() != nil {
					return
				}
			}
		}()
	}
}
