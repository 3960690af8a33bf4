package command

import (
	"math"

	"github.com/miniredisd/miniredisd/store"
)

const (
	errLCSType   store.Error = "ERR The specified keys must contain string values"
	errLCSBoth   store.Error = "ERR If you want both the length and indexes, please just use IDX."
	errLCSTooBig store.Error = "ERR String too long for LCS"
	errLCSMemory store.Error = "ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len"
)

// lcsOptions are the options of LCS.
type lcsOptions struct {
	length, index, withLen bool
	minLen                 int64
}

// LCS key1 key2 [LEN] [IDX] [MINMATCHLEN min-match-len] [WITHMATCHLEN] (t_string.c: lcsCommand)
func lcs(c *Call) error {
	a, _, errA := c.DB.Str(c.Args[1])
	a = append([]byte(nil), a...) // the next Str may reuse the memory of a
	b, _, errB := c.DB.Str(c.Args[2])
	if errA != nil || errB != nil {
		return errLCSType
	}
	var o lcsOptions
	if err := o.parse(c.Args[3:]); err != nil {
		return err
	}
	if len(a) >= math.MaxUint32-1 || len(b) >= math.MaxUint32-1 {
		return errLCSTooBig
	}
	if cells := uint64(len(a)+1) * uint64(len(b)+1); cells > uint64(c.Cfg.ProtoMaxBulkLen)/4 {
		return errLCSMemory
	}
	m := newLCSMatrix(a, b)
	switch {
	case o.index:
		replyLCSIndex(c, m, &o)
	case o.length:
		c.Int(int64(m.at(len(a), len(b))))
	default:
		c.Bulk(m.common())
	}
	return nil
}

func (o *lcsOptions) parse(args [][]byte) (err error) {
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case is(a, "idx"):
			o.index = true
		case is(a, "len"):
			o.length = true
		case is(a, "withmatchlen"):
			o.withLen = true
		case is(a, "minmatchlen") && i+1 < len(args):
			i++
			if o.minLen, err = parseInt(args[i]); err != nil {
				return err
			}
		default:
			return errSyntax
		}
	}
	if o.index && o.length {
		return errLCSBoth
	}
	return nil
}

func replyLCSIndex(c *Call, m *lcsMatrix, o *lcsOptions) {
	c.Map(2)
	c.BulkString("matches")
	mark, n := c.Defer(), 0
	for i, j, length := m.run(len(m.a), len(m.b)); length > 0; i, j, length = m.run(i, j) {
		if int64(length) < o.minLen {
			continue
		}
		n++
		if o.withLen {
			c.Array(3)
		} else {
			c.Array(2)
		}
		c.Array(2)
		c.Int(int64(i))
		c.Int(int64(i + length - 1))
		c.Array(2)
		c.Int(int64(j))
		c.Int(int64(j + length - 1))
		if o.withLen {
			c.Int(int64(length))
		}
	}
	c.EndArray(mark, n)
	c.BulkString("len")
	c.Int(int64(m.at(len(m.a), len(m.b))))
}

// lcsMatrix is the table of dynamic programming: cell (i, j) holds the length of the longest
// common subsequence of a[:i] and b[:j].
type lcsMatrix struct {
	a, b  []byte
	cells []uint32 // len(a)+1 rows of len(b)+1 cells
}

func newLCSMatrix(a, b []byte) *lcsMatrix {
	width := len(b) + 1
	m := &lcsMatrix{a: a, b: b, cells: make([]uint32, (len(a)+1)*width)}
	for i, ca := range a {
		above, row := m.cells[i*width:(i+1)*width], m.cells[(i+1)*width:(i+2)*width]
		for j, cb := range b {
			if ca == cb {
				row[j+1] = above[j] + 1
			} else {
				row[j+1] = max(above[j+1], row[j])
			}
		}
	}
	return m
}

func (m *lcsMatrix) at(i, j int) uint32 { return m.cells[i*(len(m.b)+1)+j] }

// run walks back from cell (i, j) to the next run of bytes that a and b have in common. It returns
// where that run begins in a and in b, and its length, which is 0 if no run is left. Of several
// longest subsequences it finds the same one as Redis.
func (m *lcsMatrix) run(i, j int) (fromA, fromB, length int) {
	for i > 0 && j > 0 && m.a[i-1] != m.b[j-1] {
		if m.at(i-1, j) > m.at(i, j-1) {
			i--
		} else {
			j--
		}
	}
	for i > 0 && j > 0 && m.a[i-1] == m.b[j-1] {
		i, j, length = i-1, j-1, length+1
	}
	return i, j, length
}

// common returns the longest common subsequence.
func (m *lcsMatrix) common() []byte {
	left := int(m.at(len(m.a), len(m.b)))
	out := make([]byte, left)
	for i, j, length := m.run(len(m.a), len(m.b)); length > 0; i, j, length = m.run(i, j) {
		left -= length
		copy(out[left:], m.a[i:i+length])
	}
	return out
}
