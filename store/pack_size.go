package store

import "github.com/miniredisd/miniredisd/internal/ascii"

// The functions in this file compute the size of entries in Redis's listpack. Limits in bytes apply
// to that size. Nodes of lists and streams must end where they end in Redis, or OBJECT ENCODING and
// approximate trimming would give other results.

// listpackFrame is the size of a listpack's header and end mark (listpack.c: LP_HDR_SIZE, LP_EOF).
const listpackFrame = 7

// listpackNumber is the size of a number (listpack.c: lpEncodeGetType).
func listpackNumber(v int64) int {
	switch {
	case v >= 0 && v < 1<<7:
		return 2
	case v >= -1<<12 && v < 1<<12:
		return 3
	case v >= -1<<15 && v < 1<<15:
		return 4
	case v >= -1<<23 && v < 1<<23:
		return 5
	case v >= -1<<31 && v < 1<<31:
		return 6
	}
	return 10
}

// listpackString is the size of a byte string. Redis stores it as a number if it spells one.
func listpackString(v []byte) int {
	n := len(v)
	if 0 < n && n <= 20 && (v[0] == '-' || v[0]-'0' <= 9) {
		if i, ok := ascii.ParseInt(v); ok {
			return listpackNumber(i)
		}
	}
	switch {
	case n < 1<<6:
		n++
	case n < 1<<12:
		n += 2
	default:
		n += 5
	}
	// The length for reading backwards has 7 bits in each byte.
	switch {
	case n < 1<<7:
		return n + 1
	case n < 1<<14-1:
		return n + 2
	case n < 1<<21-1:
		return n + 3
	case n < 1<<28-1:
		return n + 4
	}
	return n + 5
}
