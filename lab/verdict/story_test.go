package verdict

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/lab"
)

// story makes the histories of masters from lines in their order of time:
//
//	1 1000 a SET lock:x token-a NX PX 500 = OK    master 1, its time, the client's name, its command and the reply
//	1 1000 a SET lock:x token-a NX PX 500 = OK lost    the client never got the reply; "late": later
//	1 1000 a DEL lock:x = -READONLY refused       an error, and the command was not executed; "-ERR" of one that was
//	1 1000 a/3 GET lock:x = nil                   in database 3
//	1 1000 a > GET lock:x = token-a               called by a script
//	1 1501 expired lock:x                         "expired/3" in database 3
//	1 1000 clock 1501                             the clock moves from 1000 to 1501; "together" after it: by LAB ALL
//	1 1000 crash
//	123 1000 a SET ...                            the same on the masters 1, 2 and 3
//
// The name of a client is one letter.
func story(t *testing.T, masters int, text string) []lab.History {
	t.Helper()
	all := make([]lab.History, masters)
	for i := range all {
		all[i] = lab.History{Format: lab.FirstFormat, Master: i + 1, Masters: masters}
	}
	mono := int64(0)
	for line := range strings.Lines(strings.TrimSpace(text)) {
		words := strings.Fields(line)
		for _, digit := range words[0] {
			h := &all[digit-'1']
			mono += 1000
			e := storyEntry(t, words[1:])
			e.Mono, e.Seq = mono, int64(len(h.Entries)+1)
			h.Entries = append(h.Entries, e)
		}
	}
	return all
}

func storyEntry(t *testing.T, words []string) lab.Entry {
	t.Helper()
	time, err := strconv.ParseInt(words[0], 10, 64)
	require.NoError(t, err, words)
	who, db, _ := strings.Cut(words[1], "/")
	e := lab.Entry{Time: time, Event: who, Outcome: lab.Executed}
	e.DB, _ = strconv.Atoi(db)
	switch who {
	case lab.EventExpired:
		e.Key = words[2]
		return e
	case lab.EventClock:
		e.From = time
		e.To, err = strconv.ParseInt(words[2], 10, 64)
		require.NoError(t, err, words)
		e.Together = len(words) > 3
		return e
	case lab.EventCrash, lab.EventRestore:
		e.Reply = strings.Join(words[2:], " ")
		return e
	}
	e.Event, e.Client, e.Name, words = lab.EventCommand, int64(who[0]), who, words[2:]
	if words[0] == ">" {
		e.By, words = "5c1a7", words[1:]
	}
	for i, w := range words {
		if w == "=" {
			words, e.Reply = words[:i], strings.Join(words[i+1:], " ")
			break
		}
	}
	if reply, lost := strings.CutSuffix(e.Reply, " lost"); lost {
		e.Reply, e.Outcome = reply, lab.ReplyLost
	}
	if reply, late := strings.CutSuffix(e.Reply, " late"); late {
		e.Reply, e.Outcome = reply, lab.ReplyLate
	}
	if text, is := strings.CutPrefix(e.Reply, "-"); is {
		e.Reply, e.Outcome = text, lab.Failed
		if text, is = strings.CutSuffix(text, " refused"); is {
			e.Reply, e.Outcome = text, lab.NotExecuted
		}
	}
	if e.Reply == "nil" {
		e.Reply = "(nil)"
	}
	if words[len(words)-1] == "held" {
		words, e.Outcome = words[:len(words)-1], lab.Held
	}
	e.Cmd = words
	switch {
	case strings.HasPrefix(words[0], "WAIT"):
		if e.Kind = ":"; strings.HasPrefix(e.Reply, "[") {
			e.Kind = "*"
		}
	case len(words) > 1:
		e.Key = words[1]
	}
	return e
}

// judged returns the verdict of a story and its text.
func judged(t *testing.T, masters int, text string) (*Verdict, string) {
	t.Helper()
	v, err := Judge(story(t, masters, text))
	require.NoError(t, err)
	var out bytes.Buffer
	v.Print(&out)
	return v, out.String()
}

func TestLocksOfOneNameInTwoDatabasesAreTwo(t *testing.T) {
	v, text := judged(t, 1, `
		1 1000 a SET lock:x token-a NX PX 500 = OK
		1 1000 b/1 SET lock:x token-b NX PX 500 = OK
		1 1100 c/1 SET lock:x token-c NX PX 500 = nil
		1 1501 expired/1 lock:x
		1 1501 c/1 SET lock:x token-c NX PX 500 = OK
		1 1502 expired lock:x`)
	require.True(t, v.OK(), text)
	require.Contains(t, text, "locks: 2, grants: 3")

	_, text = judged(t, 1, `
		1 1000 a/1 SET lock:x token-a NX PX 500 = OK
		1 1100 b SET lock:x token-b NX PX 500 = OK
		1 1200 d/1 DEL lock:x = 1
		1 1200 c/1 SET lock:x token-c NX PX 500 = OK`)
	require.Contains(t, text, "TWO HOLDERS of lock:x (db 1)\n")
	require.Contains(t, text, "NOT LINEARIZABLE")
}

func TestFlushdbEndsTheLocksOfItsDatabase(t *testing.T) {
	v, text := judged(t, 1, `
		1 1000 a SET lock:x token-a NX PX 500 = OK
		1 1000 a/1 SET lock:x token-a NX PX 500 = OK
		1 1100 d/1 FLUSHDB = OK
		1 1200 b/1 SET lock:x token-b NX PX 500 = OK
		1 1501 expired lock:x
		1 1502 b SET lock:x token-b NX PX 500 = OK`)
	require.Len(t, v.TwoHolders, 1)
	require.Contains(t, text, `TWO HOLDERS of lock:x (db 1)
  master 1, 1000, client 97 a: SET lock:x token-a NX PX 500 -> OK
  master 1, 1100, client 100 d: FLUSHDB -> OK
  master 1, 1200, client 98 b: SET lock:x token-b NX PX 500 -> OK
`)
}

func TestACrashThatKeepsTheKeysKeepsTheLocks(t *testing.T) {
	v, text := judged(t, 1, `
		1 1000 a SET lock:x token-a NX PX 500 = OK
		1 1100 crash keys kept
		1 1200 a PEXPIRE lock:x 500 = 1
		1 1701 expired lock:x
		1 1702 b SET lock:x token-b NX PX 500 = OK`)
	require.True(t, v.OK(), text)
	v, _ = judged(t, 1, `
		1 1000 a SET lock:x token-a NX PX 500 = OK
		1 1100 restore
		1 1200 b SET lock:x token-b NX PX 500 = OK`)
	require.Len(t, v.TwoHolders, 1)
}

func TestARenamedLockIsFree(t *testing.T) {
	_, text := judged(t, 1, `
		1 1000 a SET lock:x token-a NX PX 500 = OK
		1 1100 d RENAME lock:x lock:y = OK
		1 1200 b SET lock:x token-b NX PX 500 = OK`)
	require.Contains(t, text, "master 1, 1100, client 100 d: RENAME lock:x lock:y -> OK\n")
}

func TestFencingTokensThatWereLostWithTheLockDoNotHelp(t *testing.T) {
	_, text := judged(t, 1, `
		1 1000 a SET lock:x token-a NX PX 500 = OK
		1 1001 a INCR lock:x:fence = 7
		1 1100 crash
		1 1200 b SET lock:x token-b NX PX 500 = OK
		1 1201 b INCR lock:x:fence = 1`)
	require.Contains(t, text, "the first holder has token 7, the second 1, which is not higher")
}
