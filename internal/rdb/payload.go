package rdb

import (
	"encoding/binary"
	"hash/crc64"
	"slices"

	"github.com/miniredisd/miniredisd/store"
)

const (
	// Oldest is the version that Redis 7.0 writes. It has everything that DUMP needs, so Redis 7.2, which
	// writes version 11, need not be told from it.
	Oldest = 10

	// VersionRead is the version of a file of Redis 7.2, which reads all versions up to this one.
	VersionRead = 11

	// VersionTimed is the version that Valkey writes since 9.0. It is the first one with a form for fields that
	// expire. Redis has another form since 7.4, which this package does not know.
	VersionTimed = 80

	footer = 10 // bytes of the version and the checksum

	// The polynomial of the checksum (by Jones), with its bits reversed.
	jones = 0x95ac9329ac4bc9b5
)

// The errors of a payload, in Redis's words.
const (
	ErrPayload store.Error = "ERR DUMP payload version or checksum are wrong"
	ErrFormat  store.Error = "ERR Bad data format"
)

// crcTables advances a checksum by eight bytes at once (crcspeed.c: crcspeed64little_init). Table n is
// for a byte with n bytes after it. Package crc64 would make its tables anew for each payload.
var crcTables = func() (tables [8]crc64.Table) {
	tables[0] = *crc64.MakeTable(jones)
	for i := range 256 {
		for n := 1; n < len(tables); n++ {
			crc := tables[n-1][i]
			tables[n][i] = tables[0][byte(crc)] ^ crc>>8
		}
	}
	return tables
}()

// checksum starts at zero and is not inverted.
func checksum(b []byte) uint64 { return Checksum(0, b) }

// Checksum is the checksum of b after bytes with the checksum crc.
func Checksum(crc uint64, b []byte) uint64 {
	t := &crcTables
	for ; len(b) >= 8; b = b[8:] {
		crc ^= binary.LittleEndian.Uint64(b)
		crc = t[7][byte(crc)] ^ t[6][byte(crc>>8)] ^ t[5][byte(crc>>16)] ^ t[4][byte(crc>>24)] ^
			t[3][byte(crc>>32)] ^ t[2][byte(crc>>40)] ^ t[1][byte(crc>>48)] ^ t[0][crc>>56]
	}
	for _, c := range b {
		crc = t[0][byte(crc)^c] ^ crc>>8
	}
	return crc
}

// sealed returns a payload: b and its footer.
func sealed(b []byte, version int) []byte {
	b = binary.LittleEndian.AppendUint16(b, uint16(version))
	return binary.LittleEndian.AppendUint64(b, checksum(b))
}

// SetChecksum returns a payload with the right checksum. A payload that is too short stays as it
// is.
func SetChecksum(payload []byte) []byte {
	end := len(payload) - 8
	if end < 0 {
		return payload
	}
	return binary.LittleEndian.AppendUint64(slices.Clone(payload[:end]), checksum(payload[:end]))
}

// intact reports whether this package reads the version of a payload and the checksum is right
// (cluster.c: verifyDumpPayload). own is the version that this server writes.
func intact(payload []byte, own int) bool {
	end := len(payload) - footer
	if end < 0 {
		return false
	}
	version := int(binary.LittleEndian.Uint16(payload[end:]))
	return (version <= VersionRead || version == own) &&
		binary.LittleEndian.Uint64(payload[end+2:]) == checksum(payload[:end+2])
}
