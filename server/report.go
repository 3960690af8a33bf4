package server

import (
	"fmt"
	"strconv"
)

// Report is the reply of INFO while it is written. Tools look for "name:" at the beginning of a
// line and for \r at its end. redis-cli --stat does so without checking.
type Report struct{ B []byte }

// Line writes a line.
func (r *Report) Line(format string, args ...any) {
	r.B = fmt.Appendf(r.B, format+"\r\n", args...)
}

// Fields writes pairs of name and value. A value is a string, an int, an int64 or a uint64. Package
// fmt would take longer than all the rest of INFO, and would move every value to the heap.
func (r *Report) Fields(pairs ...any) {
	for i := 0; i+1 < len(pairs); i += 2 {
		r.B = append(append(r.B, pairs[i].(string)...), ':')
		switch v := pairs[i+1].(type) {
		case int:
			r.B = strconv.AppendInt(r.B, int64(v), 10)
		case int64:
			r.B = strconv.AppendInt(r.B, v, 10)
		case uint64:
			r.B = strconv.AppendUint(r.B, v, 10)
		default:
			r.B = append(r.B, v.(string)...)
		}
		r.B = append(r.B, "\r\n"...)
	}
}

// Decimal writes a number with that many decimals, and a unit after it.
func (r *Report) Decimal(name string, v float64, decimals int, unit string) {
	r.B = strconv.AppendFloat(append(append(r.B, name...), ':'), v, 'f', decimals, 64)
	r.B = append(append(r.B, unit...), "\r\n"...)
}

// Memory writes a number of bytes, and a second time in a form for people.
func (r *Report) Memory(name string, n int) {
	r.Fields(name, n)
	r.Human(name, n)
}

// Human writes a number of bytes as server.c: bytesToHuman does.
func (r *Report) Human(name string, n int) {
	r.B = append(append(r.B, name...), "_human:"...)
	units := "KMGTP"
	if n < 1024 {
		r.B = append(strconv.AppendInt(r.B, int64(n), 10), "B\r\n"...)
		return
	}
	f := float64(n) / 1024
	for len(units) > 1 && f >= 1024 {
		f /= 1024
		units = units[1:]
	}
	r.B = append(strconv.AppendFloat(r.B, f, 'f', 2, 64), units[0], '\r', '\n')
}
