package grade

import (
	"slices"
	"strconv"
	"strings"

	"github.com/miniredisd/miniredisd/course/stage"
)

// Lab 5: find all keys of a pattern, and let others work meanwhile. The server executes one command at a
// time, so a command that walks all keys stops everybody. SCAN walks them in small steps.

func scanTests() []test {
	return []test{
		{name: say{"Count a few keys", "在少量键中计数"}, points: 10, play: scanCount},
		{name: say{"Delete a few keys", "删除少量键"}, points: 10, play: scanPurge},
		{name: say{"Others work between two steps", "两步之间别人能执行命令"}, points: 25, play: scanTurns, bare: true},
		{name: say{"Empty pages", "空的一页"}, points: 15, play: scanEmpty, bare: true},
		{name: say{"Keys come and go, and SCAN repeats some", "键增减时 SCAN 返回重复的键"},
			points: 20, play: scanRepeats, bare: true},
		{name: say{"Delete many keys in small steps", "分小步删除大量键"}, points: 20, play: scanPurgeMany, bare: true},
	}
}

const (
	manyKeys = 8000
	// mostWalk is how many keys one request may walk or delete.
	mostWalk = 1000
)

// fill adds keys with this prefix, and returns their names.
func (s *story) fill(prefix string, n int) (names []string) {
	var words []string
	for i, first := 0, s.rand.IntN(10_000); i < n; i++ {
		names = append(names, prefix+strconv.Itoa(first+i))
		words = append(words, names[i], "x")
	}
	s.inParts("MSET", words)
	return names
}

// unlink deletes keys, as another client of the program does.
func (s *story) unlink(names []string) { s.inParts("UNLINK", names) }

// inParts executes a command once for each part of its arguments. The watch looks at each key that a
// command touches, and is slow if they are many.
func (s *story) inParts(verb string, args []string) {
	for part := range slices.Chunk(args, 100) {
		s.do(1, append([]string{verb}, part...)...)
	}
}

// size returns the number of keys.
func (s *story) size() int { return int(s.do(1, "DBSIZE").Int) }

// number sends an order that has a number for an answer, and returns the number.
func (p *program) number(order string) int {
	p.send(order)
	return p.numberOf(order)
}

// numberOf waits for the answer to an order that was sent.
func (p *program) numberOf(order string) int {
	word, rest := p.answer(order)
	n, err := strconv.Atoi(rest)
	p.s.want(word != "failed" && err == nil, say{
		"`%s` answered `%s`, and should answer with a number.", "`%s` 的回答是 `%s`，应带一个数字。"},
		order, strings.TrimSpace(word+" "+rest))
	return n
}

// page executes a SCAN, and returns the next cursor and the keys of user:*.
func (s *story) page(words ...string) (next string, users []string) {
	reply := s.do(1, words...)
	if len(reply.Elems) != 2 {
		return "0", nil // the program's SCAN has a syntax error
	}
	for _, v := range reply.Elems[1].Elems {
		if strings.HasPrefix(v.Str, "user:") {
			users = append(users, v.Str)
		}
	}
	return reply.Elems[0].Str, users
}

// users returns all keys of user:* in the order of SCAN.
func (s *story) users() (all []string) {
	for next, more := "0", true; more; more = next != "0" {
		var some []string
		next, some = s.page("SCAN", next, "COUNT", strconv.Itoa(mostWalk))
		all = append(all, some...)
	}
	return all
}

// steps sends an order, and holds each request that follows, over any connection. between acts before a
// request continues. steps returns the number in the answer, and the number of requests.
func (s *story) steps(p *program, order string, between func(request []string)) (answer, requests int) {
	s.lab("FAULT ADD step ACTION HOLD")
	p.send(order)
	for ; s.heldBefore(p, order, "step", p.answered); requests++ {
		request := strings.Fields(stage.Field(s.lab("HOLD WAIT step 1"), "cmd").Str)
		if len(request) == 0 {
			continue // the program has hung up meanwhile
		}
		s.isSmall(request)
		between(request)
		before := s.size()
		s.lab("HOLD RELEASE step 1")
		s.want(before-s.size() <= mostWalk, say{
			"One %s deleted %d keys. Everybody else waited meanwhile. Delete each page on its own: at most %d keys a request.",
			"一条 %s 删除了 %d 个键，其间别人都在等。请每扫一页就删一页：一个请求最多删除 %d 个键。"},
			strings.ToUpper(request[0]), before-s.size(), mostWalk)
	}
	s.lab("FAULT DEL step")
	answer = p.numberOf(order)
	s.want(requests > 0, say{"Your program answered `%s`, and sent no request.", "程序回答了 `%s`，却没有发出请求。"}, order)
	return answer, requests
}

