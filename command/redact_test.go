package command

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSecretsAreShownToNobody(t *testing.T) {
	table := newTable(NewCommands())
	for request, want := range map[string]string{
		"auth user secret":                          "auth (redacted) (redacted)",
		"hello 3 setname auth auth user secret":     "hello 3 setname auth auth (redacted) (redacted)",
		"hello 3 setname n":                         "hello 3 setname n",
		"acl getuser u":                             "acl getuser (redacted)",
		"migrate h 1 k 0 9 auth secret copy":        "migrate h 1 k 0 9 auth (redacted) copy",
		"migrate h 1 k 0 9 copy auth2 u secret":     "migrate h 1 k 0 9 copy auth2 (redacted) (redacted)",
		"migrate h 1 k 0 9 auth":                    "migrate h 1 k 0 9 auth",
		"migrate h 1 k 0 9 auth secret keys auth k": "migrate h 1 k 0 9 auth (redacted) keys auth k",
		"get auth": "get auth",
	} {
		args := words(request)
		require.Equal(t, want, string(bytes.Join(redact(table.Lookup(args), args), []byte(" "))))
		require.Equal(t, request, string(bytes.Join(args, []byte(" "))), "the request itself stays")
	}
}
