package resp

import (
	"strconv"
	"strings"
)

// appendHeader appends `<mark><n>\r\n`. Most headers of a server have a count or length of one or two
// digits, so these are written without strconv.
func appendHeader(b []byte, mark byte, n int) []byte {
	if uint(n) < 10 {
		return append(b, mark, byte('0'+n), '\r', '\n')
	}
	if uint(n) < 100 {
		return append(b, mark, byte('0'+n/10), byte('0'+n%10), '\r', '\n')
	}
	return append(strconv.AppendInt(append(b, mark), int64(n), 10), '\r', '\n')
}

// appendLine appends a simple type. A line end inside text would break the protocol, so CR and LF
// become spaces.
func appendLine(b []byte, mark byte, text string) []byte {
	b = append(b, mark)
	from := len(b)
	b = append(b, text...)
	if strings.IndexByte(text, '\r') >= 0 || strings.IndexByte(text, '\n') >= 0 {
		for i, c := range b[from:] {
			if isLineEnd(c) {
				b[from+i] = ' '
			}
		}
	}
	return append(b, '\r', '\n')
}

func isLineEnd(c byte) bool { return c == '\r' || c == '\n' }
