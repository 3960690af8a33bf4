package server

import (
	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/store"
)

const (
	errSyntax   store.Error = "ERR syntax error"
	errPositive store.Error = "ERR value is out of range, must be positive"
)

// is compares an argument with a word, whatever case the client used.
func is(arg []byte, word string) bool { return ascii.EqualFold(arg, word) }

func errorf(format string, args ...any) error { return store.Errorf(format, args...) }
