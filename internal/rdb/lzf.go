package rdb

// longestString is as long as any command lets a string become.
const longestString = 1 << 31

// unpackLZF undoes LibLZF's compression: a byte below 32 is followed by that many
// literal bytes and one; any other is the beginning of a reference, which repeats what
// stands a distance back. Its upper three bits are the length less two, seven of them
// being added to by the next byte; the lower five and one byte more are the distance
// less one. It fails unless exactly size bytes come out.
func unpackLZF(packed []byte, size uint64) (_ []byte, ok bool) {
	const longest = 264 // of what three bytes repeat
	if size > longestString || size > longest*uint64(len(packed)) {
		return nil, false
	}
	out := make([]byte, 0, size)
	for i := 0; i < len(packed); {
		lead := int(packed[i])
		i++
		if lead < 32 {
			end := i + lead + 1
			if end > len(packed) || len(out)+lead+1 > cap(out) {
				return nil, false
			}
			out = append(out, packed[i:end]...)
			i = end
			continue
		}
		length, back := lead>>5+2, lead&0x1f<<8
		if lead>>5 == 7 && i < len(packed) {
			length += int(packed[i])
			i++
		}
		if i == len(packed) {
			return nil, false
		}
		from := len(out) - back - int(packed[i]) - 1
		i++
		if from < 0 || len(out)+length > int(size) {
			return nil, false
		}
		for k := range length { // byte by byte: what is repeated may overlap
			out = append(out, out[from+k])
		}
	}
	return out, len(out) == int(size)
}
