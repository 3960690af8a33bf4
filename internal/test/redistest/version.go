package redistest

import (
	"strconv"
	"strings"

	"github.com/miniredisd/miniredisd/resp"
)

// Older reports whether a version is older than another. A part that is missing, such as the third one
// of "7.2", is 0.
func Older(version, than string) bool {
	for version != "" || than != "" {
		var a, b string
		a, version, _ = strings.Cut(version, ".")
		b, than, _ = strings.Cut(than, ".")
		m, _ := strconv.Atoi(a)
		n, _ := strconv.Atoi(b)
		if m != n {
			return m < n
		}
	}
	return false
}

// Lacks returns the commands of the server under test that this redis-server is too old to know. The names
// are those of COMMAND LIST, the versions those of COMMAND DOCS. So a new command needs no entry here.
func (s *Server) Lacks(tested *Conn) map[string]bool {
	tested.t.Helper()
	lacks := map[string]bool{}
	for name, since := range versions(tested.Do("COMMAND", "DOCS").Elems) {
		lacks[name] = Older(s.Version, since)
	}
	return lacks
}

// Newer returns what Lacks does, and the commands that this redis-server is too old to describe as the
// server under test does.
func (s *Server) Newer(tested *Conn) map[string]bool {
	tested.t.Helper()
	newer := s.Lacks(tested)
	for version, names := range changed() {
		for _, name := range names {
			newer[name] = newer[name] || Older(s.Version, version)
		}
	}
	return newer
}

// changed returns the commands that a version of Redis changed so that COMMAND INFO or the refusals of
// ACL DRYRUN show it.
func changed() map[string][]string {
	return map[string][]string{"7.2": {
		"cluster|shards", "cluster|slots",
		"command|getkeys", "command|getkeysandflags", // take a command without arguments
		"zrank", "zrevrank", // WITHSCORE
		"blpop", "brpop", "brpoplpush", "blmove", "bzpopmin", "bzpopmax", "wait", // allowed in scripts: no flag noscript
	}}
}

// versions returns the field since of each command and subcommand in a reply of COMMAND DOCS.
func versions(docs []resp.Value) map[string]string {
	all := map[string]string{}
	for i := 0; i+1 < len(docs); i += 2 {
		fields := docs[i+1].Elems
		for j := 0; j+1 < len(fields); j += 2 {
			switch fields[j].Str {
			case "since":
				all[docs[i].Str] = fields[j+1].Str
			case "subcommands":
				for name, since := range versions(fields[j+1].Elems) {
					all[name] = since
				}
			}
		}
	}
	return all
}
