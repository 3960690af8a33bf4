package verdict

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/lab"
)

// A node's own clock is the time only if no other node has granted the lock: also of what it ended before.
func TestAClockThatJumpsBeforeAFailoverEndsNoLease(t *testing.T) {
	const jump = `
		1 1000 a SET lock:x token-a NX PX 1000 = OK @30
		1 1010 clock 9000
		1 9000 expired lock:x @60`
	for name, c := range map[string]struct{ text, result string }{
		"the lock expired at the old master": {jump + `
			2 1100 promoted 1 A @60
			2 1500 b SET lock:x token-b NX PX 30000 = OK @90`, "two-holders"},
		"only another command showed the time at the old master": {`
			1 1000 a SET lock:x token-a NX PX 1000 = OK @30
			1 1010 clock 9000
			2 1100 promoted 1 A @0
			1 9100 c GET lock:x = nil @30
			2 1500 b SET lock:x token-b NX PX 30000 = OK @30`, "two-holders"},
		"the time passed after the jump": {jump + `
			2 1100 promoted 1 A @60
			2 2500 b SET lock:x token-b NX PX 30000 = OK @90`, "safe"},
		"the time passed before the old master granted it again": {jump + `
			1 11000 c SET lock:x token-c NX PX 1000 = OK @90
			1 11100 c DEL lock:x = 1 @120
			2 4100 promoted 1 A @120
			2 4500 b SET lock:x token-b NX PX 30000 = OK @150`, "safe"},
		"the old master granted it again before the time": {jump + `
			1 9010 c SET lock:x token-c NX PX 1000 = OK @90
			1 11100 c DEL lock:x = 1 @120
			2 4100 promoted 1 A @120
			2 4500 b SET lock:x token-b NX PX 30000 = OK @150`, "two-holders"},
		"no other node ever granted it": {jump + `
			1 9010 c SET lock:x token-c NX PX 1000 = OK @90
			2 4500 m GET lock:x = nil @90`, "safe"},
		"each clock was moved by itself": {`
			1 1000 a SET lock:x token-a NX PX 1000 = OK @30
			1 1000 clock 3000
			1 3000 expired lock:x @60
			2 1000 clock 3000
			2 3000 promoted 1 A @60
			2 3000 b SET lock:x token-b NX PX 30000 = OK @90`, "safe"},
	} {
		t.Run(name, func(t *testing.T) {
			v, text := judgedNodes(t, c.text)
			require.Equal(t, c.result, string(v.Result()), text)
		})
	}
}

// LAB ALL CLOCK ADVANCE moves the nodes side by side, and keys expire on the way. These clocks stand still otherwise.
func TestAKeyThatExpiresOnTheWayOfAClockIsNoTimeThatPasses(t *testing.T) {
	for name, text := range map[string]string{
		"while its node moves": `
			1 1000 clock 2000 together
			1 1594 expired lock:x @60
			2 1000 clock 2000 together
			2 1594 expired lock:x @60`,
		"while another node moves": `
			1 1000 clock 2000 together
			2 1000 clock 2000 together
			1 1594 expired lock:x @60
			2 1594 expired lock:x @60`,
		"when all nodes have moved": `
			1 1000 clock 2000 together
			2 1000 clock 2000 together
			2 1594 expired lock:x @60
			1 1594 expired lock:x @60`,
	} {
		t.Run(name, func(t *testing.T) {
			histories := nodes(t, `
				1 1000 a SET lock:x token-a NX PX 594 = OK @30
				2 1000 promoted 1 A @30`+text+`
				2 2000 b SET lock:x token-b NX PX 318 = OK @90
				1 2000 c SET lock:x token-c NX PX 491 = OK @90`)
			for _, h := range histories {
				for i := range h.Entries {
					h.Entries[i].Mono *= 10_000
				}
			}
			v, err := Judge(histories)
			require.NoError(t, err)
			require.Equal(t, "two-holders", string(v.Result()))
		})
	}
}

