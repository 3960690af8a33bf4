package rdb

// The first byte of a value: its type and form (rdb.h: RDB_TYPE_*). 6, 7 and 8 belong to modules.
const (
	typeString         = 0
	typeList           = 1
	typeSet            = 2
	typeZSet           = 3 // with scores as text
	typeHash           = 4
	typeZSet2          = 5 // with scores in 8 bytes
	typeHashZipmap     = 9
	typeListZiplist    = 10
	typeSetIntset      = 11
	typeZSetZiplist    = 12
	typeHashZiplist    = 13
	typeListQuicklist  = 14 // nodes, each a ziplist
	typeStream         = 15
	typeHashListpack   = 16
	typeZSetListpack   = 17
	typeListQuicklist2 = 18 // nodes, each a listpack or one element
	typeStream2        = 19 // and what was ever added to it
	typeSetListpack    = 20 // since 7.2, as the next
	typeStream3        = 21 // and when consumers last got something
	typeHashTimed      = 22 // of Valkey 9.0: fields with an expiry
)

// The forms of a node of a quicklist.
const (
	nodePlain  = 1
	nodePacked = 2
)

// Form names the type and form of a value that begins with a byte, for the log.
func Form(kind byte) string {
	switch kind {
	case typeString:
		return "String"
	case typeList, typeSet, typeZSet, typeZSet2, typeHash, typeHashTimed:
		return "Collection"
	case typeHashZipmap:
		return "Zipmap"
	case typeListZiplist:
		return "List ziplist"
	case typeZSetZiplist:
		return "Zset ziplist"
	case typeHashZiplist:
		return "Hash ziplist"
	case typeListQuicklist:
		return "Quicklist ziplist"
	case typeListQuicklist2:
		return "Quicklist listpack"
	case typeSetIntset:
		return "Intset"
	case typeSetListpack:
		return "Set listpack"
	case typeZSetListpack:
		return "Zset listpack"
	case typeHashListpack:
		return "Hash listpack"
	case typeStream, typeStream2, typeStream3:
		return "Stream listpack"
	}
	return "Unknown type"
}
