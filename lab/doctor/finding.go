package doctor

import (
	"slices"

	"github.com/miniredisd/miniredisd/lab/holders"
)

// Pattern is a kind of mistake.
type Pattern string

// The mistakes that the doctor looks for.
const (
	SetnxExpire  Pattern = "setnx-then-expire"
	NoTTL        Pattern = "lock-without-ttl"
	OwnerGone    Pattern = "owner-gone"
	GetDel       Pattern = "get-then-del"
	NotOwner     Pattern = "not-the-owner"
	LateUnlock   Pattern = "late-unlock"
	ScriptInFull Pattern = "script-in-full"
	Polling      Pattern = "polling"
	TwoHolders   Pattern = "two-holders"

	TokenNotUnique  Pattern = "token-not-unique"
	RenewalDropsTTL Pattern = "renewal-drops-ttl"
	RenewalReleases Pattern = "renewal-releases"
	NoSlack         Pattern = "lease-without-slack"
	LateRenewal     Pattern = "late-renewal"
	RenewalAfter    Pattern = "renewal-after-release"
	MayBeEvicted    Pattern = "lock-may-be-evicted"
	Evicted         Pattern = "lock-evicted"
	ClientsClock    Pattern = "clock-of-the-client"
	NoQuorum        Pattern = "no-quorum" // see noQuorum

	ChannelApart Pattern = "channel-in-another-slot"
	KeysApart    Pattern = "keys-in-several-slots"
	Astray       Pattern = "release-at-the-wrong-node"
)

// Finding is one mistake, at the place where it was first made.
type Finding struct {
	Pattern Pattern
	Key     string
	DB      int
	Client  int64 // the client that made it
	Name    string
	Time    int64          // unix ms of the step that was wrong
	Count   int            // how often it was made with keys of this class
	Steps   []holders.Step // the commands, in order
	Why     string
	Fix     string
}

const compareAndDelete = "release with a script that compares and deletes in one step: " +
	`if redis.call("get",KEYS[1])==ARGV[1] then return redis.call("del",KEYS[1]) else return 0 end`

// advice returns why a pattern is wrong, and what is right.
func advice(p Pattern) (why, fix string) {
	switch p {
	case SetnxExpire:
		return "one command took the lock and another one set its TTL: " +
				"a client that dies between them leaves a lock that nobody can ever take",
			"take the lock and set its TTL in one command: SET key token NX PX milliseconds"
	case NoTTL:
		return "the lock has no TTL: if its owner dies before it releases the lock, the lock stays for ever",
			"take it with a TTL: SET key token NX PX milliseconds, and renew it while the work goes on"
	case OwnerGone:
		return "the lock has no TTL, and the connection that took it is closed: " +
				"unless the same process comes back to release it, the lock stays for ever",
			"take it with a TTL: SET key token NX PX milliseconds; delete the left-over lock by hand"
	case GetDel:
		return "GET compared the token and another command deleted the lock: " +
				"if the lease ends between them, the DEL removes another client's lock",
			compareAndDelete + "; or WATCH the key before GET and delete it in MULTI"
	case NotOwner:
		return "a connection changed the lock without comparing the token, and neither took the lock " +
				"nor ever sent its token: two clients may now believe that they hold it",
			compareAndDelete + "; renew in the same way"
	case LateUnlock:
		return "the lease had ended before the release: since then nothing protected the work, " +
				"and another client may have held the lock",
			"renew the lease while the work goes on, or use a longer one; treat a release that finds nothing " +
				"as an error, and protect the data by a fencing token"
	case ScriptInFull:
		return "one connection sends the text of the same script again and again: " +
				"that costs bytes and hashing for each lock",
			"send EVALSHA with the script's SHA1, and EVAL only after NOSCRIPT"
	case Polling:
		return "a waiter tries again and again for a lock whose release publishes a message, " +
				"and does not subscribe to it: needless load, and late by half an interval",
			"SUBSCRIBE to the channel of the release, try once more after subscribing, " +
				"then wait for the message, but no longer than the TTL"
	case TokenNotUnique:
		return "two clients use the same token for one lock: a script that compares the token cannot tell them apart, " +
				"so a late release by one of them removes the lock of the other",
			"give each attempt to take the lock a token of its own, such as 16 random bytes"
	case RenewalDropsTTL:
		return "a SET without an expiry renewed the lock, and SET removes the TTL of its key: " +
				"from then on the lock has none, and if its owner dies, it stays for ever",
			"give the renewal its lease: SET key token IFEQ token PX milliseconds; without IFEQ use a script that compares " +
				"the token and calls PEXPIRE"
	case MayBeEvicted, Evicted:
		return evictionAdvice(p)
	case ClientsClock:
		return clockAdvice(otherTime)
	case RenewalReleases, NoSlack, LateRenewal, RenewalAfter:
		return renewalAdvice(p)
	case ChannelApart, KeysApart:
		return slotAdvice(p)
	case Astray:
		return strayAdvice(toReplica)
	case TwoHolders:
		return "a majority of the masters granted the lock to a second client before the first client's lease " +
				"was over: both clients believe that they hold it",
			"let no clock of a master jump (slew, do not step), keep a master that lost its keys away " +
				"for longer than the longest lease, and check a fencing token where the data is"
	}
	return "", ""
}

// busyLoop returns the advice for Polling if the release publishes no message.
func busyLoop() (why, fix string) {
	return "a waiter tries for a lock again and again without a pause",
		"pause between attempts for some milliseconds plus a random part, " +
			"or let the release PUBLISH a message and wait for it"
}

// report adds a finding, or counts it if the pattern is known for this class of keys.
func (d *Doctor) report(p Pattern, k holders.Key, culprit op, steps ...holders.Step) *Finding {
	why, fix := advice(p)
	return d.because(why, fix, p, k, culprit, steps...)
}

// because is report for a pattern with several reasons.
func (d *Doctor) because(why, fix string, p Pattern, k holders.Key, culprit op, steps ...holders.Step) *Finding {
	return d.add(&Finding{
		Pattern: p, Key: k.Name, DB: k.DB, Count: 1, Steps: steps, Why: why, Fix: fix,
		Client: culprit.client, Name: culprit.owner, Time: culprit.time,
	})
}

// add keeps f, unless there is a finding of its kind already. It returns the finding that is kept. Each reason is a
// kind, except those of TwoHolders, which name times.
func (d *Doctor) add(f *Finding) *Finding {
	id := string(f.Pattern) + "\x00" + holders.Class(f.Key) + "\x00" + holders.Class(f.Name)
	if f.Pattern != TwoHolders {
		id += "\x00" + f.Why
	}
	if d.again != nil {
		return f
	}
	if first := d.found.Get(id); first != nil {
		first.Count++
		return first
	}
	d.found.Put(id, f)
	if !d.logged[f.Pattern] {
		d.logged[f.Pattern] = true
		if d.log != nil {
			d.log(*f)
		}
	}
	return f
}

func (d *Doctor) list() []Finding {
	all := make([]Finding, 0, d.found.Len())
	for _, f := range d.found.All() {
		c := *f
		c.Steps = slices.Clone(f.Steps)
		all = append(all, c)
	}
	return all
}
