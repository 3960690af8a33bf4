package grade

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
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

// memory is the data of a server.
type memory interface {
	get(key string) (string, bool)
	set(key, value string)
	del(key string)
}

// plain is memory for one thread.
type plain map[string]string

func (p plain) get(key string) (string, bool) { v, ok := p[key]; return v, ok }
func (p plain) set(key, value string)         { p[key] = value }
func (p plain) del(key string)                { delete(p, key) }

// pause stands for any other work, as in the skeleton of lab 3.
func pause() { time.Sleep(time.Millisecond) }

// execute executes a command and returns its reply.
func execute(data memory, words []string) string {
	if want := map[string]int{"ECHO": 2, "GET": 2, "SET": 3, "INCR": 2}[strings.ToUpper(words[0])]; len(words) < want {
		return "-ERR wrong number of arguments\r\n"
	}
	switch strings.ToUpper(words[0]) {
	case "PING":
		return "+PONG\r\n"
	case "ECHO":
		return bulk(words[1])
	case "SET":
		data.set(words[1], words[2])
		return "+OK\r\n"
	case "DEL":
		data.del(words[1])
		return ":1\r\n"
	case "GET":
		return found(data.get(words[1]))
	case "INCR":
		text, _ := data.get(words[1])
		n, _ := strconv.Atoi(text)
		pause()
		data.set(words[1], strconv.Itoa(n+1))
		return fmt.Sprintf(":%d\r\n", n+1)
	case "SETNX":
		if _, ok := data.get(words[1]); ok {
			return ":0\r\n"
		}
		pause()
		data.set(words[1], words[2])
		return ":1\r\n"
	case "MSET":
		for i := 1; i < len(words); i += 2 {
			data.set(words[i], words[i+1])
			pause()
		}
		return "+OK\r\n"
	case "MGET":
		reply := fmt.Sprintf("*%d\r\n", len(words)-1)
		for _, key := range words[1:] {
			reply += found(data.get(key))
			pause()
		}
		return reply
	case "DEBUG":
		seconds, err := strconv.ParseFloat(words[2], 64)
		must(err)
		time.Sleep(time.Duration(seconds * float64(time.Second)))
		return "+OK\r\n"
	}
	return "-ERR unknown command\r\n"
}

func found(value string, ok bool) string {
	if !ok {
		return "$-1\r\n"
	}
	return bulk(value)
}

// serve accepts connections, and calls each for every one of them.
func serve(each func(net.Conn)) {
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Getenv("PORT"))
	must(err)
	for {
		nc, err := listener.Accept()
		must(err)
		each(nc)
	}
}

// talk serves a connection to its end. do executes a request, and write sends the reply.
func talk(nc net.Conn, parse func([]byte) ([]string, int), do func(words []string, write func(string))) {
	defer nc.Close()
	var in []byte
	out := bufio.NewWriterSize(nc, 1<<20)
	write := func(reply string) { _, _ = out.WriteString(reply) } // Flush returns the error
	for buf := make([]byte, 64<<10); ; {
		n, err := nc.Read(buf)
		if err != nil {
			return
		}
		in = append(in, buf[:n]...)
		for words, taken := parse(in); words != nil; words, taken = parse(in) {
			in = in[taken:]
			do(words, write)
		}
		if out.Flush() != nil {
			return
		}
	}
}
