package doctor

import (
	"fmt"
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

func TestRenewalsThatEndTheLockAreFound(t *testing.T) {
	const found9701 = "renewal-releases lock:a 9701"
	for renewal, want := range map[string]string{
		"PEXPIRE lock:a 0 = 1":                           found9701,
		"PEXPIRE lock:a -10000 = 1":                      found9701,
		"EXPIRE lock:a -1 = 1":                           found9701,
		"EXPIREAT lock:a 0 = 1":                          found9701,
		"PEXPIREAT lock:a 1 = 1":                         found9701,
		"SET lock:a 0123456789abcdef XX PXAT 1 = OK":     found9701,
		"GETEX lock:a EXAT 1 = 0123456789abcdef":         found9701,
		"PEXPIRE lock:a 1 = 1":                           "",
		"PEXPIREAT lock:a 60000 = 1":                     "",
		"PEXPIRE lock:a 0 GT = 0":                        "",
		"GETEX lock:a = 0123456789abcdef":                "",
		"SET lock:a 0123456789abcdef XX PXAT 60000 = OK": "",
	} {
		t.Run(renewal, func(t *testing.T) {
			for _, history := range []string{
				"2000 a1 " + renewal,
				"2000 a1 * " + renewal + "\n2000 a1 EXEC",
				"2000 a1 > GET lock:a = 0123456789abcdef\n2000 a1 > " + renewal + "\n" +
					"2000 a1 EVALSHA abc 1 lock:a 0123456789abcdef = 1",
			} {
				d := New(nil, nil, 0)
				play(t, d, "1000 a1 SET lock:a 0123456789abcdef NX PX 30000 = OK\n"+history)
				if want == "" {
					require.Empty(t, found(d, 2000), history)
				} else {
					require.Equal(t, []string{want}, found(d, 2000), history)
				}
			}
		})
	}
}

func TestARenewalThatEndsAFieldIsFound(t *testing.T) {
	d := New(nil, nil, 0)
	play(t, d, `
		1000 a1 > EXISTS lock:a = 0
		1000 a1 > HSET lock:a token-of-a 1 = 1
		1000 a1 > PEXPIRE lock:a 30000 = 1
		1000 a1 EVALSHA abc 1 lock:a token-of-a = 1
		2000 a1 HPEXPIRE lock:a 0 FIELDS 1 token-of-a = 2`)
	require.Equal(t, []string{"renewal-releases lock:a 9701"}, found(d, 2000))
}

func TestAStrangerThatEndsTheLockByATTLMakesNoRenewal(t *testing.T) {
	d := New(nil, nil, 0)
	play(t, d, `
		1000 a1 SET lock:a 0123456789abcdef NX PX 30000 = OK
		2000 b1 PEXPIRE lock:a 0 = 1`)
	require.Equal(t, []string{"not-the-owner lock:a 9801"}, found(d, 2000))
}

// renewals plays renewals of a lease of 10 s. The gaps between them are in hundredths of a second.
func renewals(script bool, gaps ...int) string {
	history, now := "0 a1 SET lock:a 0123456789abcdef NX PX 10000 = OK\n", 0
	for _, gap := range gaps {
		now += 10 * gap
		if script {
			history += fmt.Sprintf("%[1]d a2 > GET lock:a = 0123456789abcdef\n%[1]d a2 > PEXPIRE lock:a 10000 = 1\n"+
				"%[1]d a2 EVALSHA abc 1 lock:a 0123456789abcdef 10000 = 1\n", now)
		} else {
			history += fmt.Sprintf("%d a1 PEXPIRE lock:a 10000 = 1\n", now)
		}
	}
	return history
}

func TestRenewalsThatLeaveNoTimeForASecondTryAreFound(t *testing.T) {
	for _, c := range []struct {
		gaps  []int
		count int
	}{
		{[]int{330, 330, 330, 330}, 0},
		{[]int{500, 510, 530, 590}, 0}, // half, and timers that are late
		{[]int{900}, 0},
		{[]int{900, 300, 900, 300, 900}, 0},
		{[]int{667, 667}, 1},
		{[]int{300, 667, 667, 300}, 1},
		{[]int{950, 950, 950, 950}, 3},
	} {
		for _, script := range []bool{false, true} {
			d := New(nil, nil, 0)
			play(t, d, renewals(script, c.gaps...))
			all := d.Findings(0)
			if c.count == 0 {
				require.Empty(t, all, c.gaps)
				continue
			}
			require.Len(t, all, 1, c.gaps)
			require.Equal(t, NoSlack, all[0].Pattern)
			require.Equal(t, c.count, all[0].Count)
		}
	}
}

func TestShortLeasesOfTestsMayBeRenewedLate(t *testing.T) {
	d := New(nil, nil, 0)
	play(t, d, `
		0 a1 SET lock:a 0123456789abcdef NX PX 500 = OK
		400 a1 PEXPIRE lock:a 500 = 1
		800 a1 PEXPIRE lock:a 500 = 1
		1200 a1 PEXPIRE lock:a 500 = 1`)
	require.Empty(t, found(d, 1200))
}

func TestALateRenewalSaysHowLateItIs(t *testing.T) {
	d := New(nil, nil, 0)
	play(t, d, `
		0 a1 SET lock:a 0123456789abcdef NX PX 45000 = OK
		15000 a1 SET lock:a 0123456789abcdef XX PX 45000 = OK
		45000 a1 SET lock:a 0123456789abcdef XX PX 45000 = OK
		90001 expired lock:a
		91000 a1 SET lock:a 0123456789abcdef XX PX 45000 = nil`)
	all := d.Findings(91000)
	require.Len(t, all, 1)
	require.Equal(t, LateRenewal, all[0].Pattern)
	steps := all[0].Steps
	require.Equal(t, "the renewal came 1000 ms too late; "+
		"the lease of 45000 ms is 1.5 times the interval of 30000 ms between renewals", steps[len(steps)-1].Command)
}

func TestRenewalsOfALockThatIsOverAreFound(t *testing.T) {
	const token = "0123456789abcdef"
	take := "1000 a1 SET lock:a " + token + " NX PX 3000 = OK\n"
	script := func(time int) string {
		return fmt.Sprintf("%[1]d a2 > GET lock:a = nil\n%[1]d a2 EVAL RENEW 1 lock:a %[2]s 3000 = 0\n", time, token)
	}
	release := "1500 a1 > GET lock:a = " + token + "\n1500 a1 > DEL lock:a = 1\n" +
		"1500 a1 EVAL UNLOCK 1 lock:a " + token + " = 1\n"
	next := "1600 b1 SET lock:a fedcba9876543210 NX PX 3000 = OK\n"
	lost := "4001 expired lock:a\n4100 b1 SET lock:a fedcba9876543210 NX PX 3000 = OK\n"
	for _, c := range []struct {
		what, history string
		want          []string
	}{
		{"refused after the lease", take + "4001 expired lock:a\n5000 a1 PEXPIRE lock:a 3000 = 0",
			[]string{"late-renewal lock:a 9701"}},
		{"by a script", take + "4001 expired lock:a\n" + script(5000), []string{"late-renewal lock:a 9702"}},
		{"by GETEX", take + "4001 expired lock:a\n5000 a1 GETEX lock:a PX 3000 = nil", []string{"late-renewal lock:a 9701"}},
		{"by SET XX", take + "4001 expired lock:a\n5000 a2 SET lock:a " + token + " XX PX 3000 = nil",
			[]string{"late-renewal lock:a 9702"}},
		{"without a comparison, of the next lock", take + lost + "5000 a1 PEXPIRE lock:a 9000 = 1",
			[]string{"not-the-owner lock:a 9701", "late-renewal lock:a 9701"}},
		{"by SET, of the next lock", take + lost + "5000 a1 SET lock:a " + token + " PX 9000 = OK",
			[]string{"late-renewal lock:a 9701"}},
		{"after the release", take + release + "1500 a1 PEXPIRE lock:a 3000 = 0",
			[]string{"renewal-after-release lock:a 9701"}},
		{"after the release, of the next lock", take + release + next + "1700 a1 PEXPIRE lock:a 3000 = 1",
			[]string{"not-the-owner lock:a 9701", "renewal-after-release lock:a 9701"}},
		{"a script long after the release", take + release + script(2500), []string{"renewal-after-release lock:a 9702"}},
		{"a script after the release, twice", take + release + script(1500) + script(1501),
			[]string{"renewal-after-release lock:a 9702"}},
		{"a script that crosses the release", take + release + script(1500), nil},
		{"and the next lock is renewed", take + release + next + "1700 b1 PEXPIRE lock:a 3000 = 1", nil},
		{"taken again", take + release + "1600 a1 SET lock:a " + token + " NX PX 3000 = OK\n" +
			"1700 a1 PEXPIRE lock:a 3000 = 1", nil},
		{"a waiter that tries with its old token", take + lost + "4200 a1 SET lock:a " + token + " NX PX 3000 = nil", nil},
		{"another client", take + release + "1600 b1 PEXPIRE lock:a 3000 = 0", nil},
	} {
		t.Run(c.what, func(t *testing.T) {
			d := New(nil, nil, 0)
			play(t, d, c.history)
			require.Equal(t, append([]string{}, c.want...), found(d, 5000))
		})
	}
}