// isSmall wants a request to be a small step.
func (s *story) isSmall(request []string) {
	switch verb := strings.ToUpper(request[0]); verb {
	case "KEYS":
		s.fail(say{
			"Your program sent KEYS. It walks all keys at once, here %d. In production there are millions: " +
				"nobody is served meanwhile, and the requests of all others pile up in their Recv-Q. " +
				"Walk in small steps: SCAN.",
			"程序发出了 KEYS。它一口气遍历所有键，这里是 %d 个，线上则有几百万个：其间谁也得不到服务，" +
				"别人的请求都堆积在 Recv-Q 里。请用 SCAN 分小步遍历。"}, s.size())
	case "FLUSHALL", "FLUSHDB", "SWAPDB":
		s.fail(say{"Your program sent %s, which removes the keys of others, too.", "程序发出了 %s，它连别人的键也一起删掉。"}, verb)
	case "EVAL", "EVALSHA", "EVAL_RO", "EVALSHA_RO", "FCALL", "FCALL_RO", "EXEC":
		s.fail(say{
			"Your program sent %s. For everybody else a script or a transaction is one step: " +
				"nobody is served until it ends. Let the loop run in your program, one SCAN a request.",
			"程序发出了 %s。对别人来说，一个脚本或一个事务就是一步：结束之前谁也得不到服务。" +
				"循环要放在你的程序里，每个请求一次 SCAN。"}, verb)
	case "SCAN":
		for i, word := range request {
			if !strings.EqualFold(word, "COUNT") || i+1 == len(request) {
				continue
			}
			n, err := strconv.Atoi(request[i+1])
			s.want(err != nil || n <= mostWalk, say{
				"Your program sent SCAN with COUNT %s. One such step is as long as KEYS. " +
					"Keep COUNT at %d or less.",
				"程序发出的 SCAN 带 COUNT %s。这样一步就和 KEYS 一样长。COUNT 不要超过 %d。"}, request[i+1], mostWalk)
		}
	}
}

// few makes a small keyspace with neighbours of the pattern user:*. It returns the names that match.
func (s *story) few() []string {
	names := s.fill("user:", 15+s.rand.IntN(20))
	s.fill("users:", 5+s.rand.IntN(5))
	s.fill("old:user:", 5+s.rand.IntN(5))
	s.do(1, "RPUSH", "user:list", "x")
	s.do(1, "HSET", "user:hash", "x", "1")
	return append(names, "user:list", "user:hash")
}

func scanCount(s *story) {
	want := len(s.few())
	p := s.open()
	got := p.number("count a user:*")
	s.want(got == want, say{"`count a user:*` answered `found %d`, and there are %d such keys.",
		"`count a user:*` 的回答是 `found %d`，而这样的键有 %d 个。"}, got, want)
	got = p.number("count a nobody:*")
	s.want(got == 0, say{"`count a nobody:*` answered `found %d`, and there is no such key.",
		"`count a nobody:*` 的回答是 `found %d`，而这样的键一个也没有。"}, got)
}

func scanPurge(s *story) {
	want := len(s.few())
	others := s.size() - want
	got := s.open().number("purge a user:*")
	s.purged(got, want, others)
}

// purged judges a purge: its answer, and what is left.
func (s *story) purged(got, want, others int) {
	left := len(s.users())
	s.want(left == 0, say{"After `purge a user:*`, %d keys of user:* are still there.",
		"`purge a user:*` 之后，还有 %d 个 user:* 的键。"}, left)
	s.want(s.size() == others, say{"`purge a user:*` was to leave %d other keys, and left %d.",
		"`purge a user:*` 应留下其他 %d 个键，实际留下 %d 个。"}, others, s.size())
	s.want(got == want, say{
		"`purge a user:*` answered `deleted %d`, and your program deleted %d keys. " +
			"Add up the replies of UNLINK: another client may delete a key before you.",
		"`purge a user:*` 的回答是 `deleted %d`，而程序删除了 %d 个键。请把 UNLINK 的回复加起来：别的客户端可能先删掉了某个键。"},
		got, want)
}

