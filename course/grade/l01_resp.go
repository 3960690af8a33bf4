package grade

import (
	"strings"

	"github.com/miniredisd/miniredisd/resp"
)

// Lab 1: a server for one client at a time, whose parser is written by hand. TCP is a stream of bytes: it
// keeps no borders of requests.

func respTests() []test {
	return []test{
		{name: say{"PING, ECHO, SET, GET", "PING、ECHO、SET、GET"}, points: 15, play: respPlain},
		{name: say{"A request is cut anywhere", "请求在任意位置被切开"}, points: 25, play: respCut},
		{name: say{"Many requests come in one read", "一次读到多个请求"}, points: 15, play: respPipeline},
		{name: say{"A value may have any bytes", "值可以是任意字节"}, points: 20, play: respBinary},
		{name: say{"A value of 1 MB", "1 MB 的值"}, points: 10, play: respLarge},
		{name: say{"An error does not end the connection", "出错不断开连接"}, points: 10, play: respErrors},
		{name: say{"The next client is served", "下一个客户端能得到服务"}, points: 5, play: respNext},
	}
}

func respPlain(s *story) {
	c := s.serve().dial()
	key, value, next := s.word(), s.word(), s.word()
	c.ping(say{"PING", "PING"})
	c.do(bulk(value), say{"ECHO " + value, "ECHO " + value}, "ECHO", value)
	c.do("$-1\r\n", say{"GET of a key that does not exist", "GET 一个不存在的键"}, "GET", "none:"+key)
	c.do("+OK\r\n", say{"SET " + key, "SET " + key}, "SET", key, value)
	c.do(bulk(value), say{"GET after SET", "SET 之后 GET"}, "GET", key)
	c.do("+OK\r\n", say{"set, in lower case", "小写的 set"}, "set", key, next)
	c.do(bulk(next), say{"get, in lower case", "小写的 get"}, "get", key)
}

// respCut sends a PING and a part of the next request by one write. The rest follows after the reply, so the
// server has met the part without it.
func respCut(s *story) {
	c := s.serve().dial()
	words := s.word() + " " + s.word()
	ping, whole := resp.AppendRequest(nil, "PING"), resp.AppendRequest(nil, "ECHO", words)
	for at := 1; at < len(whole); at++ {
		c.write(append(append([]byte{}, ping...), whole[:at]...))
		c.expect("+PONG\r\n", say{"PING before a part of a request", "半个请求之前的 PING"})
		c.write(whole[at:])
		where := cut(quoted(whole[:at])) + " | " + quoted(whole[at:])
		c.expect(bulk(words), say{"ECHO that came in two reads, " + where, "分两次读到的 ECHO，" + where})
	}
}

// respPipeline sends requests together, a random number at a time.
func respPipeline(s *story) {
	c := s.serve().dial()
	for range 20 {
		n := 2 + s.rand.IntN(100)
		c.write(many(n, "ECHO", "again"))
		c.expect(strings.Repeat(bulk("again"), n), say{"Many ECHO in one write", "一次写入多条 ECHO"})
	}
}

func respBinary(s *story) {
	c := s.serve().dial()
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	for _, value := range []string{"", " ", "a\r\nb", "\r\n", "$3\r\nabc\r\n", "*1\r\n$4\r\nPING\r\n", "键", string(all)} {
		c.do(bulk(value), say{"ECHO of a value that holds " + cut(quoted([]byte(value))),
			"ECHO 的值是 " + cut(quoted([]byte(value)))}, "ECHO", value)
	}
	c.do("+OK\r\n", say{"SET of a key with line ends in it", "SET 一个含有换行的键"}, "SET", "k\r\n$1\r\nx", "v")
	c.do(bulk("v"), say{"GET of a key with line ends in it", "GET 一个含有换行的键"}, "GET", "k\r\n$1\r\nx")
}

func respLarge(s *story) {
	c := s.serve().dial()
	value := strings.Repeat("0123456789abcdef", 1<<16)
	large := say{"A value of 1 MB", "1 MB 的值"}
	c.do("+OK\r\n", large, "SET", "large", value)
	c.do(bulk(value), large, "GET", "large")
}

func respErrors(s *story) {
	c := s.serve().dial()
	for _, words := range [][]string{{"NONSENSE"}, {"GET"}, {"SET", "k"}} {
		name := strings.Join(words, " ")
		c.write(resp.AppendRequest(nil, words...))
		c.expect("-", say{name + ": an error begins with -", name + "：错误以 - 开头"})
		c.line(say{name + ": an error is one line", name + "：错误占一行"})
		c.ping(say{"PING after an error", "出错之后的 PING"})
	}
}

func respNext(s *story) {
	v := s.serve()
	for range 3 {
		c := v.dial()
		c.ping(say{"PING of the next client", "下一个客户端的 PING"})
		s.check(c.conn.Close())
	}
	half := v.dial()
	half.write(resp.AppendRequest(nil, "PING")[:5])
	s.check(half.conn.Close())
	v.dial().ping(say{"PING after a client has left in the middle of a request", "前一个客户端发到一半就离开之后的 PING"})
}
