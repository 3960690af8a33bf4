package proof_test

import (
	"cmp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/proof"
)

// What a client believes that its own command does not tell.
func TestAReplyThatDoesNotTellLeavesABeliefOpen(t *testing.T) {
	const takes = "1000 a EVALSHA 9f 1 k ta 500 = 1 | k string - > ta@1500\n"
	const absent = "1000 a HGET k owner = (nil)\n1000 b HGET k owner = (nil)\n"
	const wrote = "wrote k; the judge does not know whether b believes that it holds the lock"
	for name, test := range map[string]struct{ log, says string }{
		"a script that says 1 to everybody": {takes + "1100 b EVALSHA 9f 1 k tb 500 = 1",
			"undecided: b's EVALSHA at 00:00:01.100 belongs to a script whose reply does not say whether it took or gave up k"},
		"a script that says 0 to the second one": {takes + "1100 b EVALSHA 9f 1 k tb 500 = 0", "safe"},
		"a script that says who has the lock": {"1000 a EVALSHA 9f 1 k ta 500 = ta | k string - > ta@1500\n" +
			"1100 b EVALSHA 9f 1 k tb 500 = ta", "safe"},
		"its holder again": {takes + "1100 a EVALSHA 9f 1 k ta 500 = 1", "safe"},
		"a constant that was there already": {
			"1000 a GET k = (nil)\n1000 b GET k = (nil)\n1000 a MSET k 1 = OK | k string - > 1\n1000 b MSET k 1 = OK",
			"undecided: b's MSET at 00:00:01.000 " + wrote},
		"RENAME of the constant that was there already": {
			"1000 b EXISTS k = 0\n1000 a SET k 1 NX PX 500 = OK | k string - > 1@1500\n" +
				"1000 b RENAME tmp k = OK | k string 1@1500 > 1",
			"undecided: b's RENAME at 00:00:01.000 " + wrote},
		"any command that shows that the key is absent": {
			"1000 a STRLEN k = 0\n1000 b STRLEN k = 0\n1000 a MSET k 1 = OK | k string - > 1\n1000 b MSET k 1 = OK",
			"undecided: b's MSET at 00:00:01.000 " + wrote},
		"HSET tells that the field was there": {
			"1000 a HSET k owner ta = 1 | k hash - > owner=ta\n1100 b HSET k owner tb = 0 | k hash owner=ta > owner=tb",
			"undecided: b's HSET at 00:00:01.100 " + wrote},
		"HSET, and nobody asks": {
			absent + "1000 a HSET k owner ta = 1 | k hash - > owner=ta\n1000 b HSET k owner tb = 0 | k hash owner=ta > owner=tb",
			"two-holders: b's HSET at 00:00:01.000 took k from a, which believed in it without end; " +
				"b took it at 00:00:01.000: both believe that they hold it"},
		"the number of a thread is no count": {
			absent + "1000 a HSET k owner 77 = 1 | k hash - > owner=77\n1000 b HSET k owner 78 = 0 | k hash owner=77 > owner=78",
			"two-holders: b's HSET at 00:00:01.000 took k from a, which believed in it without end; " +
				"b took it at 00:00:01.000: both believe that they hold it"},
		"another name beside the count": {
			absent + "1000 a HSET k owner ta n 1 = 2 | k hash - > n=1 owner=ta\n" +
				"1000 b HSET k owner tb n 1 = 0 | k hash owner=ta > owner=tb",
			"undecided: b's HSET at 00:00:01.000 " + wrote},
		"a new note beside the count": {
			"1000 a HSET k ta 1 = 1 | k hash - > ta=1\n1100 b HSET k note x = 1 | k hash ~ > note=x", "safe"},
		"a client that looks back, and has lost": {
			"1000 b GET k = (nil)\n1000 a GET k = (nil)\n1000 b SET k tb PX 500 = OK | k string - > tb@1500\n" +
				"1000 a SET k ta PX 500 = OK | k string tb@1500 > ta@1500\n1000 a GET k = ta\n1000 b GET k = ta",
			"undecided: b's SET at 00:00:01.000 " + wrote},
	} {
		require.Equal(t, test.says, says(prove(read(t, test.log)), "k"), name)
	}
}

