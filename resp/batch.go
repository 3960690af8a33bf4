package resp

import "slices"

// Batch is a list of complete commands, made to be filled and emptied over and over: all arguments stand in one slice,
// so a pipeline of sixteen commands costs no allocation.
type Batch struct {
	args [][]byte
	ends []int // ends[i] is the index in args behind command i
}

// Len is the number of commands.
func (b *Batch) Len() int { return len(b.ends) }

// Args are the words of command i, its name first. They alias the parser's input.
func (b *Batch) Args(i int) [][]byte {
	from := 0
	if i > 0 {
		from = b.ends[i-1]
	}
	to := b.ends[i]
	return b.args[from:to:to]
}

// Mem is the bytes of the room for arguments, and nothing for the room that all batches have.
func (b *Batch) Mem() int {
	if mem := 24*cap(b.args) + 8*cap(b.ends); mem > ordinary {
		return mem
	}
	return 0
}

// ordinary is the room for arguments that is not worth counting.
const ordinary = 1 << 10

// Reset empties the batch. Room for an extraordinary number of arguments is given back.
func (b *Batch) Reset() {
	b.args, b.ends = b.args[:0], b.ends[:0]
	if cap(b.args) > 16<<10 {
		b.args = nil
	}
	if cap(b.ends) > 16<<10 {
		b.ends = nil
	}
}

// take is the fast way: it appends well-formed multibulk commands from the front of buf and stops, without judging,
// before the first one that is incomplete, too large, or anything else. It returns the bytes taken. All requests of
// ordinary clients pass here in one pass over their bytes; Parser.command does what is left, and gives the reasons.
func (b *Batch) take(buf []byte, maxArgs, maxBulk int) int {
	args, ends := b.args, b.ends
	taken := 0
	for {
		count, i := header(buf, taken, '*')
		// The shortest argument is `$0\r\n\r\n`, so a count that cannot be complete makes no room.
		if uint(count-1) >= uint(min(maxArgs, (len(buf)-i)/6)) {
			break
		}
		base := len(args)
		args = slices.Grow(args, count)[:base+count]
		command := args[base:]
		for k := range command {
			n, from := -1, i
			if i+5 < len(buf) {
				// Lengths of one and two digits by hand: a call to header costs as much as all of this.
				h := (*[6]byte)(buf[i:])
				tens, ones := int(h[1]-'0'), int(h[2]-'0')
				switch {
				case h[0] == '$' && h[2] == '\r' && tens < 10:
					n, from = tens, i+4
				case h[0] == '$' && h[3] == '\r' && uint(tens-1) < 9 && ones < 10:
					n, from = tens*10+ones, i+5
				default:
					n, from = header(buf, i, '$')
				}
			}
			to := from + n
			if uint(n) > uint(maxBulk) || to+2 > len(buf) {
				i = -1
				break
			}
			command[k] = buf[from:to:to]
			i = to + 2
		}
		if i < 0 {
			args = args[:base]
			break
		}
		ends = append(ends, len(args))
		taken = i
	}
	b.args, b.ends = args, ends
	return taken
}

// header reads `<mark><n>\r\n` at i and returns n and the position behind it; n is -1 for anything out of the ordinary.
func header(buf []byte, i int, mark byte) (n, next int) {
	if i+5 >= len(buf) {
		return -1, i
	}
	h := buf[i : i+6]
	if h[0] != mark {
		return -1, i
	}
	n = int(h[1] - '0')
	if n > 9 {
		return -1, i
	}
	if h[2] == '\r' {
		return n, i + 4
	}
	if n == 0 {
		return -1, i
	}
	for k := i + 2; k < len(buf)-1 && k < i+10; k++ {
		c := buf[k]
		d := int(c - '0')
		if d > 9 {
			if c == '\r' {
				return n, k + 2
			}
			return -1, i
		}
		n = n*10 + d
	}
	return -1, i
}
