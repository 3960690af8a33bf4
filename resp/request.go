package resp

// AppendRequest appends one request as clients send it: an array of bulk strings.
//
//	AppendRequest(nil, "GET", "k")    *2\r\n$3\r\nGET\r\n$1\r\nk\r\n
//
// It is the only encoder of requests, for clients, for MIGRATE and for tests. It allocates only if dst is
// too small.
func AppendRequest[word string | []byte](dst []byte, words ...word) []byte {
	dst = appendHeader(dst, '*', len(words))
	for _, w := range words {
		dst = append(append(appendHeader(dst, '$', len(w)), w...), '\r', '\n')
	}
	return dst
}

// RequestLen returns how many bytes AppendRequest appends: 0 for no words.
func RequestLen(words [][]byte) (n int) {
	if len(words) == 0 {
		return 0
	}
	n = headerLen(len(words))
	for _, w := range words {
		n += headerLen(len(w)) + len(w) + len("\r\n")
	}
	return n
}

// headerLen is the length of a type's mark, a count and the end of a line.
func headerLen(count int) int {
	n := len("$0\r\n")
	for ; count >= 10; count /= 10 {
		n++
	}
	return n
}