func TestALeaseInTheValueEndsABelief(t *testing.T) {
	const set = `1700000000000 a EVALSHA 9f 1 k {"id":"ta","until":1700000005000} = 1 | k string - > ` +
		`{"id":"ta","until":1700000005000}` + "\n"
	says1 := says(prove(read(t, set+`1700000006000 b EVALSHA 9f 1 k {"id":"tb","until":1700000011000} = 1 | k string `+
		`{"id":"ta","until":1700000005000} > {"id":"tb","until":1700000011000}`)), "k")
	require.Equal(t, "undecided: a's EVALSHA at 22:13:20.000 gave k an end by a client's clock; "+
		"the judge does not know how long a believes that it holds the lock", says1)
	says2 := says(prove(read(t, set+`1700000004000 b SET k tb = OK | k string {"id":"ta","until":1700000005000} > tb`+
		"\n1700000004000 b DEL k = 1 | k string tb > -\n1700000004000 c SET k tc NX = OK | k string - > tc")), "k")
	require.Contains(t, says2, "two-holders: b's SET at 22:13:24.000 replaced the token of a in k")
}

func TestAMillisecondToLiveFreesALock(t *testing.T) {
	const late = "1000 a SET k ta NX PX 500 = OK | k string - > ta@1500\n1501 - expired | k string ta@1500 > -\n" +
		"1600 b SET k tb NX PX 500 = OK | k string - > tb@2100\n"
	require.Equal(t, "safe", says(prove(read(t, late+"1700 a PEXPIRE k 1 = 1 | k string tb@2100 > tb@1701\n"+
		"1702 - expired | k string tb@1701 > -")), "k"))
	require.Equal(t, "safe", says(prove(read(t, "1000 w SET k ta NX PX 500 = OK | k string - > ta@1500\n"+
		"1100 w SET k free XX PX 1 = OK | k string ta@1500 > free@1101\n1102 - expired | k string free@1101 > -\n"+
		"1200 w SET k free NX PX 500 = OK | k string - > free@1700")), "k"))
}

func TestAPopTakesWhatIsInAQueue(t *testing.T) {
	require.Equal(t, "not-judged: k is a queue: clients take what others have added",
		says(prove(read(t, "1000 a SADD k free = 1 | k set - > free\n1100 b SPOP k = free | k set free > -\n"+
			"1200 b SADD k free = 1 | k set - > free")), "k"))
}

// A lease that another client than the writer of a value takes away, or gives, may be the lock.
func TestALeaseThatOthersChangeMayBeTheLock(t *testing.T) {
	const log = "1000 z SET k slot PX 500 = OK | k string - > slot@1500\n1100 a PERSIST k = 1 | k string slot@1500 > slot"
	require.Equal(t, "not-judged: k has values that clients write without asking whether it is free",
		says(prove(read(t, log)), "k"))
	require.Equal(t, "safe", says(prove(read(t, strings.ReplaceAll(log, "z SET", "a SET"))), "k"))
}

// Without a watch the log has the requests that a rule struck, and no others: somebody may have deleted the lock.
func TestALockThatNobodyWatchedIsNotJudged(t *testing.T) {
	const struck = "1000 a SET k ta NX PX 1000 = OK"
	h := read(t, struck)
	const unseen = "not-judged: k was not watched: the log has only the requests that a rule struck"
	require.Equal(t, unseen, says(prove(h), "k"))
	h.Watched = []lab.Watch{{Pattern: "k"}}
	require.NotContains(t, says(prove(h), "k"), "not watched")
	require.Equal(t, "safe", says(prove(read(t, struck+" | k string - > ta 1000")), "k"))
}

