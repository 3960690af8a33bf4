package doctor

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/lab/holders"
)

// Keys are created by NX for many reasons. These uses are all right.
func TestKeysThatAreNotLocksGetNoFinding(t *testing.T) {
	for what, history := range map[string]string{
		"a cache that another client invalidates": `
			1000 a1 SET user:17:profile {"id":17,"mail":"a@example.com"} NX PX 3000 = OK
			1100 b1 SET user:17:profile {"id":17,"mail":"b@example.com"} NX PX 3000 = nil
			1200 c1 DEL user:17:profile = 1
			1300 b1 SET user:17:profile {"id":17,"mail":"b@example.com"} NX PX 3000 = OK
			1400 c1 PEXPIRE user:17:profile 9000 = 1
			1500 a1 GET user:17:profile = {"id":17,"mail":"b@example.com"}
			1600 a1 DEL user:17:profile = 1`,
		"a cache that is invalidated when it has expired": `
			1000 a1 SET page:17 https://example.com/p/17?q=1234567 NX PX 500 = OK
			1501 expired page:17
			1600 a1 DEL page:17 = 0`,
		"a cache of something binary": `
			1000 a1 SET session:17 ` + "\x82\xa4name\xa5alice\xa2id\xcd\x01" + ` NX PX 500 = OK
			1100 b1 DEL session:17 = 1`,
		"a default that every process sets": `
			1000 a1 SETNX schema:version 17 = 1
			1000 b1 SETNX schema:version 17 = 0
			1000 c1 SETNX schema:version 18 = 0
			3000 a1 gone`,
		"a counter that is made before each use": `
			1000 a1 SETNX visits 0 = 1
			1100 b1 SETNX visits 0 = 0
			1200 b1 SETNX visits 0 = 0
			1300 b1 SETNX visits 0 = 0
			9000 b1 SETNX visits 0 = 0
			9001 a1 EXPIRE visits 60 = 1`,
		"when somebody was seen first": `
			1000 a1 SETNX first:17 1700000000000000 = 1
			1100 b1 SETNX first:17 1700000001000000 = 0
			1200 b1 SETNX first:17 1700000002000000 = 0
			1300 b1 SETNX first:17 1700000003000000 = 0`,
		"a name that is taken for good": `
			1000 a1 SETNX mail:bob@example.com 550e8400-e29b-41d4-a716-446655440000 = 1
			1100 b1 SETNX mail:bob@example.com 6fa459ea-ee8a-3ca4-894e-db77e160355e = 0
			1200 a1 gone`,
		"and given back": `
			1000 a1 SETNX mail:bob@example.com 550e8400-e29b-41d4-a716-446655440000 = 1
			4000 a1 DEL mail:bob@example.com = 1
			4001 b1 SETNX mail:bob@example.com 6fa459ea-ee8a-3ca4-894e-db77e160355e = 1
			4002 c1 DEL mail:bob@example.com = 1`,
		"a throttle": throttle(),
		"a block, a clock, a leaderboard and a release": `
			1000 a1 SETNX block:17 1 = 1
			1000 a1 SETNX clock:offset 1 = 1
			1000 a1 SETNX leaderboard:daily 1 = 1
			1000 a1 SETNX release:current 1 = 1
			1000 a1 SET lockout:user:17 1 NX EX 60 = OK
			1001 b1 DEL lockout:user:17 = 1
			1100 a1 gone`,
	} {
		t.Run(what, func(t *testing.T) {
			d := New(nil, NewLedger(1, holders.KeepOnline), 0)
			play(t, d, history)
			require.Empty(t, found(d, 99000))
		})
	}
}

func throttle() string {
	var b strings.Builder
	b.WriteString("1000 a1 SET report:17 1 NX PX 5000 = OK\n")
	for range 300 {
		fmt.Fprintln(&b, "1001 a1 SET report:17 1 NX PX 5000 = nil")
		fmt.Fprintln(&b, "1001 b1 SET report:17 1 NX PX 5000 = nil")
	}
	return b.String()
}
