package server

import (
	"fmt"
	"strconv"
)

// Report is the reply of INFO while it is written. Tools look for "name:" at the beginning of a
// line and for \r at its end. redis-cli --stat does so without checking.
type Report struct{ b []byte }

func (r *Report) Line(format string, args ...any) {
	r.b = fmt.Appendf(r.b, format+"\r\n", args...)
}

// Fields writes pairs of name and value. A value is a string, an int, an int64 or a uint64. Package
// fmt would take longer than all the rest of INFO, and would move every value to the heap.
func (r *Report) Fields(pairs ...any) {
	for i := 0; i+1 < len(pairs); i += 2 {
		r.b = append(append(r.b, pairs[i].(string)...), ':')
		switch v := pairs[i+1].(type) {
		case int:
			r.b = strconv.AppendInt(r.b, int64(v), 10)
		case int64:
			r.b = strconv.AppendInt(r.b, v, 10)
		case uint64:
			r.b = strconv.AppendUint(r.b, v, 10)
		default:
			r.b = append(r.b, v.(string)...)
		}
		r.b = append(r.b, "\r\n"...)
	}
}

// decimal writes a number with that many decimals, and a unit after it.
func (r *Report) decimal(name string, v float64, decimals int, unit string) {
	r.b = strconv.AppendFloat(append(append(r.b, name...), ':'), v, 'f', decimals, 64)
	r.b = append(append(r.b, unit...), "\r\n"...)
}

// memory writes a number of bytes, and a second time in a form for people.
func (r *Report) memory(name string, n int) {
	r.Fields(name, n)
	r.human(name, n)
}

// human writes a number of bytes as server.c: bytesToHuman does.
func (r *Report) human(name string, n int) {
	r.b = append(append(r.b, name...), "_human:"...)
	units := "KMGTP"
	if n < 1024 {
		r.b = append(strconv.AppendInt(r.b, int64(n), 10), "B\r\n"...)
		return
	}
	f := float64(n) / 1024
	for len(units) > 1 && f >= 1024 {
		f /= 1024
		units = units[1:]
	}
	r.b = append(strconv.AppendFloat(r.b, f, 'f', 2, 64), units[0], '\r', '\n')
}
