package verdict

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// In each story the leases of one holder end in another way, on up to five masters, and then
// another client gets the lock.
func TestALeaseIsOverByTheClockOfItsHolder(t *testing.T) {
	for what, c := range map[string]struct {
		story string
		two   bool
	}{
		"one clock jumps": {`
			123 1000 a SET lock token-a NX PX 500 = OK
			3 1000 clock 1501
			3 1501 expired lock
			3 1501 b SET lock token-b NX PX 500 = OK
			45 1000 b SET lock token-b NX PX 500 = OK`, true},
		"one clock jumps before the second master votes": {`
			1 1000 a SET lock token-a NX PX 500 = OK
			1 1000 clock 1501
			1 1501 expired lock
			1 1501 b SET lock token-b NX PX 500 = OK
			23 1000 a SET lock token-a NX PX 500 = OK
			45 1000 b SET lock token-b NX PX 500 = OK`, true},
		"a client asks the last master when its lease is over": {`
			123 1000 a SET lock token-a NX PX 500 = OK
			123 1100 m DEL lock = 1
			123 1100 b SET lock token-b NX PX 300 = OK
			123 1401 expired lock
			1234 1600 c GET lock = nil
			4 1600 a SET lock token-a NX PX 500 = OK`, false},
		"three of five jump": {`
			12345 1000 a SET lock token-a NX PX 500 = OK
			123 1000 clock 1501
			123 1501 expired lock
			123 1501 b SET lock token-b NX PX 500 = OK`, true},
		"four of five jump, and the fifth had done so before": {`
			5 1000 clock 1501
			5 1501 a SET lock token-a NX PX 500 = OK
			1234 1000 a SET lock token-a NX PX 500 = OK
			1234 1000 clock 1501
			1234 1501 expired lock
			1234 1501 b SET lock token-b NX PX 500 = OK`, true},
		"three jump, and then time passes": {`
			12345 1000 a SET lock token-a NX PX 500 = OK
			123 1000 clock 1501
			123 1501 expired lock
			45 1501 expired lock
			123 2100 b SET lock token-b NX PX 500 = OK`, false},
		"three jump, and then time passes for half of the lease": {`
			12345 1000 a SET lock token-a NX PX 500 = OK
			123 1000 clock 1501
			123 1501 expired lock
			123 1801 b SET lock token-b NX PX 500 = OK`, true},
		"all are moved, one by one": {`
			12345 1000 a SET lock token-a NX PX 500 = OK
			1 1000 clock 1501
			1 1501 expired lock
			2 1000 clock 1501
			2 1501 expired lock
			3 1000 clock 1501
			4 1000 clock 1501
			5 1000 clock 1501
			345 1501 expired lock
			123 1501 b SET lock token-b NX PX 500 = OK`, false},
		"all are moved together, and the first have arrived when others have not": {`
			12345 1000 a SET lock token-a NX PX 500 = OK
			123 1000 clock 1501 together
			123 1501 expired lock
			123 1501 b SET lock token-b NX PX 500 = OK
			45 1000 clock 1501 together
			45 1501 expired lock`, false},
		"all are moved by less than the lease, and three jump": {`
			12345 1000 a SET lock token-a NX PX 500 = OK
			12345 1000 clock 1300 together
			123 1300 clock 1501
			123 1501 expired lock
			123 1501 b SET lock token-b NX PX 500 = OK`, true},
		"renewed when all had been moved, and three jump": {`
			12345 1000 a SET lock token-a NX PX 500 = OK
			12345 1000 clock 1499 together
			12345 1499 a > GET lock = token-a
			12345 1499 a > PEXPIRE lock 500 = 1
			12345 1499 a EVALSHA 5c1a7 1 lock token-a 500 = 1
			123 1499 clock 2000
			123 2000 expired lock
			123 2000 b SET lock token-b NX PX 500 = OK`, true},
		"renewed on two of three, which are no majority": {`
			123 1000 a SET lock token-a NX PX 500 = OK
			12 1400 a > GET lock = token-a
			12 1400 a > PEXPIRE lock 500 = 1
			12 1400 a EVALSHA 5c1a7 1 lock token-a 500 = 1
			3 1501 expired lock
			345 1501 b SET lock token-b NX PX 500 = OK`, false},
		"renewed on all three, and one jumps": {`
			123 1000 a SET lock token-a NX PX 500 = OK
			123 1400 a > GET lock = token-a
			123 1400 a > PEXPIRE lock 500 = 1
			123 1400 a EVALSHA 5c1a7 1 lock token-a 500 = 1
			3 1400 clock 1901
			3 1901 expired lock
			3 1901 b SET lock token-b NX PX 500 = OK
			45 1501 b SET lock token-b NX PX 500 = OK`, true},
		"a vote is over before the third one comes": {`
			1 1000 a SET lock token-a NX PX 500 = OK
			2 1300 a SET lock token-a NX PX 500 = OK
			1 1501 expired lock
			3 1600 a SET lock token-a NX PX 500 = OK
			145 1700 b SET lock token-b NX PX 500 = OK`, false},
		"a vote is over, and with the fourth one three stand": {`
			1 1000 a SET lock token-a NX PX 500 = OK
			2 1300 a SET lock token-a NX PX 500 = OK
			1 1501 expired lock
			34 1600 a SET lock token-a NX PX 500 = OK
			2 1700 s DEL lock = 1
			125 1700 b SET lock token-b NX PX 500 = OK`, true},
		"one clock runs faster than the others": {`
			123 1000 a SET lock token-a NX PX 500 = OK
			3 1501 expired lock
			3 1501 b SET lock token-b NX PX 500 = OK
			45 1010 b SET lock token-b NX PX 500 = OK`, true},
		"two were put back before the time passed": {`
			123 1000 a SET lock token-a NX PX 500 = OK
			23 1000 clock 0
			1 1501 expired lock
			23 501 c GET lock = token-a
			145 1501 b SET lock token-b NX PX 500 = OK`, false},
		"all are put back, and the time passes": {`
			12345 9000 a SET lock token-a NX PX 500 = OK
			12345 9000 clock 1000
			12345 1501 c GET lock = token-a
			12345 1501 restore
			12345 1501 b SET lock token-b NX PX 500 = OK`, false},
		"a lock of one master, whose clock alone is moved": {`
			2 1000 a SET lock token-a NX PX 500 = OK
			2 1000 clock 1501
			2 1501 expired lock
			2 1501 b SET lock token-b NX PX 500 = OK`, false},
		"taken while the clock is moved": {`
			1 1000 a SET lock token-a NX PX 500 = OK
			1 1000 clock 9000
			1 1501 expired lock
			1 1600 b SET lock token-b NX PX 500 = OK
			1 2101 expired lock
			1 3000 c SET lock token-c NX PX 500 = OK`, false},
		"taken on all of them while they are moved": {`
			12345 1000 a SET lock token-a NX PX 500 = OK
			1 1000 clock 9000 together
			1 1501 expired lock
			1 1600 b SET lock token-b NX PX 500 = OK
			1 2101 expired lock
			2 1000 clock 9000 together
			2 1501 expired lock
			3 1000 clock 9000 together
			3 1501 expired lock
			123 9000 c SET lock token-c NX PX 500 = OK`, false},
	} {
		t.Run(what, func(t *testing.T) {
			v, text := judged(t, 5, c.story)
			require.Equal(t, c.two, len(v.TwoHolders) > 0, text)
			require.Equal(t, c.two, len(v.NotLinearizable) > 0, text)
		})
	}
}

func TestAMissingHistoryDoesNotStopTheTime(t *testing.T) {
	all := story(t, 3, `
		12 1000 a SET lock token-a NX PX 500 = OK
		12 1000 clock 1501
		12 1501 expired lock
		12 1501 b SET lock token-b NX PX 500 = OK`)
	v, err := Judge(all[:2])
	require.NoError(t, err)
	require.True(t, v.OK())
	v, err = Judge(all)
	require.NoError(t, err)
	require.Len(t, v.TwoHolders, 1)
}
