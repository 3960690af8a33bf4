package proxy

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/miniredisd/miniredisd/internal/ascii"
)

// Replies that name nodes. Each form that Redis uses for an address has a function here, and rewriteOf says which
// command uses which. A function finds the addresses in a reply and notes what to write instead.

// rewrite notes what to write instead of the addresses in a reply.
type rewrite func(r *renamer, s span)

// renamer has a reply, and what to change in it.
type renamer struct {
	reply []byte
	edits []edit

	// at returns the address that a client is told instead of that of a node. An empty host means the upstream that
	// has sent the reply.
	at func(host string, port int) (string, int)

	secure bool // nodes have TLS: of two ports, that for TLS is theirs
}

// edit is another text for an element.
type edit struct {
	span
	text string
}

// rename returns a reply with other addresses. It is the reply itself if it names none.
func rename(reply []byte, do rewrite, secure bool, at func(string, int) (string, int)) []byte {
	s, ok := spanOf(reply, 0)
	if !ok || s.open || s.to != len(reply) {
		return reply
	}
	r := &renamer{reply: reply, at: at, secure: secure}
	if s.kind == '-' {
		do = (*renamer).redirect
	}
	do(r, s)
	return r.result()
}

func (r *renamer) result() []byte {
	if len(r.edits) == 0 {
		return r.reply
	}
	slices.SortFunc(r.edits, func(a, b edit) int { return a.from - b.from })
	var out []byte
	done := 0
	for _, e := range r.edits {
		out = append(out, r.reply[done:e.from]...)
		switch e.kind {
		case '$', '!':
			out = append(out, e.kind)
			out = append(strconv.AppendInt(out, int64(len(e.text)), 10), '\r', '\n')
		case '=':
			out = append(out, e.kind)
			out = append(strconv.AppendInt(out, int64(len("txt:")+len(e.text)), 10), '\r', '\n')
			out = append(out, r.reply[e.span.text-len("txt:"):e.span.text]...)
		default:
			out = append(out, e.kind)
		}
		out = append(append(out, e.text...), '\r', '\n')
		done = e.to
	}
	return append(out, r.reply[done:]...)
}

func (r *renamer) text(s span) string { return string(r.reply[s.text:s.end]) }

func (r *renamer) is(s span, word string) bool {
	return s.isText() && ascii.EqualFold(r.reply[s.text:s.end], word)
}

// set writes another text instead of an element, if it differs.
func (r *renamer) set(s span, text string) {
	if s.isText() && r.text(s) != text {
		r.edits = append(r.edits, edit{s, text})
	}
}

// port reads a port. 0 is none.
func (r *renamer) port(s span) int {
	if !s.isText() {
		return 0
	}
	return portIn(r.text(s))
}

func portIn(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > 65535 {
		return 0
	}
	return n
}

// hides reports whether a host stands for none: then a client uses that of its connection.
func hides(host string) bool { return host == "" || host == "?" }

// host sets a host, unless there is none.
func (r *renamer) host(s span, host string) {
	if s.isText() && !hides(r.text(s)) {
		r.set(s, host)
	}
}

// pair renames a host and a port.
func (r *renamer) pair(host, port span) {
	n := r.port(port)
	if n == 0 || !host.isText() {
		return
	}
	name, n := r.at(r.text(host), n)
	r.host(host, name)
	r.set(port, strconv.Itoa(n))
}

// joined returns host:port for a node. ok is false if text has another form.
func (r *renamer) joined(text string) (string, bool) {
	i := strings.LastIndexByte(text, ':')
	if i < 0 || portIn(text[i+1:]) == 0 {
		return text, false
	}
	host, port := r.at(strings.Trim(text[:i], "[]"), portIn(text[i+1:]))
	if hides(text[:i]) {
		host = text[:i]
	}
	return host + ":" + strconv.Itoa(port), true
}

// redirect is for -MOVED slot host:port, -ASK and -REDIRECT host:port (cluster.c: clusterRedirectClient).
func (r *renamer) redirect(s span) {
	if s.kind != '-' && s.kind != '!' {
		return
	}
	words := strings.Split(r.text(s), " ")
	if last := len(words) - 1; last > 0 && slices.Contains([]string{"MOVED", "ASK", "REDIRECT"}, words[0]) {
		words[last], _ = r.joined(words[last])
		r.set(s, strings.Join(words, " "))
	}
}

// address is for SENTINEL GET-MASTER-ADDR-BY-NAME.
func (r *renamer) address(s span) { r.pair(s.at(0), s.at(1)) }