// scanTurns lets another client work before each request.
func scanTurns(s *story) {
	s.fill("user:", manyKeys)
	p := s.open()
	got, requests := s.steps(p, "count a user:*", func([]string) { s.do(1, "INCR", "visits") })
	s.want(requests >= manyKeys/mostWalk, say{
		"Another client had %d turns while your program looked at %d keys. " +
			"It should have %d at least. Only the cursor 0 ends a SCAN.",
		"程序查看 %[2]d 个键的过程中，别的客户端只轮到 %[1]d 次，至少应有 %[3]d 次。游标回到 0 才表示 SCAN 结束。"},
		requests, manyKeys, manyKeys/mostWalk)
	s.want(got == manyKeys, say{"`count a user:*` answered `found %d`, and there are %d such keys.",
		"`count a user:*` 的回答是 `found %d`，而这样的键有 %d 个。"}, got, manyKeys)
}

// fewAmongMany makes a keyspace with three keys of user:*, and returns the names of the others. SCAN
// returns the three first, or last.
func (s *story) fewAmongMany(last bool) (others []string) {
	s.fill("user:", manyKeys)
	others = s.fill("cart:", manyKeys) // while the others are there, so that the table stays large
	drop := s.users()
	if last {
		slices.Reverse(drop)
	}
	s.unlink(drop[3:])
	return others
}

func scanEmpty(s *story) {
	s.fewAmongMany(true)
	got, _ := s.steps(s.open(), "count a user:*", func([]string) {})
	s.want(got == 3, say{
		"`count a user:*` answered `found %d`, and there are 3 such keys among %d others. " +
			"SCAN looks for the pattern after it has taken a page, so a page may be empty. " +
			"Only the cursor 0 is the end.",
		"`count a user:*` 的回答是 `found %d`，而在另外 %d 个键之中有 3 个这样的键。SCAN 先取一页再按模式过滤，" +
			"所以一页可能是空的。游标回到 0 才是结束。"}, got, manyKeys)
}

// scanRepeats waits until the program has seen three keys. Then all others go, so the table of keys
// becomes small: one bucket has the keys of many, and SCAN visits some of them again.
func scanRepeats(s *story) {
	others := s.fewAmongMany(false)
	seen := map[string]bool{}
	shrunk := false
	got, _ := s.steps(s.open(), "count a user:*", func(request []string) {
		if shrunk || len(request) < 2 || !strings.EqualFold(request[0], "SCAN") {
			return
		}
		if len(seen) == 3 && request[1] != "0" {
			s.shrink(others)
			s.do(1, "SET", "user:new", "x")
			shrunk = true
			return
		}
		_, users := s.page(request...)
		for _, name := range users {
			seen[name] = true
		}
	})
	s.want(got == 3 || got == 4, say{
		"`count a user:*` answered `found %d`. 3 keys were there all the time, and a fourth one came. " +
			"When keys are deleted, the server makes its table smaller, and SCAN may return a key twice. " +
			"Remember the names, and count each once.",
		"`count a user:*` 的回答是 `found %d`。一直存在的键有 3 个，中途又添了 1 个。键被删除时，服务器会缩小它的表，" +
			"SCAN 就可能把一个键返回两次。请记住名字，每个只数一次。"}, got)
}

// shrink deletes keys. Each look-up moves a bucket to the smaller table, so it looks them up again.
func (s *story) shrink(names []string) {
	for range 3 {
		s.unlink(names)
		s.do(1, "SET", names[0], "x") // the next UNLINK sees that the table is too large
	}
	s.unlink(names)
	s.unlink(names)
}

// scanPurgeMany deletes one key just before the program does.
func scanPurgeMany(s *story) {
	const half = manyKeys / 2
	s.fill("user:", half)
	others := len(s.fill("cart:", half))
	want := half
	got, _ := s.steps(s.open(), "purge a user:*", func(request []string) {
		verb := strings.ToUpper(request[0])
		if want == half && len(request) > 1 && (verb == "UNLINK" || verb == "DEL") {
			want -= int(s.do(1, "DEL", request[1]).Int)
		}
	})
	s.purged(got, want, others)
}
