// Package rdb turns a value into the string that DUMP returns, and back: a piece of the file
// that Redis saves itself in (rdb.c).
//
// It belongs to whoever executes commands, as package store does, for it takes values
// apart and makes them. It knows neither files nor sockets: there is nothing here of an
// RDB file but its values, and the libraries of FUNCTION DUMP.
//
// # A payload
//
//	| type | value ...                  | version | checksum |
//	  1 byte                              2 bytes   8 bytes, CRC-64 of all before it
//
// The version is that of the format, little endian as the checksum is. A reader refuses
// what is newer than itself: so the oldest version that has everything is written, 10.
//
// # Numbers and strings
//
// All values are made of these. The upper two bits of a number's first byte tell how wide it is:
//
//	00nnnnnn             6 bits
//	01nnnnnn n           14 bits
//	10000000 nnnn        32 bits, big endian
//	10000001 nnnnnnnn    64 bits, big endian
//	11......             a string in a special form
//
// A string is its length and its bytes. In a special form, it is a number of 8, 16 or 32
// bits (c0, c1, c2, little endian) which the string spells, or (c3) it was compressed: the
// size it has, the size it had, and what LZF made of it. Nothing is compressed here,
// but whatever Redis has compressed is read.
//
// # Values
//
// A large collection is the number of its elements and the elements as strings. A small
// one is a single string, which holds the block of memory that Redis keeps it in, byte
// for byte: a listpack, or an intset, and in former times a ziplist or a zipmap. A list
// is the number of its nodes and a listpack each; a stream (stream.go) as well, with what
// is known of its groups behind them.
//
//	type          since  is read  is written
//	0             1.0    yes      yes         string
//	1             1.0    yes                  list: elements
//	2             1.0    yes      yes         set: members
//	3             1.2    yes                  sorted set: members, and scores as text
//	4             2.0    yes      yes         hash: fields and values
//	5             4.0    yes      yes         sorted set: members, and scores in 8 bytes
//	9             2.2    yes                  hash: a zipmap
//	10 12 13      2.2    yes                  list, sorted set, hash: a ziplist
//	11            2.2    yes      yes         set: an intset
//	14            3.2    yes                  list: nodes, each a ziplist
//	15            5.0    yes                  stream
//	16 17         7.0    yes      yes         hash, sorted set: a listpack
//	18            7.0    yes      yes         list: nodes, each a listpack or one element
//	19            7.0    yes      yes         stream, with what was ever added to it
//	20            7.2    yes      by Save     set: a listpack
//	21            7.2    yes      by Save     stream, with when consumers last got something
//
// # Damage
//
// Anybody can send a payload with a valid checksum. Whatever it says, it is refused or makes a
// value that is whole. A count is no reason to make room for elements before they are there.
// Only what was compressed takes much more memory than it came in: 264 times its size at most.
package rdb
