package resp

// shortLength reads `$<n>\r\n` for an n of one or two digits, which most arguments have. It returns n and the
// number of bytes, or -1. The compiler inlines it: a call of header for each argument would double the cost
// of a request. A reader can skip it: header reads the same.
func shortLength(h *[6]byte) (n, size int) {
	tens, ones := int(h[1]-'0'), int(h[2]-'0')
	switch {
	case h[0] == '$' && h[2] == '\r' && tens < 10:
		return tens, 4
	case h[0] == '$' && h[3] == '\r' && uint(tens-1) < 9 && ones < 10:
		return tens*10 + ones, 5
	}
	return -1, 0
}
