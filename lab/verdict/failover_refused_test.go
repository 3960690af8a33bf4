package verdict

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	oldMasterFollows = `
		1 1000 a SET lock:x token-a NX PX 30000 = OK @30
		2 1500 promoted 1 A @0
		1 1600 demoted 2 A @30
		1 1600 synced 2 B full @0`
	nextTakes = `
		2 2000 b SET lock:x token-b NX PX 30000 = OK @30`
)

// A client whose release is refused has tried to give its lock up. Whether it still believes in it, no log shows.
func TestAReleaseThatIsRefusedLeavesItsLockUndecided(t *testing.T) {
	const refused = "7001, 1700, client 97 a: DEL lock:x -> READONLY You can't write"
	for name, c := range map[string]struct{ text, result, shows string }{
		"by DEL at the old master": {oldMasterFollows + `
			1 1700 a DEL lock:x = -READONLY You can't write refused` + nextTakes, "undecided", refused},
		"by a script at the old master": {oldMasterFollows + `
			1 1700 a > GET lock:x = nil @0
			1 1700 a EVAL return{redis.call('get',KEYS[1]),redis.call('del',KEYS[1])} 1 lock:x token-a = -READONLY x @0` +
			nextTakes, "undecided", "the server refused the release"},
		"by a script whose text came before": {`
			1 900 a EVAL return{redis.call('get',KEYS[1]),redis.call('del',KEYS[1])} 1 lock:x token-0 = 0 @0` +
			oldMasterFollows + `
			1 1700 a EVALSHA 7449fe95b612abf28a4886f9cd6b23fc60b28f69 1 lock:x token-a = -READONLY x @0` +
			nextTakes, "undecided", "the server refused the release"},
		"by a master that has too few replicas": {`
			1 1000 a SET lock:x token-a NX PX 30000 = OK @30
			1 1100 a DEL lock:x = -NOREPLICAS Not enough refused
			2 1500 promoted 1 A @0` + nextTakes, "undecided", "the server refused the release"},
		"after the next holder has it": {oldMasterFollows + nextTakes + `
			1 2100 a DEL lock:x = -READONLY You can't write refused`, "two-holders", "never replicated"},
		"and then it finds nothing at the new master": {oldMasterFollows + `
			1 1700 a DEL lock:x = -READONLY You can't write refused
			2 1800 a DEL lock:x = 0 @0` + nextTakes, "safe", ""},
		"and it was the renewal of a client that goes on": {oldMasterFollows + `
			1 1700 a PEXPIRE lock:x 30000 = -READONLY You can't write refused` + nextTakes, "two-holders", "never replicated"},
		"and it came from a stranger": {oldMasterFollows + `
			1 1700 m DEL lock:x = -READONLY You can't write refused` + nextTakes, "two-holders", "never replicated"},
	} {
		t.Run(name, func(t *testing.T) {
			v, text := judgedNodes(t, c.text)
			require.Equal(t, c.result, string(v.Result()), text)
			require.Contains(t, text, c.shows)
			require.NotContains(t, text, "master 1,", "a node has a port")
		})
	}
}

// The replicas of replicas have followed their master's master since before the history.
func TestAChainWithoutASyncIsJudged(t *testing.T) {
	for name, c := range map[string]struct{ text, result, shows string }{
		"the last of a chain is promoted without the grant": {`
			1 1000 a SET lock:x token-a NX PX 30000 = OK @30
			3 1500 promoted 2 A @0
			3 2000 b SET lock:x token-b NX PX 30000 = OK @30`, "two-holders",
			"granted by 7001 at +0 s, never replicated; 7003 was promoted at +0.5 s and granted it again at +1 s"},
		"the last of a chain is promoted with the grant": {`
			1 1000 a SET lock:x token-a NX PX 30000 = OK @30
			3 1500 promoted 2 A @30
			3 2000 b SET lock:x token-b NX PX 30000 = nil @30
			3 2100 a DEL lock:x = 1 @60
			3 2200 b SET lock:x token-b NX PX 30000 = OK @90`, "safe", ""},
		"the master of the chain goes on": {`
			3 1500 promoted 2 A @0
			3 2000 b SET lock:x token-b NX PX 30000 = OK @30
			1 2500 a SET lock:x token-a NX PX 30000 = OK @30`, "two-holders",
			"7001 did not know that 7003 had been promoted at +0 s, and granted it again"},
		"the middle of a chain is promoted, and its replica after it": {`
			1 1000 a SET lock:x token-a NX PX 30000 = OK @30
			2 1500 promoted 1 A @30
			2 1600 a DEL lock:x = 1 @60
			2 1700 b SET lock:x token-b NX PX 30000 = OK @90
			3 1800 promoted 2 B @60
			3 1900 c SET lock:x token-c NX PX 30000 = OK @90`, "two-holders",
			"granted by 7002 at +0.7 s, never replicated; 7003 was promoted at +0.8 s"},
	} {
		t.Run(name, func(t *testing.T) {
			v, text := judgedNodes(t, c.text)
			require.Equal(t, c.result, string(v.Result()), text)
			require.Contains(t, text, c.shows)
		})
	}
}

func TestAStepOfAnOpenQuestionNamesItsNode(t *testing.T) {
	v, text := judgedNodes(t, `
		1 1000 a SET lock:x token-a NX PX 30000 = OK @30
		2 1500 promoted 1 A @30
		2 1600 a DEL lock:x = 1 lost @60
		2 1700 a SET lock:x other-a NX PX 30000 = OK lost @90
		2 1800 b DEL lock:x = 1 @120
		2 1900 c SET lock:x token-c NX PX 30000 = OK @150`)
	require.Equal(t, Undecided, v.Result(), text)
	require.NotContains(t, text, "master 1,")
}

// A script that found another token has shown nothing of what it does.
func TestAScriptThatDidNothingMayReleaseLocks(t *testing.T) {
	v, text := judgedNodes(t, `
		1 0900 z EVALSHA c1b7 1 lock:x other = 0 @0
		1 1000 a SET lock:x token-a NX PX 30000 = OK @30
		2 1500 promoted 1 A @0
		1 1550 demoted 2 A @60
		1 1600 a EVALSHA c1b7 1 lock:x token-a = -READONLY x
		2 2000 b SET lock:x token-b NX PX 30000 = OK @60`)
	require.Equal(t, "undecided", string(v.Result()), text)
}
