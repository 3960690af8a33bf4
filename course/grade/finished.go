package grade

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/internal/respclient"
	"github.com/miniredisd/miniredisd/resp"
)

// A lab about servers asks for a few commands and one process. A finished server has far more commands, and what
// hands requests on to one has a connection to it. Both are looked at after each test that a program passes.

// suspectLimit bounds the wait for each answer of a program that need not answer.
const suspectLimit = time.Second

// FinishedServer says that the program seems not to be the student's own server.
type FinishedServer struct {
	Certain bool   `json:"certain"` // then the tests that it passed give no points
	Why     string `json:"why"`
}

// foreign are requests that no lab asks for, each with a part of the only right reply. They are of six kinds of data
// or of scripts: nobody writes half of them by hand into a server for these labs.
type foreign struct {
	words []string
	reply string
}

func (s *story) foreigners() []foreign {
	n, key := strconv.Itoa(1000+s.rand.IntN(9000)), s.word()
	return []foreign{
		{[]string{"EVAL", "return {ARGV[1] .. #ARGV}", "0", n}, n + "1"},
		{[]string{"XADD", "x" + key, n + "-7", "f", "v"}, n + "-7"},
		{[]string{"ZINCRBY", "z" + key, n, "m"}, n},
		{[]string{"BITFIELD", "b" + key, "INCRBY", "u16", "0", n}, ":" + n},
		{[]string{"PFADD", "h" + key, "a", "b", "c"}, ":1"},
		{[]string{"GEOADD", "g" + key, "13.361389", "38.115556", "p"}, ":1"},
	}
}

// manyForeign is how many right replies make a finished server.
const manyForeign = 3

// isOwn wants the program to be the student's own server.
func (s *story) isOwn() {
	if s.served == nil {
		return
	}
	around := s.served.around()
	if around.hidden {
		s.suspected(hidden().in(s.run.Lang))
	}
	if around.elsewhere != "" {
		s.finished(say{
			"Your server has a connection to port %s: it hands requests on to another server. " +
				"Serve them yourself, so this test gives points.",
			"你的服务器连着端口 %s：它把请求转交给了另一个服务器。自己处理请求，这个测试才得分。"}, around.elsewhere)
	}
	for _, c := range s.peers {
		_ = c.conn.Close() // a server may serve one client at a time
	}
	conn, err := net.DialTimeout("tcp", s.served.addr, suspectLimit)
	if err != nil {
		return
	}
	defer conn.Close()
	c := respclient.New(conn, 64<<10)
	c.Limit = suspectLimit
	known := 0
	for _, f := range s.foreigners() {
		reply, err := c.Do(f.words...)
		if err != nil {
			return
		}
		if textOf(reply) == f.reply {
			known++
		}
	}
	if known >= manyForeign {
		s.finished(say{
			"Your program is a finished server: it knows scripts, streams, sorted sets and other things that no lab asks for. " +
				"Write your own, so this test gives points.",
			"你的程序是现成的服务器：它会脚本、流、有序集合，以及实验没有要求的其他东西。自己写一个，这个测试才得分。"})
	}
	s.mayBeFinished(c)
}

// textOf returns a reply as text: an integer with its colon, and an array as its first element.
func textOf(v resp.Value) string {
	switch {
	case v.Kind == ':':
		return ":" + strconv.FormatInt(v.Int, 10)
	case len(v.Elems) > 0:
		return textOf(v.Elems[0])
	case v.Kind == '-':
		return ""
	}
	return v.Str
}

// finished ends the test of a program that is not the student's own server.
func (s *story) finished(why say, args ...any) {
	s.run.results.more().Finished = &FinishedServer{true, why.in(s.run.Lang, args...)}
	s.fail(why, args...)
}

// mayBeFinished looks whether the program answers COMMAND and INFO, as finished servers do. It tells the reader, and
// takes no points: somebody may have written both.
func (s *story) mayBeFinished(c *respclient.Conn) {
	count, err := c.Do("COMMAND", "COUNT")
	if err != nil || count.Kind != ':' || count.Int <= 0 {
		return
	}
	info, err := c.Do("INFO")
	if err != nil || !strings.Contains(info.Str, "_version:") {
		return
	}
	note := say{"Note: this program answers COMMAND COUNT (%d) and INFO. It may be a finished server, and not yours.",
		"注意：这个程序会回答 COMMAND COUNT（%d）和 INFO。它可能是现成的服务器，而不是你写的。"}.in(s.run.Lang, count.Int)
	s.suspected(note)
}

// suspected notes once what makes the program suspicious.
func (s *story) suspected(note string) {
	if s.run.results.Extra != nil {
		return
	}
	s.run.results.more().Finished = &FinishedServer{false, note}
	s.run.results.Output += "\n" + note
	fmt.Fprintf(s.run.Out, "   %s\n", note)
}

// hidden is what is said about such a program: tests of threads then cannot be judged.
func hidden() say {
	return say{"The process that listens is hidden from the grader. It should be your program, or a child of it.",
		"评分程序看不到在监听的进程。它应是你的程序，或者它的子进程。"}
}

// seen wants the grader to see the process that listens.
func (v *service) seen() { v.s.want(!v.around().hidden, hidden()) }