// Two workers share a connection: the log does not show which of them has looked how many there are.
func TestTwoThatLookOverOneConnectionAreNotToldApart(t *testing.T) {
	h := read(t, `
		1000 a SADD k ta = 1 | k set - > ta
		1000 a SADD k tb = 1 | k set ~ > tb
		1000 a SCARD k = 2
		1100 a SREM k tb = 1 | k set tb > ~
		1200 a SCARD k = 1`)
	h.Watched = []lab.Watch{{Pattern: "k", As: lab.Semaphore, Holders: 1}}
	require.Equal(t, "undecided: a's SCARD at 00:00:01.000 carries no token of its own; "+
		"the judge does not know which holder of k sent it", says(prove(h), "k"))
}

// The reply to a command that adds a token beside another one, or that counts, may tell its client of the other one.
func TestAMutexWithTwoTokensMayHaveOneHolder(t *testing.T) {
	const first = "1000 a LPUSH k ta = 1 | k list - > ta\n"
	const wrote = " wrote k; the judge does not know whether "
	for name, test := range map[string]struct{ log, says string }{
		"LPUSH tells of two": {first + "1100 b LPUSH k tb = 2 | k list ~ > ta tb",
			"undecided: b's LPUSH at 00:00:01.100" + wrote + "b believes that it holds the lock"},
		"a second field of the holder": {"1000 a HSETNX k locked 1 = 1 | k hash - > locked=1\n" +
			"1000 a HSET k owner ta at 5 = 2 | k hash ~ > owner=ta at=5",
			"undecided: a's HSET at 00:00:01.000" + wrote + "a believes that it holds the lock"},
		"SWAPDB": {"1000 z SWAPDB 0 1 = OK | k string - > tx\n1100 b SET k tb NX = (nil)\n" +
			"1200 b SET k tb = OK | k string tx > tb", "undecided: z's SWAPDB at 00:00:01.000" + wrote +
			"z believes that it holds the lock"},
		"a count that two clients lower": {"1000 a INCR k = 1 | k string - > 1\n1100 c INCR k = 2 | k string 1 > 2\n" +
			"1200 a DECR k = 1 | k string 2 > 1\n1300 c DECR k = 0 | k string 1 > 0\n1400 c INCR k = 1 | k string 0 > 1",
			"undecided: a's DECR at 00:00:01.200 carries no token of its own; " +
				"the judge does not know which holder of k sent it"},
		"a count that its holder did not lower": {"1000 a INCR k = 1 | k string - > 1\n" +
			"1300 c DECR k = 0 | k string 1 > 0\n1400 c INCR k = 1 | k string 0 > 1",
			"two-holders: c's DECR at 00:00:01.300 took k from a, which believed in it without end; " +
				"c took it at 00:00:01.400: both believe that they hold it"},
	} {
		h := read(t, test.log)
		h.Watched = []lab.Watch{{Pattern: "k", As: lab.Mutex}}
		require.Equal(t, test.says, says(prove(h), "k"), name)
	}
}

// A token that clients take out and put back says that the lock is free. Its key has no holder while it is there.
func TestATokenThatIsTakenOutAndPutBackIsNoHolders(t *testing.T) {
	const queue = "not-judged: k is a queue: clients take what others have added"
	const taken = "took out of k what another client had put there; the judge does not know whether a believes that it " +
		"holds the lock"
	for name, test := range map[string]struct{ log, unnamed, mutex string }{
		"SREM": {"1000 z SADD k free = 1 | k set - > free\n1100 a SREM k free = 1 | k set free > -\n" +
			"1200 a SADD k free = 1 | k set - > free\n1300 b SREM k free = 1 | k set free > -", queue,
			"a's SREM at 00:00:01.100 "},
		"SMOVE to another key": {"1000 z SADD k free = 1 | k set - > free\n1100 a SMOVE k busy free = 1 | k set free > -\n" +
			"1200 b INCR k = 1 | k string - > 1", queue, "a's SMOVE at 00:00:01.100 "},
		"a state": {"1000 z SET k free = OK | k string - > free\n1100 a GETSET k busy = free | k string free > busy\n" +
			"1200 a SET k free = OK | k string busy > free\n1300 b GETSET k busy = free | k string free > busy", queue,
			"a's GETSET at 00:00:01.100 "},
		"a field": {"1000 z HSET k free yes = 1 | k hash - > free=yes\n1100 a HDEL k free = 1 | k hash free=yes > -\n" +
			"1200 a HSET k free yes = 1 | k hash - > free=yes", queue, "a's HDEL at 00:00:01.100 "},
	} {
		h := read(t, test.log)
		require.Equal(t, test.unnamed, says(prove(h), "k"), name)
		h.Watched = []lab.Watch{{Pattern: "k", As: lab.Mutex}}
		require.Equal(t, "undecided: "+test.mutex+taken, says(prove(h), "k"), name)
	}
	require.Contains(t, says(prove(read(t, `
		1000 a SET k held NX = OK | k string - > held
		1100 b DEL k = 1 | k string held > -
		1200 b SET k held NX = OK | k string - > held`)), "k"), "two-holders")
}

