package rdb

// longestString is the greatest length of a string that a command can make.
const longestString = 1 << 31

// unpackLZF reverses LibLZF's compression. A byte n below 32 is followed by n+1 literal bytes. Any
// other byte begins a reference, which repeats earlier bytes. Its upper three bits are the length
// less two; for seven, the next byte is added. Its lower five bits and one more byte are the
// distance less one. unpackLZF fails unless the result has exactly size bytes. For size 0 it never
// fails: lzf_decompress returns 0 for an error, and Redis compares that with the size.
func unpackLZF(packed []byte, size uint64) (_ []byte, ok bool) {
	if size == 0 {
		return nil, true
	}
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
