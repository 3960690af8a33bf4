package command

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSyntaxGivesTheArgumentsOfCommandDocs(t *testing.T) {
	require.Equal(t, []Argument{
		{Name: "key", Display: "key", Type: "key"},
		{Name: "value", Display: "value", Type: "string"},
		{Name: "nx", Type: "oneof", Optional: true, Args: []Argument{
			{Name: "nx", Display: "nx", Type: "pure-token", Token: "NX"},
			{Name: "xx", Display: "xx", Type: "pure-token", Token: "XX"},
		}},
		{Name: "seconds", Type: "oneof", Optional: true, Args: []Argument{
			{Name: "seconds", Display: "seconds", Type: "integer", Token: "EX"},
			{Name: "keepttl", Display: "keepttl", Type: "pure-token", Token: "KEEPTTL"},
		}},
	}, ParseSyntax("key value [NX | XX] [EX seconds | KEEPTTL]"))
	require.Equal(t, []Argument{
		{Name: "key", Display: "key", Type: "key", Multiple: true},
		{Name: "limit", Type: "block", Token: "LIMIT", Optional: true, Args: []Argument{
			{Name: "offset", Display: "offset", Type: "integer"}, {Name: "count", Display: "count", Type: "integer"},
		}},
		{
			Name: "pattern", Display: "pattern", Type: "pattern", Token: "GET",
			Optional: true, Multiple: true, MultipleToken: true,
		},
	}, ParseSyntax("key ... [LIMIT offset count] [GET+ pattern ...]"))
	require.Equal(t, []Argument{
		{Name: "score", Type: "block", Multiple: true, Args: []Argument{
			{Name: "score", Display: "score", Type: "double"}, {Name: "member", Display: "member", Type: "string"},
		}},
		{Name: "full", Type: "block", Optional: true, Args: []Argument{
			{Name: "full", Display: "full", Type: "pure-token", Token: "FULL"},
			{Name: "count", Display: "count", Type: "integer", Token: "COUNT", Optional: true},
		}},
	}, ParseSyntax("(score:double member) ... [FULL [COUNT count]]"))
	require.Empty(t, ParseSyntax(""))
}

// Names, versions and what people see are facts that clients and tools read.
func TestSyntaxGivesNamesAndVersions(t *testing.T) {
	require.Equal(t, []Argument{
		{Name: "condition", Type: "oneof", Since: "2.6.12", Optional: true, Args: []Argument{
			{Name: "nx", Display: "nx", Type: "pure-token", Token: "NX"},
			{Name: "change", Display: "change", Type: "pure-token", Token: "CH", Since: "3.0.2"},
		}},
		{Name: "count", Display: "count", Type: "integer", Token: "COUNT", Since: "6.2.0", Optional: true},
	}, ParseSyntax("[condition@2.6.12: NX | change@3.0.2:CH] [COUNT count@6.2.0]"))
	require.Equal(t, []Argument{
		{Name: "addr", Display: "ip:port", Type: "string", DeprecatedSince: "2.8.12"},
		{Name: "by", Display: "pattern", Type: "pattern", Token: "BY", KeySpec: 1},
	}, ParseSyntax("addr@-2.8.12/ip:port BY by#1:pattern/pattern"))
	offset := Argument{Name: "offset", Display: "offset", Type: "integer"}
	count := Argument{Name: "count", Display: "count", Type: "integer", Token: "COUNT"}
	anyOf := Argument{Name: "any", Display: "any", Type: "pure-token", Token: "ANY", Optional: true}
	require.Equal(t, []Argument{
		{Name: "limit", Type: "block", Token: "LIMIT", Since: "6.2.0", Args: []Argument{offset, anyOf}},
		{Name: "count-block", Type: "block", Args: []Argument{count, anyOf}},
		{Name: "get", Type: "block", Token: "GET", MultipleToken: true, Multiple: true, Args: []Argument{offset, offset}},
	}, ParseSyntax("(limit@6.2.0: LIMIT offset [ANY]) (count-block: (COUNT count) [ANY]) (get: GET+ offset offset) ..."))
}

func TestUsageIsTheSyntaxThatPeopleWrite(t *testing.T) {
	for syntax, usage := range map[string]string{
		"key value [condition@2.6.12: NX | XX] [change@3.0.2:CH]": "key value [NX | XX] [CH]",
		"[count-block: (COUNT count) [ANY@6.2.0]]":                "[COUNT count [ANY]]",
		"[BY by#1@2.0.0:pattern/pattern] addr@-2.8.12/ip:port":    "[BY pattern] ip:port",
		"(data: score:double member) ... [GET+ pattern ...]":      "(score member) ... [GET pattern ...]",
	} {
		require.Equal(t, usage, (&Command{Row: Row{Syntax: syntax}}).Usage())
	}
}
