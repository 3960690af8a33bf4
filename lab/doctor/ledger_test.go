package doctor

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/lab/holders"
)

// masters are several doctors with one ledger, and a time that counts the events.
type masters struct {
	t       *testing.T
	doctors []*Doctor
	now     int64
	ahead   []int64 // the clock of each
}

func newMasters(t *testing.T, n int) *masters {
	m := &masters{t: t, ahead: make([]int64, n)}
	ledger := NewLedger(n, holders.KeepOnline)
	for i := range n {
		m.doctors = append(m.doctors, New(nil, ledger, i))
	}
	return m
}

func (m *masters) event(master int) Event {
	m.now++
	return Event{Time: m.now + m.ahead[master-1]}
}

const lease = 10000

// jump moves the clocks of some masters past the lease, and their locks expire.
func (m *masters) jump(on ...int) {
	for _, master := range on {
		from := m.event(master).Time
		m.doctors[master-1].ClockMoved(from, from+lease+1, false)
		m.ahead[master-1] += lease + 1
		m.doctors[master-1].Expired(0, "lock", m.event(master).Time)
	}
}

// take takes the lock for a client on some masters.
func (m *masters) take(client int64, token string, on ...int) {
	for _, master := range on {
		e := m.event(master)
		e.Client, e.Command, e.Reply = client, "set", []byte("+OK\r\n")
		for _, a := range []string{"SET", "lock", token, "NX", "PX", "10000"} {
			e.Args = append(e.Args, []byte(a))
		}
		m.doctors[master-1].Command(&e)
	}
}

// expire lets time pass on all masters until the locks of some expire.
func (m *masters) expire(on ...int) {
	m.now += lease
	for _, master := range on {
		e := m.event(master)
		m.doctors[master-1].Expired(0, "lock", e.Time)
	}
}

func (m *masters) lose(on ...int) {
	for _, master := range on {
		e := m.event(master)
		m.doctors[master-1].Lost(e.Time)
	}
}

func (m *masters) release(client int64, on ...int) {
	for _, master := range on {
		e := m.event(master)
		e.Client, e.Command, e.Reply = client, "del", []byte(":1\r\n")
		e.Args = [][]byte{[]byte("DEL"), []byte("lock")}
		m.doctors[master-1].Command(&e)
	}
}

// unknownScript sends a script with the token that no master has run.
func (m *masters) unknownScript(client int64, token string, on ...int) {
	for _, master := range on {
		e := m.event(master)
		e.Client, e.Command, e.Reply = client, "evalsha", []byte("-NOSCRIPT No matching script. Please use EVAL.\r\n")
		for _, a := range []string{"EVALSHA", "e0e1f9fabfc9d4800c877a703b823ac0578ff8db", "1", "lock", token} {
			e.Args = append(e.Args, []byte(a))
		}
		m.doctors[master-1].Command(&e)
	}
}

func (m *masters) found() []string {
	all := []string{}
	for i, d := range m.doctors {
		for _, f := range found(d, 0) {
			all = append(all, fmt.Sprintf("%d: %s", i+1, f))
		}
	}
	return all
}