func TestAClientThatWasRefusedMayReadThatItHolds(t *testing.T) {
	const wrote = "wrote k; the judge does not know whether b believes that it holds the lock"
	const one = "1000 a SADD k 1 = 1 | k set - > 1\n1000 a SCARD k = 1\n1100 b SADD k 1 = 0\n1100 b SCARD k = 1"
	const set = "1000 a SET k 1 NX = OK | k string - > 1\n1100 b SET k 1 NX = (nil)\n1100 b GET k = 1"
	for name, test := range map[string]struct{ log, says string }{
		"it counts one member": {one, "undecided: b's SCARD at 00:00:01.100 " + wrote},
		"it counts and releases": {one + "\n1200 b SREM k 1 = 1 | k set 1 > -",
			"undecided: b's SCARD at 00:00:01.100 " + wrote},
		"it counts and asks again":   {one + "\n1200 b SADD k 1 = 0", "undecided: b's SCARD at 00:00:01.100 " + wrote},
		"it counts two members":      {one[:len(one)-1] + "2", "safe"},
		"it reads its token":         {set, "undecided: b's GET at 00:00:01.100 " + wrote},
		"it reads it and asks again": {set + "\n1200 b SET k 1 NX = (nil)", "undecided: b's GET at 00:00:01.100 " + wrote},
		"it reads another token":     {strings.ReplaceAll(set, "b SET k 1", "b SET k 2"), "safe"},
		"a script returns its token": {
			"1000 a SET k 1234 NX = OK | k string - > 1234\n1100 b EVALSHA 9f 1 k 1234 500 = 1234",
			"undecided: b's EVALSHA at 00:00:01.100 belongs to a script whose reply does not say whether it took or gave up k"},
		"a script returns another token": {
			"1000 a SET k 1234 NX = OK | k string - > 1234\n1100 b EVALSHA 9f 1 k 5678 500 = 1234", "safe"},
	} {
		require.Equal(t, test.says, says(prove(read(t, test.log)), "k"), name)
	}
}

func TestAFieldBesideTheTokenIsNoTokenOfItsOwn(t *testing.T) {
	const exp = "1700000000000 a EVALSHA 9f 1 k ta 1700000002000 = 1 | k hash - > exp=1700000002000 owner=ta\n"
	const again = "1700000006000 a EVALSHA 9f 1 k ta 1700000008000 = 1 | k hash exp=1700000002000 > exp=1700000008000\n"
	p := prove(read(t, exp+again+"1700000006000 a EVALSHA 7e 1 k ta = 1 | k hash exp=1700000008000 owner=ta > -\n"+
		"1700000006100 b EVALSHA 9f 1 k tb 1700000008100 = 1 | k hash - > exp=1700000008100 owner=tb"))
	require.Equal(t, "safe", says(p, "k"))
	require.Len(t, p.Ledger.Table(0), 2, "a new end of a lease is no grant")

	const count = "1000 a EVALSHA 9f 1 k ta = 1 | k hash - > ta=1\n"
	require.Equal(t, "undecided: b's HSETNX at 00:00:01.100 wrote k; the judge does not know whether b believes that it "+
		"holds the lock", says(prove(read(t, count+"1100 b HSETNX k order tb = 1 | k hash ~ > order=tb")), "k"))
	require.Equal(t, "undecided: b's HSET at 00:00:01.100 wrote k; the judge does not know whether b believes that it "+
		"holds the lock", says(prove(read(t, count+"1100 b HGET k owner = (nil)\n1100 b HSET k owner tb = 1 | "+
		"k hash ~ > owner=tb")), "k"))
}

