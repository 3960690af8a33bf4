package doctor

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/lab/holders"
)

func TestAFindingNamesTheCommandsWithTheirTimesAndTheFix(t *testing.T) {
	d := New(nil, nil, 0)
	play(t, d, `
		1000 worker1 SETNX lock:a 1 = 1
		1007 worker1 EXPIRE lock:a 10 = 1`)
	f := d.Findings(1007)[0]
	require.Equal(t, []holders.Step{
		{Time: 1000, Client: clientID("worker1"), Name: "worker", Command: "SETNX lock:a 1", Reply: "1"},
		{Time: 1007, Client: clientID("worker1"), Name: "worker", Command: "EXPIRE lock:a 10", Reply: "1"},
	}, f.Steps)
	require.Equal(t, "lock:a", f.Key)
	require.Equal(t, int64(1007), f.Time)
	require.Contains(t, f.Why, "dies between them")
	require.Contains(t, f.Fix, "SET key token NX PX")
}

func TestAPatternIsReportedOnceForAClassOfKeysAndCounted(t *testing.T) {
	d := New(nil, nil, 0)
	for i := range 50 {
		play(t, d, fmt.Sprintf(`
			1000 a%[1]d SETNX lock:user:%[1]d 1 = 1
			1000 a%[1]d EXPIRE lock:user:%[1]d 10 = 1`, i))
	}
	play(t, d, `
		1000 a1 SETNX lock:other 1 = 1
		1000 a1 EXPIRE lock:other 10 = 1`)
	all := d.Findings(1000)
	require.Len(t, all, 2)
	require.Equal(t, 50, all[0].Count)
	require.Equal(t, "lock:user:0", all[0].Key)
	require.Equal(t, "lock:other", all[1].Key)
}

func TestALockWithoutATTLCountsGrants(t *testing.T) {
	d := New(nil, nil, 0)
	for i := range 4 {
		play(t, d, fmt.Sprintf(`%d a1 SET lock:a 0123456789abcdef NX = OK`, 10_000*i))
		for try := range 12 {
			play(t, d, fmt.Sprintf(`%d b1 SET lock:a fedcba987654321%x NX = nil`, 10_000*i+500*try, try))
		}
		d.Findings(int64(10_000*i + 9000))
		play(t, d, fmt.Sprintf(`%d a1 DEL lock:a = 1`, 10_000*i+9500))
	}
	all := d.Findings(40_000)
	require.Len(t, all, 1)
	require.Equal(t, NoTTL, all[0].Pattern)
	require.Equal(t, 4, all[0].Count)
}

func TestTheLogHasOneLineForAPattern(t *testing.T) {
	var logged []string
	d := New(func(f Finding) { logged = append(logged, string(f.Pattern)+" "+f.Key) }, nil, 0)
	play(t, d, `
		1000 a1 SETNX lock:a 1 = 1
		1000 a1 EXPIRE lock:a 10 = 1
		1000 a1 SETNX lock:b 1 = 1
		1000 a1 EXPIRE lock:b 10 = 1
		1000 b1 DEL lock:a = 1`)
	require.Equal(t, []string{"setnx-then-expire lock:a", "not-the-owner lock:a"}, logged)
}

func TestALockWithALongNameIsDeletedByAnother(t *testing.T) {
	d := New(nil, nil, 0)
	name := "lock:" + strings.Repeat("a", 2*maxArg)
	play(t, d, `
		1000 a1 SET `+name+` token-1 NX PX 3000 = OK
		1500 b1 DEL `+name+` = 1`)
	all := d.Findings(2000)
	require.Len(t, all, 1)
	require.Equal(t, NotOwner, all[0].Pattern)
}

func TestResetForgetsFindingsAndLocks(t *testing.T) {
	d := New(nil, nil, 0)
	play(t, d, `
		1000 a1 SETNX lock:a 1 = 1
		1000 a1 EXPIRE lock:a 10 = 1`)
	d.Reset()
	require.Empty(t, found(d, 1000))
	play(t, d, `1001 b1 DEL lock:a = 1`)
	require.Empty(t, found(d, 1001), "who took it was forgotten")
}

func TestMemoryIsBounded(t *testing.T) {
	d := New(nil, nil, 0)
	for i := range 3 * maxHolds {
		play(t, d, fmt.Sprintf(`
			1000 a%[1]d SET lock:%[2]s token-%[1]d NX PX 100 = OK
			1000 a%[1]d EVALSHA %[1]d 1 lock:%[2]s token-%[1]d = 0
			1000 b%[1]d SETNX lock:%[2]s 1 = 0`, i, letters(i)))
		if i%2 == 0 {
			play(t, d, fmt.Sprintf(`1100 expired lock:%s`, letters(i)))
		} else {
			play(t, d, fmt.Sprintf(`1100 b%d DEL lock:%s = 1`, i, letters(i)))
		}
	}
	require.LessOrEqual(t, d.past.Len(), maxHolds)
	require.LessOrEqual(t, d.back.Len(), maxHolds)
	require.LessOrEqual(t, d.alike.Len(), maxHolds)
	require.LessOrEqual(t, d.polls.Len(), maxHolds)
	require.LessOrEqual(t, d.clients.Len(), maxClients)
	require.LessOrEqual(t, d.scripts.Len(), maxScripts)
	require.LessOrEqual(t, d.found.Len(), maxFindings)
	require.LessOrEqual(t, d.grants.Len(), maxHolds)
	require.LessOrEqual(t, d.uses.Len(), maxHolds)
	require.Positive(t, d.found.Len())
}

// One lock that many clients try for takes no more memory than one that a few try for.
func TestMemoryOfOneLockIsBounded(t *testing.T) {
	d := New(nil, nil, 0)
	for i := range 2000 {
		play(t, d, fmt.Sprintf(`
			1000 a%[1]d SET lock:a %[1]d NX PX 100 = OK
			1000 b%[1]d SET lock:a same NX PX 100 = nil
			1100 x1 DEL lock:a = 1`, i))
	}
	k := holders.Key{DB: 0, Name: "lock:a"}
	require.LessOrEqual(t, len(d.grants.Get(k)), maxGrants)
	require.LessOrEqual(t, len(d.uses.Get(k).tokens), maxUses)
	require.LessOrEqual(t, len(d.uses.Get(k).clients), maxClaimed)
	require.LessOrEqual(t, len(d.usesOf(k, "same")), maxUses)
}

// letters returns a name without digits: each name is a class of its own.
func letters(i int) string {
	var b []byte
	for ; i > 0; i /= 26 {
		b = append(b, byte('a'+i%26))
	}
	return string(b)
}

func TestMalformedCommandsAreHarmless(t *testing.T) {
	d := New(nil, nil, 0)
	for _, name := range []string{
		"set", "setnx", "eval", "evalsha", "fcall", "expire", "del", "watch", "script|load", "script|flush",
		"hset", "hdel", "publish", "exec", "get", "setex",
	} {
		for _, by := range []string{"", Exec, "5c1a7"} {
			for n := range 4 {
				args := [][]byte{[]byte(name)}
				for range n {
					args = append(args, []byte("-1"))
				}
				for _, reply := range []string{"", "$", "$9\r\n", "*-1\r\n", ":\r\n", "-ERR no\r\n", "+OK\r\n", ":1\r\n"} {
					d.Command(&Event{Client: 1, Command: name, Args: args, By: by, Reply: []byte(reply)})
				}
			}
		}
	}
}