func TestTwoHoldersOfAMajorityAreFound(t *testing.T) {
	for what, c := range map[string]struct {
		happen func(m *masters)
		want   []string
	}{
		"the clock of one master jumps": {func(m *masters) {
			m.take(1, "token-a", 1, 2, 3)
			m.jump(3)
			m.take(2, "token-b", 3, 4, 5)
		}, []string{"5: two-holders lock 2"}},
		"and the first holder's next script gets NOSCRIPT": {func(m *masters) {
			m.take(1, "token-a", 1, 2, 3)
			m.unknownScript(1, "token-a", 1, 2, 3)
			m.jump(3)
			m.take(2, "token-b", 3, 4, 5)
		}, []string{"5: two-holders lock 2"}},
		"the clocks of most masters jump": {func(m *masters) {
			m.take(1, "token-a", 1, 2, 3, 4, 5)
			m.jump(1, 2, 3, 4)
			m.take(2, "token-b", 1, 2, 3)
		}, []string{"3: two-holders lock 2"}},
		"all clocks are moved, one after another": {func(m *masters) {
			m.take(1, "token-a", 1, 2, 3, 4, 5)
			m.jump(1, 2, 3, 4, 5)
			m.take(2, "token-b", 1, 2, 3)
		}, nil},
		"one master forgets": {func(m *masters) {
			m.take(1, "token-a", 1, 2, 3)
			m.lose(3)
			m.take(2, "token-b", 5, 4, 3)
		}, []string{"3: two-holders lock 2"}},
		"one master forgets and stays away for longer than the lease": {func(m *masters) {
			m.take(1, "token-a", 1, 2, 3)
			m.lose(3)
			m.expire(1, 2)
			m.take(2, "token-b", 1, 2, 3)
		}, nil},
		"the lease runs out": {func(m *masters) {
			m.take(1, "token-a", 1, 2, 3, 4, 5)
			m.expire(1, 2, 3, 4, 5)
			m.take(2, "token-b", 1, 2, 3)
		}, nil},
		"it is released": {func(m *masters) {
			m.take(1, "token-a", 1, 2, 3, 4, 5)
			m.release(1, 1, 2, 3, 4, 5)
			m.take(2, "token-b", 1, 2, 3)
		}, nil},
		"the one that has less than half gives up": {func(m *masters) {
			m.take(1, "token-a", 1, 2, 3)
			m.take(2, "token-b", 4, 5)
			m.release(2, 4, 5)
			m.release(1, 1, 2, 3)
			m.take(2, "token-b", 1, 2, 3, 4, 5)
		}, nil},
		"one token is used again and again": {func(m *masters) {
			for range 20 {
				m.take(1, "token-a", 1, 2, 3)
				m.release(1, 1, 2, 3)
				m.take(2, "token-b", 3, 4, 5)
				m.release(2, 3, 4, 5)
			}
		}, nil},
	} {
		t.Run(what, func(t *testing.T) {
			m := newMasters(t, 5)
			c.happen(m)
			require.Equal(t, append([]string{}, c.want...), m.found())
		})
	}
}

func TestTwoHoldersAreShownWithTheMastersThatGrantedAndWhatHappened(t *testing.T) {
	m := newMasters(t, 5)
	m.take(1, "token-a", 1, 2, 3)
	m.jump(3)
	m.take(2, "token-b", 3, 4, 5)
	var seen []string
	for _, s := range m.doctors[4].Findings(0)[0].Steps {
		seen = append(seen, fmt.Sprintf("%d: %d %s", s.Master, s.Client, s.Command))
	}
	require.Equal(t, []string{
		"1: 1 SET lock token-a NX PX 10000",
		"2: 1 SET lock token-a NX PX 10000",
		"3: 1 SET lock token-a NX PX 10000",
		"3: 0 the lease ended by this master's clock",
		"3: 2 SET lock token-b NX PX 10000",
		"4: 2 SET lock token-b NX PX 10000",
		"5: 2 SET lock token-b NX PX 10000",
	}, seen)
}

// Redisson has another token for each master. Only the id of the thread in it is the same.
func TestAHolderWithATokenForEachMasterIsKnownByItsName(t *testing.T) {
	m := newMasters(t, 3)
	take := func(who, token string, on ...int) {
		for _, master := range on {
			token := fmt.Sprintf("%s0123456789abcdef%d:88", token, master)
			play(t, m.doctors[master-1], fmt.Sprintf(`
				1000 %[1]s > EXISTS lock = 0
				1000 %[1]s > HINCRBY lock %[2]s 1 = 1
				1000 %[1]s > PEXPIRE lock 10000 = 1
				1000 %[1]s EVALSHA abc 1 lock 10000 %[2]s = nil`, who, token))
		}
	}
	take("alice1", "aa", 1, 2)
	take("bob1", "bb", 3)
	require.Empty(t, m.found())
	m.jump(2)
	take("bob2", "bb", 2)
	require.Len(t, m.found(), 1)
}

func TestTheTablesOfMastersHaveEveryHolding(t *testing.T) {
	m := newMasters(t, 3)
	m.take(1, "token-a", 1, 2)
	m.jump(2)
	m.take(2, "token-b", 2, 3)
	ledger := m.doctors[0].ledger.Holders
	tables := [][]holders.Holding{ledger.Table(0), ledger.Table(1), ledger.Table(2)}
	require.Len(t, tables[1], 2)
	require.Equal(t, holders.EndExpired, tables[1][0].End)
	require.Len(t, holders.Overlaps(tables), 1)
}
