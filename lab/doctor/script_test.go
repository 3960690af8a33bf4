package doctor

import (
	"crypto/sha1"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const unlockScript = `if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) else return 0 end`

const renewScript = `if redis.call("get", KEYS[1]) ~= ARGV[1] then return 0 end ` +
	`return redis.call("pexpire", KEYS[1], ARGV[2])`

// play feeds a doctor with a history, one line for each event:
//
//	1000 c1 SET lock:a token NX PX 3000 = OK     a command, its time, client and reply
//	1000 c1 > GET lock:a = token                 the same inside a script, before the line of EVAL
//	1000 c1 * GET lock:a = token                 inside a transaction, before the line of EXEC
//	1000 expired lock:a
//	1000 evicted lock:a
//	1000 c1 gone
//	1000 lost
//
// A reply is nil, a number, OK, an error (a word in capitals, a space, a text), or a text.
// UNLOCK and RENEW stand for the texts of the usual scripts, SHA for the SHA1 of the first. A client's name is its
// letters; ?1 has none.
func play(t *testing.T, d *Doctor, history string) {
	t.Helper()
	for _, line := range strings.Split(strings.TrimSpace(history), "\n") {
		playLine(t, d, strings.TrimSpace(line))
	}
}

func playLine(t *testing.T, d *Doctor, line string) {
	t.Helper()
	playAs(t, d, line, Event{})
}

// playAs plays a line. The events are like e, which may say what the line cannot.
func playAs(t *testing.T, d *Doctor, line string, e Event) {
	t.Helper()
	words := strings.Fields(line)
	if len(words) == 0 {
		return
	}
	time, err := strconv.ParseInt(words[0], 10, 64)
	require.NoError(t, err, line)
	switch {
	case words[1] == "expired":
		d.Expired(0, words[2], time)
		return
	case words[1] == "evicted":
		d.Evicted(0, words[2], time)
		return
	case words[1] == "lost":
		d.Lost(time)
		return
	case words[2] == "gone":
		d.Disconnected(clientID(words[1]), time)
		return
	}
	e.Time, e.Mono, e.Client, e.Name = time, time*1e6, clientID(words[1]), strings.Trim(words[1], "?0123456789")
	words = words[2:]
	switch words[0] {
	case ">":
		e.By, words = "5c1a7", words[1:]
	case "*":
		e.By, words = Exec, words[1:]
	}
	for i, w := range words {
		if w == "=" {
			e.Reply = encode(strings.Join(words[i+1:], " "))
			words = words[:i]
			break
		}
	}
	for _, w := range words {
		switch w {
		case "UNLOCK":
			w = unlockScript
		case "RENEW":
			w = renewScript
		case "SHA":
			w = fmt.Sprintf("%x", sha1.Sum([]byte(unlockScript)))
		}
		e.Args = append(e.Args, []byte(w))
	}
	e.Command = strings.ToLower(words[0])
	if e.Command == "script" {
		e.Command += "|" + strings.ToLower(words[1])
	}
	d.Command(&e)
}

// clientID is the number at the end of a name plus the sum of its letters.
func clientID(name string) int64 {
	letters := strings.TrimRight(name, "0123456789")
	n, _ := strconv.ParseInt(name[len(letters):], 10, 64)
	return n + 100*int64(letters[0])
}

func encode(reply string) []byte {
	_, err := strconv.Atoi(reply)
	switch first, _, more := strings.Cut(reply, " "); {
	case reply == "nil":
		return []byte("$-1\r\n")
	case err == nil:
		return []byte(":" + reply + "\r\n")
	case reply == "OK":
		return []byte("+OK\r\n")
	case more && first == strings.ToUpper(first):
		return []byte("-" + reply + "\r\n")
	}
	return fmt.Appendf(nil, "$%d\r\n%s\r\n", len(reply), reply)
}

// found lists findings as "pattern key client".
func found(d *Doctor, now int64) []string {
	all := []string{}
	for _, f := range d.Findings(now) {
		all = append(all, fmt.Sprintf("%s %s %d", f.Pattern, f.Key, f.Client))
	}
	return all
}
