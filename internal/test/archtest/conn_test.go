package archtest

import (
	"reflect"
	"strings"
	"testing"

	"github.com/miniredisd/miniredisd/internal/trace"
	"github.com/miniredisd/miniredisd/ioworkers"
	"github.com/stretchr/testify/require"
)

// A thread that is lent a Conn must not get anywhere from it: no callback to call,
// no shared map or channel, no interface that could hide one, and no type but those
// of ioworkers and resp. Numbers of other packages lead nowhere and are let through.
func TestAConnLeadsNowhere(t *testing.T) {
	reached := map[reflect.Type]bool{}
	walk(t, reflect.TypeFor[ioworkers.Conn](), "Conn", reached)
	require.Greater(t, len(reached), 10, "the walk has missed most of Conn")
}

// Nor from what the threads are started with. A row of a trace is let through: it asks a
// clock for the time, and its package knows no other of ours.
func TestThePoolLeadsNowhere(t *testing.T) {
	reached := map[reflect.Type]bool{}
	walk(t, reflect.TypeFor[ioworkers.Pool](), "Pool", reached)
	require.True(t, reached[reflect.TypeFor[ioworkers.Conn]()], "the walk has missed what threads work on")
}

func walk(t *testing.T, typ reflect.Type, at string, reached map[reflect.Type]bool) {
	if reached[typ] || typ == reflect.TypeFor[trace.Thread]() {
		return
	}
	reached[typ] = true
	switch typ.Kind() {
	case reflect.Struct:
		home := strings.TrimPrefix(typ.PkgPath(), module)
		require.Contains(t, []string{"ioworkers", "resp", "sync/atomic", ""}, home, "%s is of a foreign package: %s", at, typ)
		for i := range typ.NumField() {
			walk(t, typ.Field(i).Type, at+"."+typ.Field(i).Name, reached)
		}
	case reflect.Pointer, reflect.Slice, reflect.Array:
		walk(t, typ.Elem(), at+"[]", reached)
	case reflect.Func, reflect.Map, reflect.Chan, reflect.Interface, reflect.UnsafePointer:
		require.Fail(t, "a thread could get at the rest of the server", "%s is a %s", at, typ)
	}
}
