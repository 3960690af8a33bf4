// Package transcript plays recorded conversations with a server. A transcript is a text file with
// requests and the replies of a real redis-server.
//
//	redis-server ──> replies of FILE.txt (with -update) ──> compared with the server under test
//
//	# Comments and empty lines may stand between the exchanges.
//	> SET greeting "hello\r\n"
//	+OK
//	> GET greeting
//	"hello\r\n"
//	> LRANGE missing 0 -1
//	*0
//
// # Sending
//
// A line "> WORDS" sends one command and reads one reply. Words are split as in redis-cli: bare,
// 'single quoted', or "double quoted" with \n \r \t \\ \" \xNN. Bare words may contain:
//
//	{1..300}            300 arguments: 1 2 3 ...      key{1..3} is key1 key2 key3
//	{x*70}              one argument of 70 times x
//	{1..300: f# v#}     600 arguments: f1 v1 f2 v2 ...
//
// A name before the ">" is the connection, which opens at its first use: "a> GET k", "b> GET k".
// Characters after the ">" change the exchange:
//
//	>~ SMEMBERS s       the elements of the reply may have any order, at every level
//	>% HGETALL h        pairs of elements may have any order
//	>& BLPOP q 0        does not wait: a later "<" reads the reply, if one comes
//	>= "*1\r\n$-2\r\n"  sends these bytes unchanged (quoted or bare words, joined)
//
// A line "<" (or "a<", "a<~") sends nothing and reads the next reply or push message.
//
// # Replies
//
// A reply is its RESP type and its value, one line each, elements indented by two spaces:
//
//	+OK   -ERR text   :1   "bulk"   $-1   *-1         RESP2
//	_   #t   ,1.5   (123   ="txt:text"   !"text"      RESP3 null, boolean, double, big number, verbatim, bulk error
//	*2   ~2   >2   %2                                 array, set, push, map; %2 holds lines: "key" => "value"
//	(closed)                                          the server closed the connection; its next use reconnects
//
// Parts of a reply that differ from run to run are patterns. -update keeps a pattern as long as it
// matches the server's reply:
//
//	<int> <float> <hex> <id> (a stream ID) <addr> <word> <any> (may be empty)
//	<90..100>           an integer in this range
//	<...>               in place of a whole value: any reply
//	<me=int>            an <int> that is remembered: later commands and replies may contain <me>
//
// # Newer versions
//
// The oracle is the redis-server in PATH. If a reply is that of a newer version, a comment directly above
// the command names the version, and the reply is written by hand. An older oracle is not compared with
// that reply, and -update does not change it.
//
//	# 7.2: small sets of strings are listpacks.
//	> OBJECT ENCODING s
//	"listpack"
//
// Such a comment at the top of the file, with an empty line below it, is about all commands of the file:
//
//	# 8.4: DELEX deletes a key if it has a value.
//
// Lines "! --option value" at the top are arguments for the server. Each file gets a new server, with
// DEBUG allowed. With "! --dialect valkey-9.1", a valkey-server of that version or a newer one writes the
// replies. With "! --dialect redis-8.4" nothing does: they are written by hand, and a comment names the source.
package transcript

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"regexp"
	"strings"
)

// script is one parsed file.
type script struct {
	path  string
	args  []string
	head  []string // the lines above the first step
	since string   // the version that all steps need; "" for none
	steps []step
}

// step is one request, or one reply that is read without a request.
type step struct {
	conn  string
	op    byte // '>' or '<'
	words string
	line  int

	anyOrder, pairs, later, raw bool
	since                       string // the version in the comment above it, such as "7.2"; "" for none

	text  string   // the line of the file
	reply []string // the lines of the expected reply
	tail  []string // comments and empty lines before the next step
}

var (
	stepLine    = regexp.MustCompile(`^([a-z]*)([<>])([~%&=]*)(?: (.*))?$`)
	versionLine = regexp.MustCompile(`^# (\d+\.\d+):`)
)

func load(path string) (*script, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s := &script{path: path}
	in := bufio.NewScanner(f)
	in.Buffer(nil, 1<<20)
	since := ""
	for n := 1; in.Scan(); n++ {
		if err := s.add(in.Text(), n, &since); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, n, err)
		}
	}
	return s, in.Err()
}

// add takes the line l with the number n. since is the version in the comment above it.
func (s *script) add(l string, n int, since *string) error {
	if m := stepLine.FindStringSubmatch(l); m != nil {
		st := step{conn: m[1], op: m[2][0], words: m[4], line: n, text: l, since: cmp.Or(*since, s.since)}
		st.anyOrder = strings.ContainsAny(m[3], "~%")
		st.pairs = strings.Contains(m[3], "%")
		st.later = strings.Contains(m[3], "&")
		st.raw = strings.Contains(m[3], "=")
		if (st.op == '>') != (st.words != "") {
			return fmt.Errorf("%q: \"> \" needs a command, and \"<\" takes none", l)
		}
		*since = ""
		s.steps = append(s.steps, st)
		return nil
	}
	free := l == "" || l == "#" || strings.HasPrefix(l, "# ")
	if l == "" && len(s.steps) == 0 {
		s.since = cmp.Or(s.since, *since)
	}
	if version := versionLine.FindStringSubmatch(l); version != nil {
		*since = version[1]
	} else if !free || l == "" {
		*since = ""
	}
	if len(s.steps) == 0 {
		return s.addHead(l, free)
	}
	last := &s.steps[len(s.steps)-1]
	switch {
	case free:
		last.tail = append(last.tail, l)
	case len(last.tail) > 0:
		return fmt.Errorf("%q: a comment or an empty line separates this reply line from its command", l)
	case last.later:
		return fmt.Errorf("%q: a \">&\" command has no reply lines; a \"<\" line reads its reply", l)
	default:
		last.reply = append(last.reply, l)
	}
	return nil
}

func (s *script) addHead(l string, free bool) error {
	if args, ok := strings.CutPrefix(l, "! "); ok {
		w, err := split(args, nil)
		if err != nil {
			return err
		}
		s.args = append(s.args, w...)
	} else if !free {
		return fmt.Errorf("%q: neither a comment nor a command", l)
	}
	s.head = append(s.head, l)
	return nil
}

func (s *script) save() error {
	var b strings.Builder
	write := func(lines []string) {
		for _, l := range lines {
			b.WriteString(l)
			b.WriteByte('\n')
		}
	}
	write(s.head)
	for _, st := range s.steps {
		write([]string{st.text})
		write(st.reply)
		write(st.tail)
	}
	return os.WriteFile(s.path, []byte(b.String()), 0o644)
}
