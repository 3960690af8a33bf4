package claims

import (
	"slices"
	"strconv"
)

// The stories about locks. Their clocks stand still, so a lease ends when the story says so.

const (
	lease = 30_000 // ms
	year  = 365 * 24 * 3600 * 1000

	// unlock deletes a lock that still has the caller's token. renew prolongs it.
	unlock = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0"
	renew  = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0"

	// friendly is an unlock that says 1 to everybody, as some libraries do: the lock is free, or not ours.
	friendly = "if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end return 1"

	// guarded writes a value unless a writer with a higher fencing token came before.
	guarded = "if tonumber(ARGV[1]) < tonumber(redis.call('HGET', KEYS[1], 'fence') or 0) then" +
		" return redis.error_reply('STALE fencing token') end" +
		" return redis.call('HSET', KEYS[1], 'fence', ARGV[1], 'value', ARGV[2])"
)

// lock takes a lock by SET NX PX, and reports whether it got it.
func (c *client) lock(key string) bool { return c.lockFor(key, lease) }

func (c *client) lockFor(key string, ms int) bool {
	return c.do("SET", key, "token-"+c.name, "NX", "PX", strconv.Itoa(ms)).Str == "OK"
}

// playExpire: A dies between SETNX and EXPIRE. B comes a year later.
func playExpire(s *story) {
	a, b := s.client("A"), s.client("B")
	s.freeze()
	s.lab("FAULT", "ADD", "dies", "CMD", "EXPIRE", "ACTION", "DROP-BEFORE")
	s.begin()
	a.do("SETNX", "lock:a", "token-A")
	s.wants(ended(a.do("EXPIRE", "lock:a", "30")), "A should have lost its connection")
	s.advance(year)
	b.do("SETNX", "lock:a", "token-B")
	b.do("TTL", "lock:a")
	b.do("SET", "lock:b", "token-B", "NX", "EX", "30") // what helps: one command
	b.do("TTL", "lock:b")
}

// playDelete: the DEL of A arrives when its lease is over and B holds the lock. Then the same with a
// script that compares first.
func playDelete(s *story) {
	a, b, c := s.client("A"), s.client("B"), s.client("C")
	s.freeze()
	s.begin()
	s.lateRelease(a, b, c, "lock:a", "DEL", "lock:a")
	s.lateRelease(a, b, c, "lock:b", "EVAL", unlock, "1", "lock:b", "token-A")
}

// lateRelease: A takes the lock and its release is held. The lease ends, and B takes the lock. The release
// continues, and C tries.
func (s *story) lateRelease(a, b, c *client, key string, release ...string) {
	a.lock(key)
	if release[0] == "DEL" {
		a.do("GET", key) // A compares its token, and finds it
	}
	s.hold("late", "CMD", release[0], "CLIENT", "A")
	a.send(release...)
	s.held("late")
	s.advance(lease + 1)
	b.lock(key)
	s.release("late")
	a.reply()
	s.lab("FAULT", "DEL", "late")
	c.lock(key)
}

// playScriptOnly: the server lacks the command, and A releases by a script.
func playScriptOnly(s *story) {
	a := s.client("A")
	s.freeze()
	s.begin()
	a.lock("lock:a")
	a.do("DELEX", "lock:a", "IFEQ", "token-A")
	a.do("EVAL", unlock, "1", "lock:a", "token-A")
}

// releasing: A releases late by a command that ends with its token. Then B releases its own lock.
func releasing(command ...string) func(*story) {
	return func(s *story) {
		a, b, c := s.client("A"), s.client("B"), s.client("C")
		s.freeze()
		s.begin()
		s.lateRelease(a, b, c, "lock:a", command...)
		b.do(append(slices.Clone(command[:len(command)-1]), "token-B")...)
	}
}

// playUnlock: A works on after its lease. Its unlock says 1 by one script, and 0 by the other.
func playUnlock(s *story) {
	a, b := s.client("A"), s.client("B")
	s.freeze()
	s.begin()
	for _, script := range []string{friendly, unlock} {
		a.lock("lock:a")
		s.advance(lease + 1)
		b.lock("lock:a")
		b.do("SET", "stock", "by B")
		a.do("SET", "stock", "by A") // both work
		a.do("EVAL", script, "1", "lock:a", "token-A")
		b.do("EVAL", unlock, "1", "lock:a", "token-B")
	}
}

// playWatchdog: A renews its lease of 30 s every 10 s. Then it is cut off for 35 s.
func playWatchdog(s *story) {
	a, b := s.client("A"), s.client("B")
	s.freeze()
	s.begin()
	a.lock("lock:a")
	renewal := []string{"EVAL", renew, "1", "lock:a", "token-A", strconv.Itoa(lease)}
	for range 4 {
		s.advance(lease / 3)
		a.do(renewal...)
	}
	b.lock("lock:a") // A has had the lock for 40 s, and B is refused
	s.lab("PARTITION", "CLIENT", "A", "ON")
	s.advance(lease / 3)
	a.send(renewal...) // does not get through
	s.advance(2 * lease / 3)
	s.advance(1)
	b.lock("lock:a")
	s.advance(lease/6 - 1)
	s.lab("PARTITION", "CLIENT", "A", "OFF")
	a.reply()
}

// votes takes a lock on some masters and returns how many granted it.
func votes(of []*client, key string) (n int) {
	for _, c := range of {
		if c.lockFor(key, lease) {
			n++
		}
	}
	return n
}

// onMasters connects a client to every master.
func (s *story) onMasters(name string) (all []*client) {
	for i := range s.servers.Addrs {
		all = append(all, s.clientOf(i+1, name))
	}
	return all
}

// playCrash: A holds the lock on masters 1, 2 and 3. Master 3 crashes and forgets it. B takes 3, 4 and 5.
func playCrash(s *story) {
	s.watched = 3
	a, b := s.onMasters("A"), s.onMasters("B")
	s.freeze()
	s.begin()
	votes(a[:3], "lock:a")
	s.labOf(3, "CRASH")
	b[2] = s.clientOf(3, "B")
	votes(b[2:], "lock:a")
}

// playJump: A holds the lock on masters 1, 2 and 3. The clock of master 3 jumps. B takes 3, 4 and 5.
func playJump(s *story) {
	s.watched = 3
	a, b := s.onMasters("A"), s.onMasters("B")
	s.freeze()
	s.begin()
	votes(a[:3], "lock:a")
	s.labOf(3, "CLOCK", "ADVANCE", strconv.Itoa(lease+1))
	votes(b[2:], "lock:a")
}

// playPause: A holds the lock and pauses for longer than the lease. B takes the lock and writes, then A
// writes. The second time the store checks a fencing token.
func playPause(s *story) {
	a, b := s.onMasters("A"), s.onMasters("B")
	s.freeze()
	s.begin()
	votes(a, "lock:a")
	s.advance(lease + 1) // A does not run
	votes(b, "lock:a")
	for _, each := range []*client{b[0], a[0]} {
		each.do("SET", "stock", "by "+each.name)
	}
	b[0].do("EVAL", guarded, "1", "guarded", "34", "by B")
	a[0].do("EVAL", guarded, "1", "guarded", "33", "by A")
}
