package ascii

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheNearestNameIsWhatWasMeant(t *testing.T) {
	names := []string{"FAULT", "HOLD", "LOG", "PUSH", "CLOCK", "o", "maxmemory", "maxclients"}
	for word, want := range map[string]string{
		"FALUT":      "FAULT", // neighbours swapped
		"psuh":       "PUSH",
		"LOGS":       "LOG", // one too many
		"CLOK":       "CLOCK",
		"maxmemry":   "maxmemory",
		"max-memory": "maxmemory",
		"FAULT":      "FAULT",
		"":           "",
		"NOSUCH":     "",
		"verdict":    "",
		"XYZ":        "",
		"x":          "",
	} {
		require.Equal(t, want, Nearest(word, names), word)
	}
	require.Empty(t, Nearest("x", nil))
}
