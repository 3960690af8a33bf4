package doctor

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestARenewalWithoutAnExpiryIsFoundInLocksOnly(t *testing.T) {
	for _, h := range []struct {
		what, history string
		want          []string // empty for clients that are right
	}{
		{"by SET IFEQ without an expiry", `
				1000 a1 SET lock:a 0123456789abcdef NX PX 30000 = OK
				2000 a1 SET lock:a 0123456789abcdef IFEQ 0123456789abcdef = OK
				9000 a1 DELIFEQ lock:a 0123456789abcdef = 1`, []string{"renewal-drops-ttl lock:a 9701"}},
		{"with GET, by another connection of its client", `
				1000 a1 SET job 0123456789abcdef NX PX 30000 = OK
				2000 a2 SET job 0123456789abcdef IFEQ 0123456789abcdef GET = 0123456789abcdef`,
			[]string{"renewal-drops-ttl job 9702"}},
		{"by a plain SET", `
				1000 a1 SET lock:a 0123456789abcdef NX PX 30000 = OK
				2000 a1 SET lock:a 0123456789abcdef XX = OK`, []string{"renewal-drops-ttl lock:a 9701"}},
		{"a condition that does not hold", `
				1000 a1 SET lock:a 0123456789abcdef NX PX 30000 = OK
				2000 b1 SET lock:a fedcba9876543210 IFEQ fedcba9876543210 = nil`, nil},
		{"a renewal with its lease", `
				1000 a1 SET lock:a 0123456789abcdef NX PX 30000 = OK
				2000 a1 SET lock:a 0123456789abcdef IFEQ 0123456789abcdef PX 30000 = OK
				3000 a1 SET lock:a 0123456789abcdef IFEQ 0123456789abcdef KEEPTTL = OK
				9000 a1 DELIFEQ lock:a 0123456789abcdef = 1`, nil},
		{"a cache", `
				1000 a1 SET page hello NX PX 30000 = OK
				2000 a1 SET page hello = OK`, nil},
	} {
		t.Run(h.what, func(t *testing.T) {
			d := New(nil, nil, 0)
			play(t, d, h.history)
			require.Equal(t, append([]string{}, h.want...), found(d, 5000))
		})
	}
}
