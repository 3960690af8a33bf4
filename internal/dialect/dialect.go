// Package dialect says which server this one plays: Redis or Valkey, and in which version.
//
// Both families are one until Redis 7.2. Then each goes its own way, and some commands have one name and
// two meanings. A Since says from when on each family has something:
//
//	6.2.0         both families, since they were one
//	8.4.0,8.1.0   Redis since 8.4.0, Valkey since 8.1.0
//	8.4.0,        Redis alone
//	,9.0.0        Valkey alone
//
// The rows of commands and the options in their syntax have such a Since. A server filters them once, at
// its start. So no request of the default dialect pays for the question.
//
// Versions are compared part by part: 8.10 comes after 8.8.
package dialect

import (
	"cmp"
	"strconv"
	"strings"
)

// Default is the name of the dialect of a server without the directive.
const Default = "redis-7.2"

// Family is a project that makes servers.
type Family uint8

// The families.
const (
	Redis Family = iota
	Valkey
)

func (f Family) String() string {
	if f == Valkey {
		return "Valkey"
	}
	return "Redis"
}

// Dialect is what a server says of itself. Its version decides what it has.
type Dialect struct {
	Name    string // of the directive, such as valkey-9.1
	Family  Family
	Version string // of the server that is played, with three parts

	// What programs read to find out what they talk to.
	ServerName   string // server_name in INFO; "" for none
	RedisVersion string // redis_version in INFO, and REDIS_VERSION in scripts
	HelloServer  string // server and version in HELLO
	HelloVersion string
	ModeField    string // the field of INFO that says standalone

	// DumpVersion is that of the format that DUMP writes. RESTORE reads it, and all up to 11.
	DumpVersion int
}

// Known returns all dialects, oldest first. Redis has its own first.
func Known() []Dialect {
	redis := func(name, version string) Dialect {
		return Dialect{
			Name: "redis-" + name, Family: Redis, Version: version, RedisVersion: version,
			HelloServer: "redis", HelloVersion: version, ModeField: "redis_mode", DumpVersion: 10,
		}
	}
	valkey := func(name, version string, format int) Dialect {
		return Dialect{
			Name: "valkey-" + name, Family: Valkey, Version: version, RedisVersion: "7.2.4",
			ServerName: "valkey", HelloServer: "valkey", HelloVersion: version, ModeField: "server_mode", DumpVersion: format,
		}
	}
	first := valkey("7.2", "7.2.7", 11)
	first.HelloServer, first.ModeField = "redis", "redis_mode"
	return []Dialect{
		redis("7.2", "7.2.6"), redis("7.4", "7.4.0"), redis("8.0", "8.0.0"), redis("8.2", "8.2.0"),
		redis("8.4", "8.4.0"), redis("8.6", "8.6.0"), redis("8.8", "8.8.0"), redis("8.10", "8.10.2"),
		first, valkey("8.0", "8.0.1", 11), valkey("8.1", "8.1.0", 11),
		valkey("9.0", "9.0.0", 80), valkey("9.1", "9.1.2", 80), valkey("9.2", "9.2.0", 80),
	}
}

// Names returns the names of all dialects, in the order of Known.
func Names() (names []string) {
	for _, d := range Known() {
		names = append(names, d.Name)
	}
	return names
}

// Named returns the dialect of that name. It panics for an unknown one: the directive has checked it.
func Named(name string) Dialect {
	for _, d := range Known() {
		if d.Name == name {
			return d
		}
	}
	panic("no dialect " + name)
}

// Variable is the environment variable with the dialect of a program that is started without the directive.
const Variable = "MINIREDISD_DIALECT"

// OfMaster returns the name of the dialect of a master, counted from 1. The directive has one name or several with
// commas between them. The masters take them in turn, and begin again after the last.
func OfMaster(directive string, number int) string {
	names := strings.Split(directive, ",")
	return names[(number-1)%len(names)]
}

// Since says from when on each family has something. The package comment has its grammar.
type Since string

// Newer reports whether the families got it on their own, after Redis 7.2.
func (s Since) Newer() bool { return strings.Contains(string(s), ",") }

// In returns the version in which the family got it, or "" if the family never did.
func (s Since) In(f Family) string {
	redis, valkey, newer := strings.Cut(string(s), ",")
	if newer && f == Valkey {
		return valkey
	}
	return redis
}

// Has reports whether the played server has it.
func (d Dialect) Has(s Since) bool {
	since := s.In(d.Family)
	return since != "" && Compare(since, d.Version) <= 0
}

// Compare compares versions part by part, as numbers. A part that is missing counts as 0.
func Compare(a, b string) int {
	for a != "" || b != "" {
		var x, y string
		x, a, _ = strings.Cut(a, ".")
		y, b, _ = strings.Cut(b, ".")
		if order := cmp.Compare(number(x), number(y)); order != 0 {
			return order
		}
	}
	return 0
}

func number(part string) int {
	n, _ := strconv.Atoi(part) // "" is 0
	return n
}