const (
	takesHash = `
		1 1000 a > EXISTS lock:x = 0 @0
		1 1000 a > HINCRBY lock:x uuid-a:1 1 = 1 @30
		1 1000 a > PEXPIRE lock:x 30000 = 1 @30
		1 1000 a EVALSHA 5c1a7 1 lock:x 30000 uuid-a:1 = nil @30`
	entersHash = `
		1 1100 a > EXISTS lock:x = 1 @30
		1 1100 a > HEXISTS lock:x uuid-a:1 = 1 @30
		1 1100 a > HINCRBY lock:x uuid-a:1 1 = 2 @60
		1 1100 a > PEXPIRE lock:x 30000 = 1 @60
		1 1100 a EVALSHA 5c1a7 1 lock:x 30000 uuid-a:1 = nil @60`
	renewsHash = `
		1 1100 a > HEXISTS lock:x uuid-a:1 = 1 @30
		1 1100 a > PEXPIRE lock:x 30000 = 1 @60
		1 1100 a EVALSHA 5c1a7 1 lock:x 30000 uuid-a:1 = 1 @60`
	freesHash = `
		2 1600 a > HEXISTS lock:x uuid-a:1 = 1 @30
		2 1600 a > HINCRBY lock:x uuid-a:1 -1 = 0 @60
		2 1600 a > DEL lock:x = 1 @60
		2 1600 a EVALSHA 5c1a7 1 lock:x 30000 uuid-a:1 = 1 @60`
	takesHashAgain = `
		2 2000 b > EXISTS lock:x = 0 @60
		2 2000 b > HINCRBY lock:x uuid-b:1 1 = 1 @90
		2 2000 b > PEXPIRE lock:x 30000 = 1 @90
		2 2000 b EVALSHA 5c1a7 1 lock:x 30000 uuid-b:1 = nil @90`
)

func TestFailoversOfReentrantLocksAreJudged(t *testing.T) {
	for name, c := range map[string]struct{ text, result, why string }{
		"the grant was never replicated": {
			takesHash + "\n2 1500 promoted 1 A @0" + takesHashAgain, "two-holders", "never replicated"},
		"it is released at the new master": {
			takesHash + "\n2 1500 promoted 1 A @30" + freesHash + takesHashAgain, "safe", ""},
		"a second entry was never replicated: the first release deletes the lock": {
			takesHash + entersHash + "\n2 1500 promoted 1 A @30" + freesHash + takesHashAgain,
			"undecided", "entered the re-entrant lock again"},
		"a renewal was never replicated": {
			takesHash + renewsHash + "\n2 1500 promoted 1 A @30" + freesHash + takesHashAgain, "safe", ""},
	} {
		t.Run(name, func(t *testing.T) {
			v, text := judgedNodes(t, c.text)
			require.Equal(t, c.result, string(v.Result()), text)
			require.Contains(t, text, c.why)
		})
	}
}

func TestALockOfANodeWithoutAHistoryIsUndecided(t *testing.T) {
	all := nodes(t, lostGrant)
	for _, some := range [][]lab.History{all[:1], all[1:]} {
		v, err := Judge(some)
		require.NoError(t, err)
		require.Equal(t, Undecided, v.Result(), v.Text())
		require.Contains(t, v.Text(), "has no history here")
	}
}

// The other server is in another process, so its history is not here.
func TestALockOfAServerThatFollowedOneOutsideIsUndecided(t *testing.T) {
	text := `
		1 1000 a SET lock:x token-a NX PX 30000 = OK @30
		1 1100 demoted 0 A @30
		1 1200 synced 0 B full @0
		1 1300 promoted 0 B @0
		1 1400 a DEL lock:x = 0 @0`
	for name, node := range map[string]*lab.Node{"a lone master": nil, "a node": {Node: 1, Nodes: 2}} {
		all := nodes(t, text)
		all[0].Node = node
		v, err := Judge(all)
		require.NoError(t, err, name)
		require.Equal(t, Undecided, v.Result(), "%s: %s", name, v.Text())
		_, err = Diagnose(all)
		require.NoError(t, err, name)
	}
	v, shown := judgedNodes(t, "1 1000 a SET lock:x token-a NX PX 30000 = OK @30\n2 1500 promoted 9 A @30")
	require.Equal(t, Undecided, v.Result(), shown)
	require.Contains(t, shown, "outside of the process")

	proxied := nodes(t, "1 1000 a SET lock:x token-a NX PX 30000 = OK @30\n1 1500 promoted 0 A @30")
	for i := range proxied {
		proxied[i].Node, proxied[i].Proxy = nil, true
	}
	v, err := Judge(proxied[:1])
	require.NoError(t, err)
	require.Equal(t, Undecided, v.Result(), v.Text())
	require.Contains(t, v.Text(), "a proxy does not see which grants of its master it had then")
	require.Contains(t, v.Text(), "play the failover at miniredisd --replicas 1")
}
