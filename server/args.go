package server

import (
	"fmt"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/store"
)

const (
	errSyntax   store.Error = "ERR syntax error"
	errNegative store.Error = "ERR timeout is negative"
	errTimeout  store.Error = "ERR timeout is not an integer or out of range"
	errPositive store.Error = "ERR value is out of range, must be positive"
)

// is compares an argument with a word, whatever case the client used.
func is(arg []byte, word string) bool { return strings.EqualFold(string(arg), word) }

func errorf(format string, args ...any) error { return store.Error(fmt.Sprintf(format, args...)) }

// parseTimeout reads milliseconds (timeout.c: getTimeoutFromObjectOrReply).
func parseTimeout(arg []byte) (time.Duration, error) {
	ms, ok := store.ParseInt(arg)
	switch {
	case !ok || ms > int64(time.Duration(1<<63-1)/time.Millisecond):
		return 0, errTimeout
	case ms < 0:
		return 0, errNegative
	}
	return time.Duration(ms) * time.Millisecond, nil
}