func TestALeaseThatClientsGiveBehindTheGrantMayCount(t *testing.T) {
	const lost = "1000 a SETNX k ta = 1 | k string - > ta\n1100 c DEL k = 1 | k string ta > -\n"
	const b = "1200 b SETNX k tb = 1 | k string - > tb\n1200 b PEXPIRE k 500 = 1 | k string tb > tb@1700"
	require.Contains(t, says(prove(read(t, lost+b)), "k"), "two-holders")
	require.Equal(t, "undecided: a's SETNX at 00:00:01.000 took k without the lease that other clients give it next; "+
		"the judge does not know how long a believes that it holds the lock",
		says(prove(read(t, lost+strings.ReplaceAll(b, "1200", "1600"))), "k"))
}

func TestAWordIsNoProofThatTwoConnectionsAreOneClient(t *testing.T) {
	h := read(t, `
		1000 x SET k locked NX PX 500 = OK | k string - > locked@1500
		1100 b GET k = locked
		1100 b PEXPIRE k 600 = 1 | k string locked@1500 > locked@1700
		1100 b EVALSHA 9f 1 k locked 600 = 1`)
	h.Entries[0].Name, h.Entries[2].By, h.Entries[2].Run = "", "9f", 1
	require.Contains(t, says(prove(h), "k"), "undecided")
	for i := range h.Entries {
		h.Entries[i].Cmd = strings.Fields(strings.ReplaceAll(strings.Join(h.Entries[i].Cmd, " "), "locked", random))
		for _, c := range h.Entries[i].Changes {
			c.After.Text = random
			if c.Before != nil {
				c.Before.Text = random
			}
		}
	}
	require.Equal(t, "safe", says(prove(h), "k"))
}

const random = "0c9b7f52-4f1e-4a57-9e0d-2b1c55d0a8f1"

// As Redisson's scripts: a hash has a mode, and a field for each client with its count.
func TestReadersOfOneLock(t *testing.T) {
	const takes = "1000 a HSET k mode read = 1 | k hash - > mode=read\n1000 a HSET k ta 1 = 1 | k hash ~ > ta=1\n" +
		"1000 a PEXPIRE k 500 = 1 | k hash ~ > ~@1500\n1000 a EVALSHA 9f 1 k 500 ta ta:write = (nil)\n"
	const over = "1501 - expired | k hash ta=1@1500 > -\n"
	const writes = "HSET k mode write = 1 | k hash - > mode=write\n1600 b HSET k tb 1 = 1 | k hash ~ > tb=1\n" +
		"1600 b PEXPIRE k 500 = 1 | k hash ~ > ~@2100\n1600 b EVALSHA 7e 1 k 500 tb = (nil)"
	for name, test := range map[string]struct {
		grants int
		log    string
		says   string
	}{
		"a reader comes in the last millisecond, and prolongs the key": {2, takes +
			"1500 b HINCRBY k tb 1 = 1 | k hash ~@1500 > tb=1@1500\n1500 b PEXPIRE k 500 = 1 | k hash ~@1500 > ~@2000\n" +
			"1500 b EVALSHA 9f 1 k 500 tb tb:write = (nil)", ""},
		"its token comes again, and the older lease is over": {3, takes + over + strings.ReplaceAll(strings.ReplaceAll(
			takes, "1000", "1550"), "@1500", "@2050") + "1560 b HINCRBY k tb 1 = 1 | k hash ~@2050 > tb=1@2050\n" +
			"1560 b EVALSHA 9f 1 k 500 tb tb:write = (nil)", ""},
		"its script was asked for less than the key has": {3, strings.ReplaceAll(takes, "500", "5000") +
			"1010 b HINCRBY k tb 1 = 1 | k hash ~@6000 > tb=1@6000\n1010 b EVALSHA 9f 1 k 200 tb tb:write = (nil)\n" +
			"1020 a PEXPIRE k 500 = 1 | k hash ~@6000 > ~@1520\n1020 a EVALSHA 5c 1 k 500 ta = 1\n" +
			"1521 - expired | k hash ta=1@1520 tb=1@1520 > -\n1600 a HSET k mode write = 1 | k hash - > mode=write\n" +
			"1600 a HSET k ta:write 1 = 1 | k hash ~ > ta:write=1",
			"undecided: b's HINCRBY at 00:00:01.010 left k a longer lease than its script was asked for; " +
				"the judge does not know how long b believes that it holds the lock"},
		"its write token beside its read token is its own": {3, takes + over + "1600 b " + writes +
			"\n2101 - expired | k hash tb=1@2100 > -\n2200 a HSET k mode write = 1 | k hash - > mode=write\n" +
			"2200 a HSET k ta:write 1 = 1 | k hash ~ > ta:write=1", ""},
	} {
		h := read(t, strings.ReplaceAll(test.log, "ta", random))
		for i := range h.Entries {
			if e := &h.Entries[i]; e.Client != 0 && e.Cmd[0] != "EVALSHA" {
				e.By, e.Run = "9f", 1
			}
		}
		p := prove(h)
		require.Equal(t, cmp.Or(test.says, "safe"), says(p, "k"), name)
		require.Len(t, p.Ledger.Table(0), test.grants, name)
	}
}

