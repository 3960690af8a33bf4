package main

import (
	"strings"

	"github.com/miniredisd/miniredisd/resp"
)

// bytesOf sends the same bytes on each connection of a crowd.
func bytesOf(text string) func(int) []byte { return func(int) []byte { return []byte(text) } }

// churn opens n connections, one after the other, and closes each at once.
func churn(x *attacker) {
	for range x.n {
		if ask(x.addr, "PING").kind == 0 {
			return
		}
	}
}

// unread sends n commands on one connection that reads no reply.
func unread(line string) func(*attacker) {
	return func(x *attacker) {
		c := x.dial()
		c.pour(x.n, func(i int) []string { return words(strings.ReplaceAll(line, "{i}", itoa(i)), x.n) })
	}
}

// argument is one of a request.
const argument = "$1\r\na\r\n"

// wireRows are what connections can do before a command runs, and without a look at the replies.
var wireRows = []attack{
	{name: "wire: half a bulk", does: "n connections announce 512 MB and send a byte.", short: 20, full: 1_000,
		run: crowd(0, bytesOf("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$536870912\r\nx"))},
	{name: "wire: half a megabyte", does: "n connections send 1 MB of an argument of 512 MB.",
		short: 20, full: 300, held: true,
		run: crowd(0, bytesOf("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$536870912\r\n"+strings.Repeat("x", 1<<20)))},
	{name: "wire: headers", does: "n connections announce 1,048,576 arguments.", short: 200, full: 5_000,
		run: crowd(0, bytesOf("*1048576\r\n"))},
	{name: "wire: header and arguments", does: "n connections announce 1,048,576 arguments and send 20,000.",
		short: 20, full: 300, held: true,
		run: crowd(0, bytesOf("*1048576\r\n"+strings.Repeat(argument, 20_000)))},
	{name: "wire: many arguments", does: "A request of n arguments that lacks the last.",
		short: 300_000, full: 1_048_575, held: true, run: func(x *attacker) {
			x.dial().send([]byte("*1048576\r\n" + strings.Repeat(argument, x.n)))
		}},
	{name: "wire: byte by byte", does: "A request of n arguments, sent 1,000 bytes at a time.",
		short: 20_000, full: 300_000, run: func(x *attacker) {
			c, piece := x.first(), []byte(strings.Repeat(argument, 143))
			c.send([]byte("*" + itoa(x.n/143*143+1) + "\r\n$4\r\nPING\r\n"))
			for range x.n / 143 {
				c.send(piece)
			}
			c.read()
		}},
	{name: "wire: large bulk by bits", does: "SET of n bytes, sent 1,000 bytes at a time.",
		short: 5_000_000, full: 100_000_000, run: func(x *attacker) {
			c, piece := x.first(), []byte(strings.Repeat("x", 1000))
			c.send([]byte("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$" + itoa(x.n) + "\r\n"))
			for range x.n / len(piece) {
				c.send(piece)
			}
			c.send([]byte("\r\n"))
			c.read()
		}},
	{name: "wire: inline", does: "n connections send 60,000 bytes without an end of line.",
		short: 100, full: 2_000, held: true, run: crowd(0, bytesOf(strings.Repeat("x", 60_000)))},
	{name: "wire: inline words", does: "An inline command of 30,000 words, n times.", short: 50, full: 2_000,
		run: func(x *attacker) {
			c, line := x.first(), []byte("DEL "+strings.Repeat("a ", 30_000)+"\r\n")
			for range x.n {
				c.send(line)
				c.read()
			}
		}},
	{name: "wire: pings", does: "n PINGs on one connection that reads no reply.", short: 300_000, full: 1_000_000,
		held: true, run: unread("PING")},
	{name: "wire: empty requests", does: "n empty requests.", short: 1_000_000, full: 20_000_000,
		run: func(x *attacker) {
			piece := []byte(strings.Repeat("*0\r\n\r\n", 10_000))
			for range x.n / 10_000 {
				x.first().send(piece)
			}
			x.do("PING")
		}},
	{name: "wire: slow readers", does: "n connections ask for 10 MB and read nothing.", short: 10, full: 100,
		held: true, prepare: func(x *attacker) { x.big(10<<20, "SET", "k") },
		run: crowd(0, bytesOf("GET k\r\n"))},
	{name: "wire: unread gets", does: "A connection asks n times for 100 kB and reads nothing.",
		short: 1_000, full: 10_000, known: "large replies are one piece", held: true,
		prepare: func(x *attacker) { x.big(100_000, "SET", "k") }, run: unread("GET k")},
	{name: "wire: half requests", does: "n connections with half a request each.", short: 1_000, full: 9_000,
		run: crowd(0, bytesOf("*2\r\n$3\r\nGE"))},
	{name: "wire: churn", does: "n connections, one after the other.", short: 1_000, full: 30_000, run: churn},
	{name: "wire: nested requests", does: "Requests within a request.", short: 100_000, full: 10_000_000,
		run: func(x *attacker) { x.dial().send([]byte(strings.Repeat("*1\r\n", x.n))) }},
	{name: "wire: unknown commands", does: "n unknown commands with an argument of 1,000 bytes.",
		short: 20_000, full: 500_000, run: func(x *attacker) {
			long := strings.Repeat("x", 1_000)
			x.pipe(x.n, func(i int) []string { return []string{"NOSUCH" + itoa(i), long} })
		}},
	{name: "wire: reply off", does: "n commands under CLIENT REPLY OFF.", short: 200_000, full: 5_000_000,
		run: func(x *attacker) {
			c := x.first()
			c.send(resp.AppendRequest(nil, "CLIENT", "REPLY", "OFF"))
			c.pour(x.n, func(int) []string { return []string{"ECHO", "nobody hears this"} })
			c.send(resp.AppendRequest(nil, "CLIENT", "REPLY", "ON"))
			c.read()
		}},
}
