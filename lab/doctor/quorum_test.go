package doctor

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/lab/holders"
)

// refuse has masters refuse a token to a client. other means that they have a value of another type.
func (m *masters) refuse(client int64, token string, other bool, on ...int) {
	for _, master := range on {
		e := m.event(master)
		e.Client, e.Command, e.Reply, e.Other = client, "set", []byte("$-1\r\n"), other
		for _, a := range []string{"SET", "lock", token, "NX", "PX", "10000"} {
			e.Args = append(e.Args, []byte(a))
		}
		m.doctors[master-1].Command(&e)
	}
}

// back sets the clocks of some masters back by an hour.
func (m *masters) back(on ...int) {
	for _, master := range on {
		from := m.event(master).Time
		m.doctors[master-1].ClockMoved(from, from-3_600_000, false)
		m.ahead[master-1] -= 3_600_000
	}
}

func TestTheReasonForNoQuorumIsFound(t *testing.T) {
	for what, c := range map[string]struct {
		happen func(m *masters)
		want   []string
		why    holders.Reason
	}{
		"another type on most masters": {func(m *masters) {
			m.refuse(1, "token-1", true, 1, 2)
			m.refuse(1, "token-1", true, 3)
		}, []string{"2: no-quorum lock 1"}, holders.OtherType},
		"another type on one master": {func(m *masters) {
			m.refuse(1, "token-1", true, 1)
			m.take(1, "token-1", 2, 3)
		}, nil, holders.Held},
		"another type until somebody deletes the value": {func(m *masters) {
			m.refuse(1, "token-1", true, 1)
			m.take(1, "token-1", 1)
			m.refuse(1, "token-1", true, 2)
		}, nil, holders.Held},
		"another holder": {func(m *masters) {
			m.take(1, "token-1", 1, 2, 3)
			m.refuse(2, "token-2", false, 1, 2, 3)
			m.expire(1, 2, 3)
			m.take(2, "token-3", 1, 2, 3)
		}, nil, holders.Held},
		"clocks that went back": {func(m *masters) {
			m.take(1, "token-1", 1, 2, 3)
			m.back(1, 2)
			m.expire(3)
			m.take(2, "token-2", 3)
			m.refuse(2, "token-2", false, 1, 2)
		}, []string{"2: no-quorum lock 2"}, holders.ClockBack},
		"clocks that went back, within the lease": {func(m *masters) {
			m.take(1, "token-1", 1, 2, 3)
			m.back(1, 2)
			m.refuse(2, "token-2", false, 1, 2)
		}, nil, holders.Held},
		"the clock of one master went back": {func(m *masters) {
			m.take(1, "token-1", 1, 2, 3)
			m.back(1)
			m.expire(2, 3)
			m.refuse(2, "token-2", false, 1)
			m.take(2, "token-2", 2, 3)
		}, nil, holders.Held},
		"a vote that is left": {func(m *masters) {
			m.take(1, "token-1", 1)
			m.take(2, "token-2", 2)
			m.take(3, "token-3", 3)
			m.refuse(1, "token-1", false, 2, 3)
			m.refuse(2, "token-2", false, 1)
			m.release(2, 2)
			m.release(3, 3)
			m.expire(1)
		}, []string{"1: no-quorum lock 1"}, holders.LeftVote},
		"a vote that is given back": {func(m *masters) {
			m.take(1, "token-1", 1)
			m.take(2, "token-2", 2, 3)
			m.refuse(1, "token-1", false, 2, 3)
			m.refuse(2, "token-2", false, 1)
			m.release(1, 1)
			m.expire(2, 3)
		}, nil, holders.Held},
		"a vote that is left and stands in nobody's way": {func(m *masters) {
			m.take(1, "token-1", 1)
			m.take(2, "token-2", 2, 3)
			m.refuse(1, "token-1", false, 2, 3)
			m.expire(1, 2, 3)
		}, nil, holders.Held},
		"a majority whose lease ends": {func(m *masters) {
			m.take(1, "token-1", 1, 2)
			m.take(2, "token-2", 3)
			m.refuse(1, "token-1", false, 3)
			m.refuse(2, "token-2", false, 1, 2)
			m.release(2, 3)
			m.expire(1, 2)
		}, nil, holders.Held},
		"a lease that is shorter than the attempt": {func(m *masters) {
			m.take(1, "token-1", 1)
			m.expire(1)
			m.take(1, "token-1", 2)
		}, []string{"2: no-quorum lock 1"}, holders.ShortLease},
		"an attempt that begins again": {func(m *masters) {
			m.take(1, "token-1", 1)
			m.release(1, 1)
			m.expire()
			m.take(1, "token-1", 2, 3)
		}, nil, holders.Held},
		"a token that is used again": {func(m *masters) {
			for range 3 {
				m.take(1, "token-1", 1, 2, 3)
				m.expire(1, 2, 3)
			}
		}, nil, holders.Held},
	} {
		t.Run(what, func(t *testing.T) {
			m := newMasters(t, 3)
			c.happen(m)
			require.Equal(t, append([]string{}, c.want...), m.found())
			for _, d := range m.doctors {
				for _, f := range d.Findings(0) {
					why, _ := noQuorum(c.why)
					require.Equal(t, why, f.Why)
				}
			}
		})
	}
}

func TestALoneServerHasNoQuorum(t *testing.T) {
	m := newMasters(t, 1)
	m.refuse(1, "token-1", true, 1)
	m.take(1, "token-1", 1)
	m.refuse(2, "token-2", false, 1)
	m.expire(1)
	require.Empty(t, m.found())
}
