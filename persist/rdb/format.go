package rdb

import values "github.com/miniredisd/miniredisd/internal/rdb"

// What stands where a key's type can stand (rdb.h: RDB_OPCODE_*).
const (
	opFunctionPreGA = 246 // of a release candidate
	opModuleAux     = 247
	opIdle          = 248
	opFreq          = 249
	opAux           = 250
	opResizeDB      = 251
	opExpireMs      = 252
	opExpire        = 253
	opSelectDB      = 254
	opEOF           = 255
)

// The types of keys that belong to modules.
const (
	typeModulePreGA = 6
	typeModule2     = 7
)

// The versions of the format that Save writes.
const (
	FormatRedis  = values.VersionRead  // of Redis 7.2
	FormatValkey = values.VersionTimed // of Valkey 9
)

const (
	signature       = "REDIS"
	versionDigits   = 4
	signatureValkey = "VALKEY" // since version 80, with three digits
	checksumVersion = 5        // the first one with a checksum
)
