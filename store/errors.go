package store

// Error is an error whose text is a client's error reply, without the leading '-'.
type Error string

func (e Error) Error() string { return string(e) }

// The errors of the keyspace have Redis's texts (object.c, server.c: shared).
const (
	ErrWrongType   Error = "WRONGTYPE Operation against a key holding the wrong kind of value"
	ErrNotInt      Error = "ERR value is not an integer or out of range"
	ErrNotFloat    Error = "ERR value is not a valid float"
	ErrOverflow    Error = "ERR increment or decrement would overflow"
	ErrStringLimit Error = "ERR string exceeds maximum allowed size (proto-max-bulk-len)"
)