// fields is for names and values in turn, at any depth: SENTINEL MASTERS and its like, CLUSTER SHARDS.
func (r *renamer) fields(s span) {
	named := map[string]span{}
	for i, e := range s.elems {
		switch {
		case !e.isText():
			r.fields(e)
		case i%2 == 0 && s.at(i+1).isText():
			named[r.text(e)] = s.at(i + 1)
		}
	}
	is := func(name string) span {
		if s, has := named[name]; has {
			return s
		}
		return span{null: true}
	}
	r.pair(is("master-host"), is("master-port"))
	ip, port, secure := is("ip"), is("port"), is("tls-port")
	at := cmp.Or(r.port(port), r.port(secure))
	if r.secure {
		at = cmp.Or(r.port(secure), at)
	}
	if at == 0 || !ip.isText() {
		return
	}
	if name := is("name"); name.isText() { // of a replica
		text, _ := r.joined(r.text(name))
		r.set(name, text)
	}
	host, at := r.at(r.text(ip), at)
	for _, s := range []span{ip, is("endpoint"), is("hostname")} {
		r.host(s, host)
	}
	for _, s := range []span{port, secure} {
		if r.port(s) > 0 {
			r.set(s, strconv.Itoa(at))
		}
	}
}

// slots is for CLUSTER SLOTS: a node is an endpoint, a port, an ID, and what else it is called.
func (r *renamer) slots(s span) {
	for _, part := range s.elems {
		for i := 2; i < len(part.elems); i++ {
			r.slotNode(part.elems[i])
		}
	}
}

func (r *renamer) slotNode(node span) {
	endpoint, port, also := node.at(0), node.at(1), node.at(3)
	if r.port(port) == 0 {
		return
	}
	name := ""
	if endpoint.isText() {
		name = r.text(endpoint)
	}
	for i := 0; i+1 < len(also.elems); i += 2 {
		if r.is(also.elems[i], "ip") {
			name = r.text(also.elems[i+1])
		}
	}
	host, n := r.at(name, r.port(port))
	r.host(endpoint, host)
	r.set(port, strconv.Itoa(n))
	for i := 1; i < len(also.elems); i += 2 {
		r.host(also.elems[i], host)
	}
}

// nodes is for CLUSTER NODES and REPLICAS: lines with an address in the second word, as in host:port@busport,hostname.
func (r *renamer) nodes(s span) {
	for _, e := range s.elems {
		r.nodes(e)
	}
	if !s.isText() {
		return
	}
	lines := strings.Split(r.text(s), "\n")
	for i, line := range lines {
		words := strings.SplitN(line, " ", 3)
		if len(words) < 3 {
			continue
		}
		at, rest, _ := strings.Cut(words[1], "@")
		bus, hostname, named := strings.Cut(rest, ",")
		at, known := r.joined(at)
		if !known {
			continue
		}
		if named {
			_, rest, _ := strings.Cut(hostname, ",")
			bus = strings.TrimSuffix(bus+",,"+rest, ",,") // a client takes the address instead
		}
		words[1] = at + "@" + bus
		lines[i] = strings.Join(words, " ")
	}
	r.set(s, strings.Join(lines, "\n"))
}

// role is for ROLE.
func (r *renamer) role(s span) {
	switch {
	case r.is(s.at(0), "slave"):
		r.pair(s.at(1), s.at(2))
	case r.is(s.at(0), "master"):
		for _, replica := range s.at(2).elems {
			r.pair(replica.at(0), replica.at(1))
		}
	}
}

// info is for INFO, and for all that has its text inside (SENTINEL INFO-CACHE): master_host, slave0:ip=...,port=...
// and master0:...,address=...
func (r *renamer) info(s span) {
	for _, e := range s.elems {
		r.info(e)
	}
	if !s.isText() || !bytes.Contains(r.reply[s.text:s.end], []byte("\n")) {
		return
	}
	lines := strings.Split(r.text(s), "\r\n")
	host := -1
	for i, line := range lines {
		name, value, _ := strings.Cut(line, ":")
		switch {
		case name == "master_host":
			host = i
		case name == "master_port" && host >= 0 && portIn(value) > 0:
			at, port := r.at(strings.TrimPrefix(lines[host], "master_host:"), portIn(value))
			lines[host], lines[i] = "master_host:"+at, "master_port:"+strconv.Itoa(port)
		case counted(name, "slave"), counted(name, "master"):
			lines[i] = name + ":" + r.infoParts(value)
		}
	}
	r.set(s, strings.Join(lines, "\r\n"))
}

// counted reports whether a name is a word and a number.
func counted(name, word string) bool {
	rest, has := strings.CutPrefix(name, word)
	return has && rest != "" && strings.Trim(rest, "0123456789") == ""
}

func (r *renamer) infoParts(value string) string {
	parts := strings.Split(value, ",")
	ip := -1
	for i, part := range parts {
		name, text, _ := strings.Cut(part, "=")
		switch {
		case name == "address":
			at, _ := r.joined(text)
			parts[i] = "address=" + at
		case name == "ip":
			ip = i
		case name == "port" && ip >= 0 && portIn(text) > 0:
			at, port := r.at(strings.TrimPrefix(parts[ip], "ip="), portIn(text))
			parts[ip], parts[i] = "ip="+at, "port="+strconv.Itoa(port)
		}
	}
	return strings.Join(parts, ",")
}
