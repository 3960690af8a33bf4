package verdict

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// A client that calls WAIT behind its grant believes in its lock when enough replicas have it.
func TestLocksThatAreConfirmedByWaitAreJudged(t *testing.T) {
	const (
		takes    = "\n1 1000 a SET lock:x token-a NX PX 30000 = OK @30"
		promoted = "\n2 1500 promoted 1 A @0"
		next     = "\n2 2000 b SET lock:x token-b NX PX 30000 = OK @60"
		undoes   = "\n1 1200 a DEL lock:x = 1 @60"
	)
	for name, c := range map[string]struct{ text, result, shows string }{
		"confirmed, and the promoted replica has it": {takes + "\n1 1100 a WAIT 1 100 = 1" + `
			2 1500 promoted 1 A @30
			2 2000 b SET lock:x token-b NX PX 30000 = nil @30
			2 3000 a DEL lock:x = 1 @60
			2 3100 b SET lock:x token-b NX PX 30000 = OK @90`, "safe", ""},
		"confirmed by another replica than the promoted one": {
			takes + "\n1 1100 a WAIT 1 100 = 1" + promoted + next, "two-holders", "never replicated"},
		"not confirmed": {
			takes + "\n1 1100 a WAIT 1 100 = 0" + promoted + next, "undecided", "did not tell of enough replicas"},
		"not confirmed, and given back": {
			takes + "\n1 1100 a WAIT 1 100 = 0" + undoes + promoted + next, "safe", ""},
		"given back after the next one has it": {
			takes + promoted + next + "\n1 2100 a WAIT 1 100 = 0\n1 2200 a DEL lock:x = 1 @60", "undecided", "WAIT 1 100"},
		"the promotion ends the wait": {
			takes + promoted + next + "\n1 2100 a WAIT 1 100 = -UNBLOCKED x", "undecided", "did not tell of enough replicas"},
		"the reply to WAIT is lost": {
			takes + "\n1 1100 a WAIT 1 100 = 1 lost" + promoted + next, "undecided", "did not tell of enough replicas"},
		"it asks for no replica": {
			takes + "\n1 1100 a WAIT 0 100 = 0" + promoted + next, "two-holders", "never replicated"},
		"another connection waits": {
			takes + "\n1 1100 m WAIT 1 100 = 0" + promoted + next, "two-holders", "never replicated"},
		"it has used the lock before it waits": {
			takes + "\n1 1050 a PEXPIRE lock:x 30000 = 1 @60\n1 1100 a WAIT 1 100 = 0" + promoted + next, "two-holders",
			"never replicated"},
		"and then it renews all the same": {
			takes + "\n1 1100 a WAIT 1 100 = 0\n1 1200 a PEXPIRE lock:x 30000 = 1 @60" + promoted + next, "two-holders",
			"never replicated"},
		"it is confirmed when the new master has granted it": {
			takes + promoted + next + "\n1 2100 a WAIT 1 100 = 1", "two-holders", ""},
		"it has used other keys before it waits": {takes + "\n1 1050 a unseen" + promoted + `
			2 2000 b SET lock:x token-b NX PX 30000 = OK @60
			2 2050 b DEL lock:x = 1 @90
			1 2100 a WAIT 1 100 = 0
			1 2200 a DEL lock:x = 1 @60`, "two-holders", "never replicated"},
		"no reply comes": {takes + "\n1 1100 a WAIT 1 5000 held" + promoted + next, "undecided", "WAIT 1 5000"},
		"no reply comes before the verdict, and then one does": {
			takes + "\n1 1100 a WAIT 1 5000 held" + promoted + next + "\n1 2100 a WAIT 1 5000 = 1", "two-holders", ""},
		"it asks twice": {takes + "\n1 1100 a WAIT 1 100 = 0\n1 1200 a WAIT 1 100 = 1" + promoted + next,
			"two-holders", "never replicated"},
		"it asks twice in vain": {takes + "\n1 1100 a WAIT 1 100 = 0\n1 1200 a WAIT 1 100 = 0" + promoted + next,
			"undecided", "did not tell of enough replicas"},
		"it has the lock, and asks again for more": {takes + `
			1 1100 a WAIT 1 100 = 1` + promoted + `
			2 2000 b SET lock:x token-b NX PX 30000 = OK @60
			2 2050 b DEL lock:x = 1 @90
			1 2100 a WAIT 2 100 = 1
			1 2200 a DEL lock:x = 1 @60`, "two-holders", "never replicated"},
		"not confirmed, and it reads the token before it gives back": {takes + promoted + next + `
			1 2100 a WAIT 1 100 = 0
			1 2150 a GET lock:x = token-a
			1 2200 a DEL lock:x = 1 @60`, "undecided", "did not tell of enough replicas"},
		"not confirmed, and another one is refused meanwhile": {takes + `
			1 1050 c SET lock:x token-c NX PX 30000 = nil
			1 1100 a WAIT 1 100 = 0` + undoes + promoted + next, "safe", ""},
		"it asks twice, and another one has held the lock between the replies": {takes + `
			1 1100 a WAIT 1 100 = 0` + promoted + next + `
			2 2050 b DEL lock:x = 1 @90
			1 2100 a WAIT 1 100 = 1`, "undecided", "did not tell of enough replicas"},
		"it renews, and another one has held the lock before": {takes + `
			1 1100 a WAIT 1 100 = 0` + promoted + next + `
			2 2050 b DEL lock:x = 1 @90
			1 2100 a PEXPIRE lock:x 30000 = 1 @60`, "undecided", "did not tell of enough replicas"},
		"the reply is late, and another one has held the lock meanwhile": {takes + `
			1 1100 a WAIT 1 100 = 1 late` + promoted + next + `
			2 2050 b DEL lock:x = 1 @90
			1 2100 a DEL lock:x = 1 @60`, "undecided", "the reply to WAIT behind the grant was late"},
		"the reply is late, and its client goes on": {takes + `
			1 1100 a WAIT 1 100 = 1 late
			1 1200 a PEXPIRE lock:x 30000 = 1 @60` + promoted + next, "two-holders", "never replicated"},
		"it may have given the lock up before the reply": {takes + `
			1 1050 a SET lock:y token-y NX PX 30000 = nil @30
			2 1060 a DEL lock:x = -READONLY x refused` + promoted + next + `
			1 2100 a WAIT 0 100 = 0`, "undecided", ""},
		"the lease is over before the reply": {`
			1 1000 a SET lock:x token-a NX PX 30000 = OK @30
			1 1100 crash / B @0
			2 1150 synced 1 B full @0
			1 1200 b SET lock:x token-b NX PX 500 = OK @30
			1 1800 b WAIT 0 100 = 0`, "safe", ""},
		"it asks for two locks, and too few have them": {takes + `
			1 1050 a SET lock:y token-y NX PX 30000 = OK @60
			1 1100 a WAIT 1 100 = 0` + promoted + next, "undecided", "did not tell of enough replicas"},
		"it asks for two locks, and is told when another one has held the first": {takes + `
			1 1050 a SET lock:y token-y NX PX 30000 = OK @60` + promoted + next + `
			2 2050 b DEL lock:x = 1 @90
			1 2100 a WAIT 1 100 = 1`, "undecided", "the client tried for two locks before its WAIT"},
		"it asks for two locks, and has them": {takes + `
			1 1050 a SET lock:y token-y NX PX 30000 = OK @60
			1 1100 a WAIT 1 100 = 1` + promoted + next, "two-holders", "never replicated"},
		"it asks for two locks, and one of them is refused": {takes + `
			1 1020 c SET lock:y token-c NX PX 30000 = OK @60
			1 1050 a SET lock:y token-y NX PX 30000 = nil @60
			1 1100 a WAIT 1 100 = 0` + promoted + next, "undecided", "did not tell of enough replicas"},
		"it took another lock before, which another one gets": {takes + `
			1 1050 a SET lock:y token-y NX PX 30000 = OK @60
			1 1060 a unseen
			1 1100 a WAIT 1 100 = 0` + promoted + next, "two-holders", "never replicated"},
		"WAITAOF tells of one replica": {
			takes + "\n1 1100 a WAITAOF 0 1 100 = [0 1]" + promoted + next, "two-holders", "never replicated"},
		"WAITAOF tells of no replica": {
			takes + "\n1 1100 a WAITAOF 0 1 100 = [1 0]" + promoted + next, "undecided", "did not tell of enough replicas"},
	} {
		t.Run(name, func(t *testing.T) {
			v, text := judgedNodes(t, c.text)
			require.Equal(t, c.result, string(v.Result()), text)
			require.Contains(t, text, c.shows)
		})
	}
}

// Who renews over another connection of its pool believes in its lock already.
func TestARenewalBeforeWaitShowsThatItsClientHoldsTheLock(t *testing.T) {
	all := nodes(t, `
		1 1000 a SET lock:x token-a NX PX 30000 = OK @30
		1 1050 a SET lock:x token-a XX PX 30000 = OK @60
		2 1500 promoted 1 A @0
		2 2000 b SET lock:x token-b NX PX 30000 = OK @60
		2 2050 b DEL lock:x = 1 @90
		1 2100 a WAIT 1 100 = 0
		1 2200 a DEL lock:x = 1 @60`)
	first := all[0].Entries
	first[1].Client, first[1].Request = 5, 1
	first[2].Request--
	v, err := Judge(all)
	require.NoError(t, err)
	var out bytes.Buffer
	v.Print(&out)
	require.Equal(t, "two-holders", string(v.Result()), out.String())
}
