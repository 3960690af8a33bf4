package redistest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/resp"
)

func TestVersionsAreComparedNumberByNumber(t *testing.T) {
	for _, c := range []struct {
		version, than string
		want          bool
	}{
		{"7.0.15", "7.2", true}, {"7.2", "7.0.15", false},
		{"7.2.6", "7.2", false}, {"7.2", "7.2.6", true}, {"7.2", "7.2.0", false}, {"7.2.0", "7.2", false},
		{"7.2.6", "7.10", true}, {"10.0", "8.4", false}, {"7.2.6", "8.4.0", true}, {"8.4.1", "8.4.0", false},
	} {
		require.Equal(t, c.want, Older(c.version, c.than), "%s < %s", c.version, c.than)
	}
}

func TestVersionsOfSubcommandsAreFoundToo(t *testing.T) {
	text := func(s string) resp.Value { return resp.Value{Kind: '$', Str: s} }
	list := func(v ...resp.Value) resp.Value { return resp.Value{Kind: '*', Elems: v} }
	docs := list(
		text("delex"), list(text("summary"), text("since"), text("since"), text("8.4.0")),
		text("client"), list(text("since"), text("2.4.0"), text("subcommands"),
			list(text("client|setinfo"), list(text("since"), text("7.2.0")))))
	require.Equal(t, map[string]string{"delex": "8.4.0", "client": "2.4.0", "client|setinfo": "7.2.0"},
		versions(docs.Elems))
}
