package resp

import "slices"

// Batch is a list of complete commands. All arguments are in one slice that is reused, so a pipeline of
// sixteen commands allocates nothing.
type Batch struct {
	args [][]byte
	ends []int // ends[i] is the index in args after the last argument of command i
}

// Len returns the number of commands.
func (b *Batch) Len() int { return len(b.ends) }

// Args returns the words of command i, its name first. They alias the parser's input.
func (b *Batch) Args(i int) [][]byte {
	from := 0
	if i > 0 {
		from = b.ends[i-1]
	}
	to := b.ends[i]
	return b.args[from:to:to]
}

// Mem returns the bytes of the room for arguments, or 0 for a batch of ordinary size.
func (b *Batch) Mem() int {
	if mem := 24*cap(b.args) + 8*cap(b.ends); mem > ordinary {
		return mem
	}
	return 0
}

// ordinary is the room for arguments that Mem does not count, in bytes.
const ordinary = 1 << 10

// Reset empties the batch. It frees the room for an unusually large number of arguments.
func (b *Batch) Reset() {
	b.args, b.ends = b.args[:0], b.ends[:0]
	if cap(b.args) > 16<<10 {
		b.args = nil
	}
	if cap(b.ends) > 16<<10 {
		b.ends = nil
	}
}

// take is the fast path (networking.c: processMultibulkBuffer). It appends well-formed multibulk commands from
// the front of buf and returns how many bytes they have. It stops before the first command that is incomplete,
// too large or different in any way, and does not say why. Most requests that arrive whole come this way, in
// one look at their bytes. Parser.command handles the rest and has the error texts.
func (b *Batch) take(buf []byte, maxArgs, maxBulk int) int {
	args, ends := b.args, b.ends
	taken := 0
	for {
		count, i := header(buf, taken, '*')
		// The shortest argument is `$0\r\n\r\n`. A count with too few bytes after it reserves no room.
		if uint(count-1) >= uint(min(maxArgs, (len(buf)-i)/6)) {
			break
		}
		base := len(args)
		args = slices.Grow(args, count)[:base+count]
		command := args[base:]
		for k := range command {
			n, from := -1, i
			if i+5 < len(buf) {
				n, from = shortLength((*[6]byte)(buf[i:]))
				from += i
			}
			if n < 0 {
				n, from = header(buf, i, '$')
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

// header reads `<mark><n>\r\n` at i. It returns n and the position after it. n is -1 if the header is
// incomplete or unusual in any way.
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
