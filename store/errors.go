package store

import (
	"bytes"
	"fmt"
	"strings"
)

// Error is an error whose text is a client's error reply, without the leading '-'.
type Error string

func (e Error) Error() string { return string(e) }

// Errorf formats an error. Texts among args end before their first zero byte, as a client's arguments do
// in Redis's errors, which printf writes.
func Errorf(format string, args ...any) Error {
	for i, a := range args {
		switch a := a.(type) {
		case []byte:
			args[i], _, _ = bytes.Cut(a, []byte{0})
		case string:
			args[i], _, _ = strings.Cut(a, "\x00")
		}
	}
	return Error(fmt.Sprintf(format, args...))
}

// The errors of the keyspace have Redis's texts (object.c, server.c: shared).
const (
	ErrWrongType   Error = "WRONGTYPE Operation against a key holding the wrong kind of value"
	ErrNotInt      Error = "ERR value is not an integer or out of range"
	ErrNotFloat    Error = "ERR value is not a valid float"
	ErrOverflow    Error = "ERR increment or decrement would overflow"
	ErrStringLimit Error = "ERR string exceeds maximum allowed size (proto-max-bulk-len)"
)