func TestAConnectionWithoutANameToANewMasterMayBeTheHolders(t *testing.T) {
	for who, want := range map[string]string{"y": "undecided", "b": "two-holders"} {
		old := read(t, "1000 x SET k ta NX PX 5000 = OK | k string - > ta@6000\n1100 - demoted")
		now := read(t, "1000 - applied | k string - > ta@6000\n1101 - promoted\n"+
			"1200 "+who+" DEL k = 1 | k string ta@6000 > -\n"+
			"1300 b SET k tb NX PX 5000 = OK | k string - > tb@6300")
		old.Entries[0].Name = ""
		if who == "y" {
			now.Entries[2].Name = ""
		}
		old.Node, now.Node = &lab.Node{Node: 1, Role: "replica"}, &lab.Node{Node: 2, Role: "master"}
		p := proof.Prove([]lab.History{old, now}, []proof.Node{{Name: "one"}, {Name: "two"}},
			func(string) bool { return true })
		require.Contains(t, says(p, "k"), want, who)
	}
}

// connections gives the entries of names such as a1 and a2 one name and two connections.
func connections(h lab.History) lab.History {
	for i := range h.Entries {
		e := &h.Entries[i]
		if n := len(e.Name); n > 1 {
			e.Name, e.Client = e.Name[:1], int64(e.Name[n-1])
		}
	}
	return h
}

func TestConnectionsOfOneNameMayBeTwoClients(t *testing.T) {
	const log = "0 a1 GET k = (nil)\n0 a2 GET k = (nil)\n0 a1 SET k 5000 = OK | k string - > 5000\n" +
		"0 a2 SET k 5000 = OK\n900 a2 EVALSHA 9f 1 k 5000 = 1 | k string 5000 > -"
	require.Equal(t, "undecided: clients with one name took the lock with one token, the second before the first gave it "+
		"up: that may be one client, or two", says(prove(connections(read(t, log))), "k"))
	require.Equal(t, "safe", says(prove(connections(read(t, strings.ReplaceAll(log, "a2", "a1")))), "k"))
}

func TestANumberInAReplyIsNoToken(t *testing.T) {
	h := read(t, "0 a EXISTS k = 0\n0 b EXISTS k = 0\n0 a COPY t1 k REPLACE = 1 | k string - > 1\n"+
		"0 b COPY t2 k REPLACE = 1")
	for i := range h.Entries {
		h.Entries[i].Kind, h.Entries[i].Key = ":", "k"
	}
	require.Equal(t, "undecided: b's COPY at 00:00:00.000 wrote k; the judge does not know whether b believes that it "+
		"holds the lock", says(prove(h), "k"))
}
