package doctor

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOneTokenForTwoClientsIsFoundByTheSecondRelease(t *testing.T) {
	const (
		finds = `
			3000 ?2 > GET lock:a = nil
			3000 ?2 EVAL UNLOCK 1 lock:a shared-token-1 = 0`
		releases = `
			2000 ?1 > GET lock:a = shared-token-1
			2000 ?1 > DEL lock:a = 1
			2000 ?1 EVAL UNLOCK 1 lock:a shared-token-1 = 1`
		takes = `
			1000 ?1 SET lock:a shared-token-1 NX PX 10000 = OK`
		tries = `
			1500 ?2 SET lock:a shared-token-1 NX PX 10000 = nil`
	)
	for _, c := range []struct {
		what, history string
		wrong         bool
	}{
		{"two objects of one lock", takes + tries + releases + finds, true},
		{"with two names", strings.NewReplacer("?1", "a1", "?2", "b1").Replace(takes + tries + releases + finds), true},
		{"by DEL", takes + tries + releases + "\n3000 ?2 DEL lock:a = 0", true},
		{"by DELIFEQ", takes + tries + "\n2000 ?1 DELIFEQ lock:a shared-token-1 = 1\n" +
			"3000 ?2 DELIFEQ lock:a shared-token-1 = 0", true},
		{"the lease of the first was over", takes + `
			11001 expired lock:a
			12000 ?2 SET lock:a shared-token-1 NX PX 10000 = OK` +
			strings.ReplaceAll(releases, "2000", "13000") + strings.ReplaceAll(finds, "3000", "14000"), true},
		{"a number", strings.ReplaceAll(takes+tries, "shared-token-1", "1") +
			"\n2000 ?1 DEL lock:a = 1\n3000 ?2 DEL lock:a = 0", true},

		{"the connections of one client", strings.ReplaceAll(takes+tries+releases+finds, "?", "a"), false},
		{"sent again, because the connection had ended", takes + "\n1400 ?1 gone" + tries + `
			2000 ?2 > GET lock:a = shared-token-1
			2000 ?2 > DEL lock:a = 1
			2000 ?2 EVAL UNLOCK 1 lock:a shared-token-1 = 1
			3000 ?3 > GET lock:a = nil
			3000 ?3 EVAL UNLOCK 1 lock:a shared-token-1 = 0`, false},
		{"a release that is sent again over another connection", takes + releases + finds, false},
		{"one after the other", takes + tries + releases + `
			2500 ?2 SET lock:a shared-token-1 NX PX 10000 = OK
			3000 ?2 > GET lock:a = shared-token-1
			3000 ?2 > DEL lock:a = 1
			3000 ?2 EVAL UNLOCK 1 lock:a shared-token-1 = 1`, false},
		{"one that tries and gives up", takes + tries + releases, false},
		{"two tokens", takes + strings.ReplaceAll(tries, "1 NX", "2 NX") + releases +
			strings.ReplaceAll(finds, "token-1", "token-2"), false},
	} {
		t.Run(c.what, func(t *testing.T) {
			d := New(nil, nil, 0)
			play(t, d, c.history)
			all := d.Findings(4000)
			if !c.wrong {
				require.Empty(t, all)
				return
			}
			require.NotEmpty(t, all)
			require.Equal(t, TokenNotUnique, all[0].Pattern)
			require.Len(t, all[0].Steps, 4)
		})
	}
}
