// Package rdb turns a value into the payload of DUMP and back. A payload is a piece of the file in
// which Redis saves its data (rdb.c). A Sink writes the pieces of such a file, and a Source reads them.
//
// Like package store, it belongs to the goroutine that executes commands, because it takes values
// apart and makes them. A Sink of copies that nobody changes may be another goroutine's. It knows no
// files and no sockets. What a whole file consists of, package persist/rdb knows.
//
// # A payload
//
//	| type | value ...                  | version | checksum |
//	  1 byte                              2 bytes   8 bytes, CRC-64 of all before it
//
// Version and checksum are little endian. The version is that of the format. A reader refuses a
// version newer than its own, so Redis 7.2 is played with the oldest version that has everything: 10.
//
// # Numbers and strings
//
// All values consist of these. The upper two bits of a number's first byte give its width:
//
//	00nnnnnn             6 bits
//	01nnnnnn n           14 bits
//	10000000 nnnn        32 bits, big endian
//	10000001 nnnnnnnn    64 bits, big endian
//	11......             a string in a special form
//
// A string is its length and its bytes. A special form is a number of 8, 16 or 32 bits that the
// string spells (c0, c1, c2, little endian), or a compressed string (c3): the compressed size, the
// full size, and the output of LZF. A payload has no compressed strings here. A file has them, unless
// rdbcompression is no.
//
// # Values
//
// A large collection is the number of its elements and the elements as strings. A small collection
// is one string with the block of memory that Redis keeps it in, byte for byte: a listpack or an
// intset, and in older versions a ziplist or a zipmap. A list is the number of its nodes and a
// listpack for each. A stream (stream.go) is that too, followed by its groups.
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
//	19            7.0    yes      yes         stream, with the number of entries ever added
//	20            7.2    yes      in files    set: a listpack
//	21            7.2    yes      in files    stream, with the times of the latest deliveries
//	22                   yes      yes         hash of Valkey 9.0: fields, values, and expiries in 8 bytes
//
// # Damage
//
// Anyone can send a payload with a valid checksum. Every payload is refused or gives a sound value.
// Memory for elements is allocated only as they are read, whatever count the payload claims. Only a
// compressed string takes much more memory than it came in: at most 264 times its size.
package rdb
