package doctor

import (
	"crypto/sha1"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/lab/holders"
)

// Scripts without spaces, so that a line of a history can have them.
const (
	tellsSecond = `if(redis.call('get',KEYS[1])==ARGV[1])then(redis.call('del',KEYS[1]))` +
		`redis.call("publish",KEYS[2],'')end`
	crossSlot = "CROSSSLOT Keys in request don't hash to the same slot"
	otherSlot = "ERR Script attempted to access a non local key in a cluster node"
)

func TestSlotsOfALockAreJudged(t *testing.T) {
	for what, c := range map[string]struct {
		history string
		want    []string
	}{
		"the channel among the keys": {`
			1000 a1 EVAL TELLS 2 lock:a lock:a:free 0123456789abcdef = CROSSSLOT`,
			[]string{"channel-in-another-slot lock:a 9701"}},
		"known by SCRIPT LOAD": {`
			1000 a1 SCRIPT LOAD TELLS = abc
			1000 a1 EVALSHA TELLSHA 2 lock:a lock:a:free 0123456789abcdef = CROSSSLOT`,
			[]string{"channel-in-another-slot lock:a 9701"}},
		"the channel, and another key": {`
			1000 a1 EVAL TELLS 3 lock:a lock:a:free queue:a 0123456789abcdef = CROSSSLOT`,
			[]string{"keys-in-several-slots lock:a 9701"}},
		"two locks": {`
			1000 a1 EVALSHA abc 2 lock:a lock:b 0123456789abcdef = CROSSSLOT`,
			[]string{"keys-in-several-slots lock:a 9701"}},
		"by one command": {`
			1000 a1 MSETEX 2 lock:a 1 lock:b 2 NX PX 5000 = CROSSSLOT`,
			[]string{"keys-in-several-slots lock:a 9701"}},
		"a lock by its script and its token": {`
			1000 a1 EVAL UNLOCK 2 a b 0123456789abcdef = CROSSSLOT`,
			[]string{"keys-in-several-slots a 9701"}},
		"a shard channel": {`
			1000 a1 SET lock:a token-1 NX PX 5000 = OK
			1000 a1 > GET lock:a = token-1
			1000 a1 > DEL lock:a = 1
			1000 a1 > SPUBLISH lock:a:free x = AWAY
			1000 a1 EVALSHA abc 1 lock:a token-1 = AWAY`,
			[]string{"channel-in-another-slot lock:a 9701"}},
		"a key that is not declared": {`
			1000 a1 SET lock:a token-1 NX PX 5000 = OK
			1000 a1 > GET lock:b = AWAY
			1000 a1 EVALSHA abc 1 lock:a token-1 = AWAY`,
			[]string{"keys-in-several-slots lock:a 9701"}},
		"a slot that moves under a script": {`
			1000 a1 SET lock:{a} token-1 NX PX 5000 = OK
			1000 a1 > GET lock:{a} = token-1
			1000 a1 > DEL lock:{a} = 1
			1000 a1 > EXISTS lock:{a} = AWAY
			1000 a1 EVALSHA abc 1 lock:{a} token-1 = AWAY`, nil},
		"keys that are no locks": {`
			1000 a1 EVALSHA abc 2 cache:a cache:b 1 = CROSSSLOT
			1000 a1 MSETEX 2 cache:a 1 cache:b 2 NX = CROSSSLOT
			1000 a1 EVALSHA abc 0 0123456789abcdef = CROSSSLOT`, nil},
		"another error": {`
			1000 a1 EVALSHA abc 2 lock:a lock:b 0123456789abcdef = NOSCRIPT No matching script.
			1000 a1 EVALSHA abc 2 lock:a lock:b 0123456789abcdef = MOVED 5 127.0.0.1:7001`, nil},
		"PUBLISH has no slot": {`
			1000 a1 SET lock:a token-1 NX PX 5000 = OK
			1000 a1 > GET lock:a = token-1
			1000 a1 > DEL lock:a = 1
			1000 a1 > PUBLISH lock:a:free x = 0
			1000 a1 EVALSHA abc 1 lock:a token-1 = 1`, nil},
	} {
		t.Run(what, func(t *testing.T) {
			d := New(nil, nil, 0)
			sha := fmt.Sprintf("%x", sha1.Sum([]byte(tellsSecond)))
			play(t, d, strings.NewReplacer("TELLSHA", sha, "TELLS", tellsSecond, "CROSSSLOT", crossSlot,
				"AWAY", otherSlot).Replace(c.history))
			require.Equal(t, append([]string{}, c.want...), found(d, 1500))
		})
	}
}

