package command

import (
	"fmt"

	"github.com/miniredisd/miniredisd/store"
)

// Errors in Redis's words. More stand beside the commands that alone use them.
const (
	errSyntax       store.Error = "ERR syntax error"
	errNotInt                   = store.ErrNotInt
	errNotFloat                 = store.ErrNotFloat
	errWrongType                = store.ErrWrongType
	errNoSuchKey    store.Error = "ERR no such key"
	errOutOfRange   store.Error = "ERR index out of range"
	errNaN          store.Error = "ERR increment would produce NaN or Infinity"
	errPositive     store.Error = "ERR value is out of range, must be positive"
	errOffset       store.Error = "ERR offset is out of range"
	errDecrOverflow store.Error = "ERR decrement would overflow"
	errStringLimit              = store.ErrStringLimit
	errSameObject   store.Error = "ERR source and destination objects are the same"
	errDBIndex      store.Error = "ERR DB index is out of range"
	errIntRange     store.Error = "ERR value is out of range, value must between -2147483648 and 2147483647"
	errNoAuth       store.Error = "NOAUTH Authentication required."
	errOOM          store.Error = "OOM command not allowed when used memory > 'maxmemory'."
	errDebugRefused store.Error = "ERR DEBUG command not allowed. If the enable-debug-command option is set to \"local\", you can run it from a local connection, otherwise you need to set this option in the configuration file, and then restart the server."
)

// errorf makes an error with arguments; the text is the whole reply line.
func errorf(format string, args ...any) error {
	return store.Error(fmt.Sprintf(format, args...))
}

func errArity(name string) error {
	return errorf("ERR wrong number of arguments for '%s' command", name)
}
