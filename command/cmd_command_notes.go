package command

import "strings"

// replaced lists the commands that Redis advises against, for COMMAND DOCS: since when, and what to use.
const replaced = `
brpoplpush: 6.2.0 BLMOVE with RIGHT and LEFT
cluster|slaves: 5.0.0 CLUSTER REPLICAS
cluster|slots: 7.0.0 CLUSTER SHARDS
georadius: 6.2.0 GEOSEARCH or GEOSEARCHSTORE with BYRADIUS
georadius_ro: 6.2.0 GEOSEARCH with BYRADIUS
georadiusbymember: 6.2.0 GEOSEARCH or GEOSEARCHSTORE with BYRADIUS and FROMMEMBER
georadiusbymember_ro: 6.2.0 GEOSEARCH with BYRADIUS and FROMMEMBER
getset: 6.2.0 SET with GET
hmset: 4.0.0 HSET with several fields
psetex: 2.6.12 SET with PX
quit: 7.2.0 a client that closes its connection
rpoplpush: 6.2.0 LMOVE with RIGHT and LEFT
setex: 2.6.12 SET with EX
setnx: 2.6.12 SET with NX
slaveof: 5.0.0 REPLICAOF
substr: 2.0.0 GETRANGE
zrangebylex: 6.2.0 ZRANGE with BYLEX
zrangebyscore: 6.2.0 ZRANGE with BYSCORE
zrevrange: 6.2.0 ZRANGE with REV
zrevrangebylex: 6.2.0 ZRANGE with REV and BYLEX
zrevrangebyscore: 6.2.0 ZRANGE with REV and BYSCORE
`

// internals are the commands that are for servers and their developers.
const internals = "\ndebug\npfdebug\npfselftest\nreplconf\nrestore-asking\n"

// noteOf returns the line of a command in a list of notes, or "".
func noteOf(list, name string) string {
	_, rest, _ := strings.Cut(list, "\n"+name+": ")
	line, _, _ := strings.Cut(rest, "\n")
	return line
}

// notes writes doc_flags and what they mean. It returns how many fields it wrote.
func (c *Call) notes(name string) int {
	since, instead, deprecated := strings.Cut(noteOf(replaced, name), " ")
	flag := ""
	switch {
	case deprecated:
		flag = "deprecated"
	case strings.Contains(internals, "\n"+name+"\n"):
		flag = "syscmd"
	default:
		return 0
	}
	c.BulkString("doc_flags")
	c.Set(1)
	c.Status(flag)
	return 1 + c.pairs("deprecated_since", since, "replaced_by", instead)
}