func TestAFindingNamesTheSlots(t *testing.T) {
	d := New(nil, nil, 0)
	play(t, d, "1000 a1 EVALSHA abc 2 {order}:lock order:free x = "+crossSlot)
	require.Equal(t, "{order}:lock in slot 16025, order:free in slot 15377", d.Findings(1000)[0].Steps[1].Command)
}

func TestTheKeysToWhichAScriptPublishes(t *testing.T) {
	for text, want := range map[string][]int{
		`redis.call('publish', KEYS[2], ARGV[1])`:            {2},
		`redis.pcall("SPUBLISH",keys[ 3 ],1)`:                {3},
		`redis.call('publish', ARGV[1], KEYS[2])`:            nil,
		`redis.call('publish', 'free:' .. KEYS[1], KEYS[2])`: nil,
		`local published = KEYS[2]`:                          nil,
		`redis.call('publish', KEYS[`:                        nil,
	} {
		require.Equal(t, want, published(text), text)
	}
}

// group are the doctors of a master and its replica.
func group(t *testing.T) (master, replica *Doctor) {
	t.Helper()
	l := NewLedger(1, holders.KeepOnline)
	l.Replicated([]int{0, 0}, []string{"7001", "7002"})
	master, replica = New(nil, l, 0), New(nil, l, 1)
	master.Leads()
	replica.Follows()
	return master, replica
}

func TestAReleaseAtTheWrongNodeIsFound(t *testing.T) {
	const away = "READONLY You can't write against a read only replica."
	taken := func(t *testing.T, master *Doctor) {
		master.At(10)
		play(t, master, "1000 a1 SCRIPT LOAD UNLOCK = abc\n1000 a1 SET lock:a token-1 NX PX 5000 = OK")
	}
	release := func(t *testing.T, d *Doctor, at string) {
		play(t, d, at+" a1 > GET lock:a = token-1\n"+at+" a1 > DEL lock:a = 1\n"+at+" a1 EVALSHA SHA 1 lock:a token-1 = 1")
	}
	for what, c := range map[string]struct {
		happen func(t *testing.T, master, replica *Doctor)
		want   []string
	}{
		"a replica refuses it": {func(t *testing.T, master, replica *Doctor) {
			replica.Promoted(0, 10, 1500)
			master.Demoted()
			play(t, master, "2000 a1 EVALSHA SHA 1 lock:a token-1 = "+away)
			play(t, replica, "6000 expired lock:a")
		}, []string{"release-at-the-wrong-node lock:a 9701"}},
		"and the client sends it to the new master": {func(t *testing.T, master, replica *Doctor) {
			replica.Promoted(0, 10, 1500)
			master.Demoted()
			play(t, master, "2000 a1 EVALSHA SHA 1 lock:a token-1 = "+away)
			release(t, replica, "2100")
			play(t, replica, "2200 b1 SET lock:a token-2 NX PX 5000 = OK\n7200 expired lock:a")
		}, nil},
		"the new master never had the lock": {func(t *testing.T, master, replica *Doctor) {
			replica.Promoted(0, 9, 1500)
			master.Demoted()
			play(t, master, "2000 a1 EVALSHA SHA 1 lock:a token-1 = "+away)
			play(t, replica, "2200 b1 SET lock:b token-2 NX PX 5000 = OK\n7200 expired lock:b")
		}, nil},
		"an old master executes it": {func(t *testing.T, master, replica *Doctor) {
			replica.Promoted(0, 10, 1500)
			release(t, master, "2000")
			play(t, replica, "6000 expired lock:a")
		}, []string{"release-at-the-wrong-node lock:a 9701"}},
		"an old master executes it, and the new one later": {func(t *testing.T, master, replica *Doctor) {
			replica.Promoted(0, 10, 1500)
			release(t, master, "2000")
			release(t, replica, "2100")
			play(t, replica, "6000 expired lock:a")
		}, nil},
		"a master executes it": {func(t *testing.T, master, replica *Doctor) {
			master.At(20)
			release(t, master, "2000")
			replica.Promoted(0, 10, 2500)
			play(t, replica, "6000 expired lock:a")
		}, nil},
		"the lease was over": {func(t *testing.T, master, replica *Doctor) {
			replica.Promoted(0, 10, 1500)
			master.Demoted()
			play(t, replica, "6000 expired lock:a")
			play(t, master, "7000 a1 EVALSHA SHA 1 lock:a token-1 = "+away)
		}, nil},
	} {
		t.Run(what, func(t *testing.T) {
			master, replica := group(t)
			taken(t, master)
			c.happen(t, master, replica)
			all := slices.Concat(found(master, 9000), found(replica, 9000))
			all = slices.DeleteFunc(all, func(f string) bool { return strings.HasPrefix(f, "two-holders") })
			require.Equal(t, append([]string{}, c.want...), append([]string{}, all...))
			for _, f := range replica.Findings(9000) {
				require.Equal(t, "7001 7001 7002", f.Steps[0].Node+" "+f.Steps[1].Node+" "+f.Steps[2].Node)
			}
		})
	}
}

