package topology

// Slots is how many slots the keys of a cluster have (cluster.h: CLUSTER_SLOTS).
const Slots = 16384

// Slot returns the slot of a key, or of a shard channel (cluster.c: keyHashSlot). If the key has a part in braces that
// is not empty, only that part counts: keys with the same part are in one slot.
func Slot[K string | []byte](key K) int {
	sum := uint16(0)
	for begin := range len(key) {
		if key[begin] != '{' {
			sum = crcOf(sum, key[begin])
			continue
		}
		for end := begin + 1; end < len(key); end++ {
			if key[end] == '}' && end > begin+1 {
				return int(crc16(key[begin+1:end])) & (Slots - 1)
			}
			if key[end] == '}' {
				break
			}
		}
		return int(crc16(key)) & (Slots - 1) // only the first brace counts
	}
	return int(sum) & (Slots - 1)
}

// crc16 is the sum of XMODEM: the polynomial 0x1021, from 0 on.
func crc16[K string | []byte](data K) (sum uint16) {
	for i := range len(data) {
		sum = crcOf(sum, data[i])
	}
	return sum
}

// crcOf adds a byte to a sum. The polynomial has few bits, so shifts do what crc16.c does with a table.
func crcOf(sum uint16, b byte) uint16 {
	x := sum>>8 ^ uint16(b)
	x ^= x >> 4
	return sum<<8 ^ x<<12 ^ x<<5 ^ x
}
