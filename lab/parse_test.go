package lab_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/lab"
)

// words splits a line at spaces, except inside 'single quotes'.
func words(line string) (w [][]byte) {
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			w = append(w, []byte(part))
			continue
		}
		for _, word := range strings.Fields(part) {
			w = append(w, []byte(word))
		}
	}
	return w
}

func rule(t testing.TB, line string) *lab.Rule {
	t.Helper()
	r, err := lab.ParseRule(words(line))
	require.NoError(t, err, line)
	return r
}

func TestARuleIsReadInAnyOrderAndCase(t *testing.T) {
	for line, want := range map[string]lab.Rule{
		"r ACTION HOLD":                      {Name: "r", Prob: 1, Action: lab.Hold},
		"r action hold cmd SET":              {Name: "r", Cmd: "set", Prob: 1, Action: lab.Hold},
		"r CMD Client|KILL ACTION Silent":    {Name: "r", Cmd: "client|kill", Prob: 1, Action: lab.Silent},
		"r ACTION CUT 0 KEY lock:*":          {Name: "r", Key: "lock:*", Prob: 1, Action: lab.Cut},
		"r CLIENT 12 ACTION RESET-BEFORE":    {Name: "r", ClientID: 12, Prob: 1, Action: lab.ResetBefore},
		"r CLIENT worker-* ACTION SILENT":    {Name: "r", Client: "worker-*", Prob: 1, Action: lab.Silent},
		"r NTH 3 ACTION DROP-REPLY":          {Name: "r", Nth: 3, Times: 1, Prob: 1, Action: lab.DropReply},
		"r NTH 3 TIMES 2 ACTION DROP-REPLY":  {Name: "r", Nth: 3, Times: 2, Prob: 1, Action: lab.DropReply},
		"r TIMES 2 ACTION DROP-BEFORE":       {Name: "r", Times: 2, Prob: 1, Action: lab.DropBefore},
		"r PROB 0.25 ACTION RESET-AFTER":     {Name: "r", Prob: .25, Action: lab.ResetAfter},
		"r ACTION DELAY-EXEC 15 PROB 1":      {Name: "r", Prob: 1, Action: lab.DelayExec, Millis: 15},
		"r ACTION error 'OOM not now'":       {Name: "r", Prob: 1, Action: lab.Error, Text: "OOM not now"},
		"r ACTION ERROR-AFTER -ERR":          {Name: "r", Prob: 1, Action: lab.ErrorAfter, Text: "ERR"},
		"r ACTION BANDWIDTH 2048":            {Name: "r", Prob: 1, Action: lab.Bandwidth, Bytes: 2048},
		"r ACTION jitter 20":                 {Name: "r", Prob: 1, Action: lab.Jitter, Millis: 20},
		"r ACTION SLICE 1":                   {Name: "r", Prob: 1, Action: lab.Slice, Bytes: 1},
		"r CMD MESSAGE ACTION DELAY-PUSH 5":  {Name: "r", Cmd: "message", Prob: 1, Action: lab.DelayPush, Millis: 5},
		"r SCRIPT 'redis.call(' ACTION HOLD": {Name: "r", Script: "redis.call(", Prob: 1, Action: lab.Hold},
	} {
		require.Equal(t, &want, rule(t, line), line)
	}
}

