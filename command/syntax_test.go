package command

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSyntaxGivesTheArgumentsOfCommandDocs(t *testing.T) {
	require.Equal(t, []Argument{
		{Name: "key", Type: "key"},
		{Name: "value", Type: "string"},
		{Name: "nx", Type: "oneof", Optional: true, Args: []Argument{
			{Name: "nx", Type: "pure-token", Token: "NX"}, {Name: "xx", Type: "pure-token", Token: "XX"},
		}},
		{Name: "seconds", Type: "oneof", Optional: true, Args: []Argument{
			{Name: "seconds", Type: "integer", Token: "EX"}, {Name: "keepttl", Type: "pure-token", Token: "KEEPTTL"},
		}},
	}, ParseSyntax("key value [NX | XX] [EX seconds | KEEPTTL]"))
	require.Equal(t, []Argument{
		{Name: "key", Type: "key", Multiple: true},
		{Name: "limit", Type: "block", Token: "LIMIT", Optional: true, Args: []Argument{
			{Name: "offset", Type: "integer"}, {Name: "count", Type: "integer"},
		}},
		{Name: "pattern", Type: "pattern", Token: "GET", Optional: true, Multiple: true, MultipleToken: true},
	}, ParseSyntax("key ... [LIMIT offset count] [GET+ pattern ...]"))
	require.Equal(t, []Argument{
		{Name: "score", Type: "block", Multiple: true, Args: []Argument{
			{Name: "score", Type: "double"}, {Name: "member", Type: "string"},
		}},
		{Name: "full", Type: "block", Optional: true, Args: []Argument{
			{Name: "full", Type: "pure-token", Token: "FULL"},
			{Name: "count", Type: "integer", Token: "COUNT", Optional: true},
		}},
	}, ParseSyntax("(score:double member) ... [FULL [COUNT count]]"))
	require.Empty(t, ParseSyntax(""))
}
