package topology

// Slots is how many slots the keys of a cluster have (cluster.h: CLUSTER_SLOTS).
const Slots = 16384

// Slot returns the slot of a key, or of a shard channel (cluster.c: keyHashSlot). If the key has a part in braces that
// is not empty, only that part counts: keys with the same part are in one slot.
func Slot(key []byte) int {
	for begin, c := range key {
		if c != '{' {
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
		break // only the first brace counts
	}
	return int(crc16(key)) & (Slots - 1)
}

// crc16 is the sum of XMODEM: the polynomial 0x1021, from 0 on (crc16.c). It takes half a byte at a time.
func crc16(data []byte) (sum uint16) {
	table := [16]uint16{0x0000, 0x1021, 0x2042, 0x3063, 0x4084, 0x50a5, 0x60c6, 0x70e7,
		0x8108, 0x9129, 0xa14a, 0xb16b, 0xc18c, 0xd1ad, 0xe1ce, 0xf1ef}
	for _, b := range data {
		sum = sum<<4 ^ table[(byte(sum>>12)^b>>4)&15]
		sum = sum<<4 ^ table[(byte(sum>>12)^b)&15]
	}
	return sum
}
