package main

import (
	"strconv"
	"strings"
)

func itoa(n int) string { return strconv.Itoa(n) }

// expand replaces {n} by n.
func expand(text string, n int) string { return strings.ReplaceAll(text, "{n}", itoa(n)) }

// words splits a command line; {n} in it is n.
func words(line string, n int) []string { return strings.Fields(expand(line, n)) }

// series returns the words of each with {i} counting from 0, count times.
func series(each string, count int) []string {
	parts := strings.Fields(each)
	all := make([]string, 0, count*len(parts))
	for i := range count {
		for _, p := range parts {
			all = append(all, strings.ReplaceAll(p, "{i}", itoa(i)))
		}
	}
	return all
}

// joined is series with a separator, for scripts.
func joined(each, separator string, count int) string {
	var b strings.Builder
	for i := range count {
		if i > 0 {
			b.WriteString(separator)
		}
		b.WriteString(strings.ReplaceAll(each, "{i}", itoa(i)))
	}
	return b.String()
}

// with returns a command of line's words and a series of count.
func with(line, each string, count int) []string {
	return append(words(line, count), series(each, count)...)
}

// lines runs command lines one after the other.
func lines(commands ...string) func(*attacker) {
	return func(x *attacker) {
		for _, line := range commands {
			x.do(words(line, x.n)...)
		}
	}
}

// eval runs a script.
func eval(script string) func(*attacker) { return func(x *attacker) { x.eval(script) } }

// once sends line's words with a series as long as the attack is large.
func once(line, each string) func(*attacker) {
	return func(x *attacker) { x.do(with(line, each, x.n)...) }
}

// times sends a command line n times; {i} in it counts.
func times(line string) func(*attacker) {
	return func(x *attacker) {
		x.pipe(x.n, func(i int) []string { return words(strings.ReplaceAll(line, "{i}", itoa(i)), x.n) })
	}
}

// fill adds n members to a key, a thousand at once.
func fill(line, each string) func(*attacker) {
	return func(x *attacker) { x.fill(x.n, line, each) }
}

func (x *attacker) fill(count int, line, each string) {
	const atOnce = 1000
	x.pipe((count+atOnce-1)/atOnce, func(i int) []string {
		args := words(line, x.n)
		for j := i * atOnce; j < min((i+1)*atOnce, count); j++ {
			for p := range strings.FieldsSeq(each) {
				args = append(args, strings.ReplaceAll(p, "{i}", itoa(j)))
			}
		}
		return args
	})
}

// crowd opens n connections, each of which sends the same bytes, and reads nothing.
func crowd(count int, request func(i int) []byte) func(*attacker) {
	return func(x *attacker) { x.crowd(choose(count > 0, count, x.n), request) }
}

func (x *attacker) crowd(count int, request func(i int) []byte) []*conn {
	all := make([]*conn, count)
	for i := range all {
		all[i] = x.dial()
		all[i].send(request(i))
	}
	return all
}