func TestTheErrorOfARuleNamesTheWrongWord(t *testing.T) {
	const actions = "DROP-BEFORE, DROP-REPLY, RESET-BEFORE, RESET-AFTER, SILENT, DELAY-EXEC, DELAY-REPLY, HOLD, " +
		"ERROR, ERROR-AFTER, CUT, BANDWIDTH, JITTER, SLICE, SKIP-PUSH, DELAY-PUSH, NOTE-PUSH"
	for _, c := range [][2]string{
		{"", "a name is missing"},
		{"''", "the name is empty"},
		{"'a b' ACTION HOLD", "the name must be at most 64 printable characters without spaces, not 'a b'"},
		{"command ACTION HOLD", "the name 'command' is reserved for an event of the log"},
		{"r", "ACTION is missing"},
		{"r KEY a", "ACTION is missing"},
		{"r KEYS a ACTION HOLD", "'KEYS' is not one of CMD, KEY, SCRIPT, CLIENT, ORDER, NTH, TIMES, PROB, ACTION"},
		{"r ACTION HOLD 5", "'5' is not one of CMD, KEY, SCRIPT, CLIENT, ORDER, NTH, TIMES, PROB, ACTION"},
		{"r KEY a key b ACTION HOLD", "KEY is given twice"},
		{"r ACTION HOLD ACTION SILENT", "ACTION is given twice"},
		{"r CMD", "CMD expects a value"},
		{"r KEY '' ACTION HOLD", "KEY expects a value"},
		{"r ACTION", "ACTION expects a value"},
		{"r NTH x ACTION HOLD", "NTH expects a number of at least 1, not 'x'"},
		{"r NTH 0 ACTION HOLD", "NTH expects a number of at least 1, not '0'"},
		{"r NTH +1 ACTION HOLD", "NTH expects a number of at least 1, not '+1'"},
		{"r TIMES -1 ACTION HOLD", "TIMES expects a number of at least 1, not '-1'"},
		{"r TIMES 99999999999999999999 ACTION HOLD", "TIMES expects a number of at least 1, not '99999999999999999999'"},
		{"r CLIENT 0 ACTION HOLD", "CLIENT expects a number of at least 1, not '0'"},
		{"r PROB 0 ACTION HOLD", "PROB expects a number above 0 and up to 1, not '0'"},
		{"r PROB 1.5 ACTION HOLD", "PROB expects a number above 0 and up to 1, not '1.5'"},
		{"r PROB nan ACTION HOLD", "PROB expects a number above 0 and up to 1, not 'nan'"},
		{"r PROB 0.1_0 ACTION HOLD", "PROB expects a number above 0 and up to 1, not '0.1_0'"},
		{"r PROB 0x1p-2 ACTION HOLD", "PROB expects a number above 0 and up to 1, not '0x1p-2'"},
		{"r PROB +0.5 ACTION HOLD", "PROB expects a number above 0 and up to 1, not '+0.5'"},
		{"r PROB often ACTION HOLD", "PROB expects a number above 0 and up to 1, not 'often'"},
		{"r ACTION explode", "ACTION 'explode' is not one of " + actions},
		{"r ACTION DELAY-EXEC", "ACTION DELAY-EXEC expects a number of milliseconds from 1 to 3153600000000, not ''"},
		{"r ACTION DELAY-REPLY 0", "ACTION DELAY-REPLY expects a number of milliseconds from 1 to 3153600000000, not '0'"},
		{"r ACTION DELAY-PUSH 1.5", "ACTION DELAY-PUSH expects a number of milliseconds from 1 to 3153600000000, not '1.5'"},
		{"r ACTION DELAY-REPLY KEY a",
			"ACTION DELAY-REPLY expects a number of milliseconds from 1 to 3153600000000, not 'KEY'"},
		{"r ACTION CUT -1", "ACTION CUT expects a number of bytes from 0 to 2147483647, not '-1'"},
		{"r ACTION BANDWIDTH 0", "ACTION BANDWIDTH expects a number of bytes in a second from 1 to 2147483647, not '0'"},
		{"r ACTION SLICE", "ACTION SLICE expects a number of bytes from 1 to 2147483647, not ''"},
		{"r ACTION JITTER 1s", "ACTION JITTER expects a number of milliseconds from 1 to 3153600000000, not '1s'"},
		{"r ACTION ERROR", "ACTION ERROR expects an error text in one line, not ''"},
		{"r ACTION ERROR-AFTER 'two\r\nlines'", `ACTION ERROR-AFTER expects an error text in one line, not 'two\r\nlines'`},
		{"r SCRIPT x ACTION SKIP-PUSH", "SCRIPT does not go with ACTION SKIP-PUSH: a message has no script"},
		{"r CMD publish ACTION SKIP-PUSH",
			"CMD of ACTION SKIP-PUSH must be MESSAGE, PMESSAGE, SMESSAGE or INVALIDATE, not 'publish'"},
	} {
		_, err := lab.ParseRule(words(c[0]))
		require.EqualError(t, err, "ERR LAB FAULT ADD: "+c[1], c[0])
	}
}

// A rule that is read can be read again from its Words. A refusal is one line.
func FuzzParseRule(f *testing.F) {
	for _, line := range []string{
		"r ACTION HOLD", "r CMD set KEY lock:* NTH 2 TIMES 3 PROB 0.5 ACTION DROP-REPLY", "r CLIENT 7 ACTION CUT 3",
		"r CLIENT w-* SCRIPT pexpire ACTION DELAY-EXEC 10", "r ACTION ERROR x", "r CMD message ACTION DELAY-PUSH 1",
		"r PROB 1e-300 ACTION SILENT", "r ACTION BANDWIDTH 9", "r ACTION JITTER 9", "r ACTION SLICE 9",
	} {
		f.Add(strings.ReplaceAll(line, " ", "\x00"))
	}
	f.Fuzz(func(t *testing.T, text string) {
		var args [][]byte
		for _, word := range strings.Split(text, "\x00") {
			args = append(args, []byte(word))
		}
		r, err := lab.ParseRule(args)
		if err != nil {
			require.NotContains(t, err.Error(), "\n")
			require.NotContains(t, err.Error(), "\r")
			require.True(t, strings.HasPrefix(err.Error(), "ERR LAB FAULT ADD: "))
			return
		}
		args = args[:0]
		for _, word := range r.Words() {
			args = append(args, []byte(word))
		}
		again, err := lab.ParseRule(args)
		require.NoError(t, err, "%q", r.Words())
		require.Equal(t, r, again)
	})
}
