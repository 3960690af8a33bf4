package archtest

import (
	"crypto/tls"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/trace"
	"github.com/miniredisd/miniredisd/ioworkers"
)

// A thread that borrows a Conn must not reach the rest of the server through it. So a Conn has no
// callback, no map, no channel, and no interface that could hide one. Its types are those of ioworkers
// and resp. Types that are numbers may come from any package. A tls.Conn is an exception: it has
// interfaces, but it was made before the server knew the client, and knows only its socket.
func TestAConnLeadsNowhere(t *testing.T) {
	reached := map[reflect.Type]bool{}
	walk(t, reflect.TypeFor[ioworkers.Conn](), "Conn", reached)
	require.Greater(t, len(reached), 10, "the walk has missed most of Conn")
}

// The same is true of everything that the threads are started with. A row of a trace is an exception: it
// calls a clock, and its package imports nothing of ours.
func TestThePoolLeadsNowhere(t *testing.T) {
	reached := map[reflect.Type]bool{}
	walk(t, reflect.TypeFor[ioworkers.Pool](), "Pool", reached)
	require.True(t, reached[reflect.TypeFor[ioworkers.Conn]()], "the walk has missed what threads work on")
}

// walk fails the test if typ leads out of ioworkers and resp. reached has the types that it has seen.
func walk(t *testing.T, typ reflect.Type, at string, reached map[reflect.Type]bool) {
	if reached[typ] || typ == reflect.TypeFor[trace.Thread]() || typ == reflect.TypeFor[tls.Conn]() {
		return
	}
	reached[typ] = true
	switch typ.Kind() {
	case reflect.Struct:
		home := strings.TrimPrefix(typ.PkgPath(), module)
		require.Contains(t, []string{"ioworkers", "resp", "sync/atomic", ""}, home, "%s is of a foreign package: %s",
			at, typ)
		for i := range typ.NumField() {
			walk(t, typ.Field(i).Type, at+"."+typ.Field(i).Name, reached)
		}
	case reflect.Pointer, reflect.Slice, reflect.Array:
		walk(t, typ.Elem(), at+"[]", reached)
	case reflect.Func, reflect.Map, reflect.Chan, reflect.Interface, reflect.UnsafePointer:
		require.Fail(t, "a thread could get at the rest of the server", "%s is a %s", at, typ)
	}
}