func TestAReleaseThatTheOldNodeOfASlotRefusesIsFound(t *testing.T) {
	for what, c := range map[string]struct {
		old, other string
		want       []string
	}{
		"MOVED, and no more": {`2000 a1 EVAL UNLOCK 1 lock:a token-1 = MOVED 5 127.0.0.1:7002`, ``,
			[]string{"release-at-the-wrong-node lock:a 9701"}},
		"ASK, by DEL": {`2000 a1 DEL lock:a = ASK 5 127.0.0.1:7002`, ``,
			[]string{"release-at-the-wrong-node lock:a 9701"}},
		"TRYAGAIN, and another client gets it later": {`2000 a1 EVAL UNLOCK 2 lock:a q token-1 = TRYAGAIN Multiple keys`, `
			6001 b1 SET lock:a token-2 NX PX 1000 = OK
			6002 b1 EVAL UNLOCK 1 lock:a token-2 = 1`, []string{"release-at-the-wrong-node lock:a 9701"}},
		"the client follows": {`2000 a1 EVAL UNLOCK 1 lock:a token-1 = MOVED 5 127.0.0.1:7002`, `
			2001 a7 EVAL UNLOCK 1 lock:a token-1 = 1`, nil},
		"and follows a DEL": {`2000 a1 DEL lock:a = MOVED 5 127.0.0.1:7002`, `
			2001 a7 DEL lock:a = 1`, nil},
		"a watchdog that follows keeps the lock": {`2000 a1 EVAL UNLOCK 1 lock:a token-1 = TRYAGAIN Multiple keys`, `
			2001 a7 EVAL RENEW 1 lock:a token-1 9000 = 1`, nil},
		"a try for the lock is no release": {`2000 b1 SET lock:a token-2 NX PX 1000 = MOVED 5 127.0.0.1:7002`, ``, nil},
		"another client's release":         {`2000 b1 EVAL UNLOCK 1 lock:a token-2 = MOVED 5 127.0.0.1:7002`, ``, nil},
		"a key that is no lock":            {`2000 a1 DEL cache = MOVED 5 127.0.0.1:7002`, ``, nil},
	} {
		t.Run(what, func(t *testing.T) {
			l := NewLedger(2, holders.KeepOnline)
			old, other := New(nil, l, 0), New(nil, l, 1)
			play(t, old, "1000 a1 SET lock:a token-1 NX PX 5000 = OK\n1000 a1 SET cache 1 NX PX 100 = OK")
			play(t, old, c.old)
			play(t, other, c.other)
			require.Empty(t, found(old, 5999), "the lease is not over")
			require.Equal(t, append([]string{}, c.want...), found(old, 6001))
			require.Empty(t, found(other, 6001))
			require.Len(t, found(old, 9000), len(c.want), "it is found once")
		})
	}
}
