package doctor

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Every pattern has histories of clients that make the mistake, and of clients that look alike and
// are right.
func patterns() map[string][]struct {
	what, history string
	want          []string // empty for clients that are right
} {
	type h = struct {
		what, history string
		want          []string
	}
	return map[string][]h{
		"setnx then expire": {
			{"two commands", `
				1000 a1 SETNX lock:a 1 = 1
				1001 a1 EXPIRE lock:a 10 = 1`, []string{"setnx-then-expire lock:a 9701"}},
			{"SET NX without a TTL is the same", `
				1000 a1 SET lock:a 1 NX = OK
				1001 a1 PEXPIRE lock:a 10000 = 1`, []string{"setnx-then-expire lock:a 9701"}},
			{"whatever the key is called", `
				1000 a1 SETNX counter 0 = 1
				1001 a1 EXPIRE counter 60 = 1`, []string{"setnx-then-expire counter 9701"}},
			{"one command", `
				1000 a1 SET lock:a 1 NX EX 10 = OK
				1001 a1 PEXPIRE lock:a 10000 = 1`, nil},
			{"in one transaction", `
				1000 a1 * SETNX lock:a 1 = 1
				1000 a1 * EXPIRE lock:a 10 = 1
				1000 a1 EXEC`, nil},
			{"in one script", `
				1000 a1 > SETNX lock:a 1 = 1
				1000 a1 > PEXPIRE lock:a 10000 = 1
				1000 a1 EVALSHA abc 1 lock:a 1 10000 = 1`, nil},
		},
		"no TTL": {
			{"held and released", `
				1000 a1 SETNX lock:a 1 = 1
				1500 a1 DEL lock:a = 1`, []string{"lock-without-ttl lock:a 9701"}},
			{"held for long", `
				1000 a1 SET lock:a 1 NX = OK`, []string{"lock-without-ttl lock:a 9701"}},
			{"wanted by others", `
				1000 a1 SETNX job 0123456789abcdef = 1
				2500 b1 SETNX job fedcba9876543210 = 0
				2510 b1 SETNX job fedcba9876543211 = 0
				2520 b1 SETNX job fedcba9876543212 = 0`, []string{"lock-without-ttl job 9701"}},
			{"compared by a script before it is deleted", `
				1000 a1 SETNX job 0123456789abcdef = 1
				1500 a1 > GET job = 0123456789abcdef
				1500 a1 > DEL job = 1
				1500 a1 EVALSHA abc 1 job 0123456789abcdef = 1`, []string{"lock-without-ttl job 9701"}},
			{"taken away by PERSIST", `
				1000 a1 SET lock:a 1 NX PX 10000 = OK
				1000 a1 PERSIST lock:a = 1`, []string{"lock-without-ttl lock:a 9701"}},
			{"a key that is only set once", `
				1000 a1 SETNX config:version 3 = 1`, nil},
			{"a lock with TTL", `
				1000 a1 SET lock:a 1 NX PX 500 = OK
				1400 b1 SET lock:a 1 NX PX 500 = nil
				1500 expired lock:a`, nil},
			{"put there by hand, and its owner deletes it", `
				1000 a1 SET lock:a token-of-a NX PX 500 = OK
				1100 x1 SET lock:a stranger = OK
				1200 a1 * DEL lock:a = 1
				1200 a1 EXEC`, nil},
			{"put there by hand", `
				1000 a1 SET lock:a token-of-a NX PX 500 = OK
				1100 x1 SET lock:a stranger = OK
				1200 a1 > GET lock:a = stranger
				1200 a1 EVALSHA abc 1 lock:a token-of-a = 0
				1300 x1 DEL lock:a = 1`, nil},
		},
		"owner gone": {
			{"without TTL", `
				1000 a1 SETNX lock:a 1 = 1
				1100 a1 gone`, []string{"owner-gone lock:a 9701", "lock-without-ttl lock:a 9701"}},
			{"with a TTL the lease ends it", `
				1000 a1 SET lock:a 1 NX PX 10000 = OK
				1100 a1 gone
				11000 expired lock:a`, nil},
			{"no lock at all", `
				1000 a1 SETNX config:version 3 = 1
				1100 a1 gone`, nil},
		},
		"get then del": {
			{"two commands", `
				1000 a1 SET lock:a token-1 NX PX 3000 = OK
				1500 a1 GET lock:a = token-1
				1501 a1 DEL lock:a = 1`, []string{"get-then-del lock:a 9701"}},
			{"MULTI does not help without WATCH", `
				1000 a1 SET lock:a token-1 NX PX 3000 = OK
				1500 a1 GET lock:a = token-1
				1501 a1 * UNLINK lock:a = 1
				1501 a1 EXEC`, []string{"get-then-del lock:a 9701"}},
			{"and the race is lost", `
				1000 a1 SET lock:a token-1 NX PX 3000 = OK
				3900 a1 GET lock:a = token-1
				4000 expired lock:a
				4001 b1 SET lock:a token-2 NX PX 3000 = OK
				4002 a1 DEL lock:a = 1`,
				[]string{"get-then-del lock:a 9701", "not-the-owner lock:a 9701", "late-unlock lock:a 9701"}},
			{"WATCH comes too late", `
				1000 a1 SET lock:a token-1 NX PX 3000 = OK
				1500 a1 GET lock:a = token-1
				1500 a1 WATCH lock:a = OK
				1501 a1 * DEL lock:a = 1
				1501 a1 EXEC`, []string{"get-then-del lock:a 9701"}},
			{"WATCH, GET, MULTI, DEL, EXEC", `
				1000 a1 SET lock:a token-1 NX PX 3000 = OK
				1500 a1 WATCH lock:a = OK
				1500 a1 GET lock:a = token-1
				1501 a1 * DEL lock:a = 1
				1501 a1 EXEC`, nil},
			{"a script", `
				1000 a1 SET lock:a token-1 NX PX 3000 = OK
				1400 a1 GET lock:a = token-1
				1500 a1 > GET lock:a = token-1
				1500 a1 > DEL lock:a = 1
				1500 a1 EVALSHA abc 1 lock:a token-1 = 1`, nil},
			{"of a key that is no lock", `
				1000 a1 SET cache:a 1 NX PX 3000 = OK
				1500 a1 GET cache:a = 1
				1501 a1 DEL cache:a = 1`, nil},
		},
		"not the owner": {
			{"DEL by somebody", `
				1000 a1 SET lock:a token-1 NX PX 3000 = OK
				1500 b1 DEL lock:a = 1`, []string{"not-the-owner lock:a 9801"}},
			{"EXPIRE by somebody", `
				1000 a1 SET lock:a token-1 NX PX 3000 = OK
				1500 b1 PEXPIRE lock:a 9000 = 1`, []string{"not-the-owner lock:a 9801"}},
			{"a script that compares nothing", `
				1000 a1 SET lock:a token-1 NX PX 3000 = OK
				1500 b1 > DEL lock:a = 1
				1500 b1 EVALSHA abc 1 lock:a token-2 = 1`, []string{"not-the-owner lock:a 9801"}},
			{"after the own lease", `
				1000 a1 SET lock:a 1 NX PX 3000 = OK
				4000 expired lock:a
				4100 b1 SET lock:a 1 NX PX 3000 = OK
				4200 a1 DEL lock:a = 1`,
				[]string{"token-not-unique lock:a 9801", "not-the-owner lock:a 9701", "late-unlock lock:a 9701"}},
			{"after a try that failed", `
				1000 a1 SET lock:a token-1 NX PX 3000 = OK
				1100 b1 SET lock:a token-2 NX PX 3000 = nil
				1200 b1 DEL lock:a = 1`, []string{"not-the-owner lock:a 9801"}},
			{"the connection that took it", `
				1000 a1 SET lock:a 1 NX PX 3000 = OK
				1500 a1 PEXPIRE lock:a 3000 = 1
				1500 a1 DEL lock:a = 1`, nil},
			{"another connection of the same pool", `
				1000 a1 SET lock:a 12ab34cd-token NX PX 3000 = OK
				1500 a2 > GET lock:a = 12ab34cd-token
				1500 a2 > PEXPIRE lock:a 9000 = 1
				1500 a2 EVALSHA abc 1 lock:a 12ab34cd-token 9000 = 1
				1600 a2 DEL lock:a = 1`, nil},
			{"a plain PEXPIRE of Redisson's multi-lock", `
				1000 a1 > EXISTS lock:a = 0
				1000 a1 > HINCRBY lock:a 0123456789abcdef0123:1 1 = 1
				1000 a1 > PEXPIRE lock:a 3000 = 1
				1000 a1 EVALSHA abc 1 lock:a 3000 0123456789abcdef0123:1 = nil
				1100 a2 PEXPIRE lock:a 9000 = 1`, nil},
		},
		"late unlock": {
			{"a script", `
				1000 a1 SET lock:a token-1 NX PX 500 = OK
				1500 expired lock:a
				1700 a1 > GET lock:a = nil
				1700 a1 EVAL UNLOCK 1 lock:a token-1 = 0`, []string{"late-unlock lock:a 9701"}},
			{"a script on another connection, and another owner", `
				1000 a1 SET lock:a token-1 NX PX 500 = OK
				1500 expired lock:a
				1600 b1 SET lock:a token-2 NX PX 500 = OK
				1700 a2 > GET lock:a = token-2
				1700 a2 EVAL UNLOCK 1 lock:a token-1 = 0`, []string{"late-unlock lock:a 9702"}},
			{"known by SCRIPT LOAD", `
				900 a1 SCRIPT LOAD UNLOCK = abc
				1000 a1 SET lock:a token-1 NX PX 500 = OK
				1500 expired lock:a
				1700 a1 EVALSHA SHA 1 lock:a token-1 = 0`, []string{"late-unlock lock:a 9701"}},
			{"a script that cannot release", `
				1000 a1 SET lock:a token-1 NX PX 500 = OK
				1500 expired lock:a
				1700 a1 EVALSHA abc 1 lock:a token-1 = 0`, nil},
			{"DEL", `
				1000 a1 SET lock:a token-1 NX PX 500 = OK
				1500 expired lock:a
				1700 a1 DEL lock:a = 0`, []string{"late-unlock lock:a 9701"}},
			{"in time", `
				1000 a1 SET lock:a token-1 NX PX 500 = OK
				1400 a1 > GET lock:a = token-1
				1400 a1 > DEL lock:a = 1
				1400 a1 EVAL UNLOCK 1 lock:a token-1 = 1
				1700 a1 EVAL UNLOCK 1 lock:a token-1 = 0`, nil},
			{"renewed", `
				1000 a1 SET lock:a token-1 NX PX 500 = OK
				1400 a1 > GET lock:a = token-1
				1400 a1 > PEXPIRE lock:a 500 = 1
				1400 a1 EVALSHA abc 1 lock:a token-1 500 = 1
				1800 a1 > GET lock:a = token-1
				1800 a1 > DEL lock:a = 1
				1800 a1 EVAL UNLOCK 1 lock:a token-1 = 1`, nil},
			{"taken again after it had run out", `
				1000 a1 SET lock:a token-1 NX PX 500 = OK
				1500 expired lock:a
				1600 a1 SET lock:a token-2 NX PX 500 = OK
				1700 a1 > GET lock:a = token-2
				1700 a1 > DEL lock:a = 1
				1700 a1 EVAL UNLOCK 1 lock:a token-2 = 1`, nil},
		},
		"script in full": {
			{"every time", `
				1000 a1 SET lock:a token-1 NX PX 500 = OK
				1001 a1 > GET lock:a = token-1
				1001 a1 > DEL lock:a = 1
				1001 a1 EVAL UNLOCK 1 lock:a token-1 = 1
				1002 a1 SET lock:a token-1 NX PX 500 = OK
				1003 a1 > GET lock:a = token-1
				1003 a1 > DEL lock:a = 1
				1003 a1 EVAL UNLOCK 1 lock:a token-1 = 1
				1004 a1 SET lock:a token-1 NX PX 500 = OK
				1005 a1 > GET lock:a = token-1
				1005 a1 > DEL lock:a = 1
				1005 a1 EVAL UNLOCK 1 lock:a token-1 = 1`, []string{"script-in-full lock:a 9701"}},
			{"once by each connection", `
				1000 a1 SET lock:a token-1 NX PX 500 = OK
				1001 a1 EVAL UNLOCK 1 lock:a token-1 = 1
				1001 a2 EVAL UNLOCK 1 lock:a token-1 = 1
				1001 a3 EVAL UNLOCK 1 lock:a token-1 = 1
				1001 a4 EVAL UNLOCK 1 lock:a token-1 = 1`, nil},
			{"as often as NOSCRIPT was the answer", `
				1000 a1 SET lock:a token-1 NX PX 500 = OK
				1001 a1 EVALSHA SHA 1 lock:a token-1 = NOSCRIPT No matching script.
				1001 a2 EVALSHA SHA 1 lock:a token-1 = NOSCRIPT No matching script.
				1001 a3 EVALSHA SHA 1 lock:a token-1 = NOSCRIPT No matching script.
				1002 a1 EVAL UNLOCK 1 lock:a token-1 = 1
				1002 a1 EVAL UNLOCK 1 lock:a token-1 = 1
				1002 a1 EVAL UNLOCK 1 lock:a token-1 = 1
				1003 a1 EVALSHA SHA 1 lock:a token-1 = 1`, nil},
			{"once after each SCRIPT FLUSH", `
				1000 a1 SET lock:a token-1 NX PX 500 = OK
				1001 a1 EVAL UNLOCK 1 lock:a token-1 = 1
				1001 a1 SCRIPT FLUSH = OK
				1001 a1 EVAL UNLOCK 1 lock:a token-1 = 1
				1001 a1 SCRIPT FLUSH = OK
				1001 a1 EVAL UNLOCK 1 lock:a token-1 = 1`, nil},
			{"a lock nobody holds", `
				1000 a1 EVAL UNLOCK 1 lock:a token-1 = 0
				1000 a1 EVAL UNLOCK 1 lock:a token-1 = 0
				1000 a1 EVAL UNLOCK 1 lock:a token-1 = 0`, nil},
		},
		"libraries": {
			{"a lock on two keys", `
				1000 a1 > EXISTS lock:a = 0
				1000 a1 > EXISTS lock:b = 0
				1000 a1 > SET lock:a 0123456789abcdef PX 3000 = OK
				1000 a1 > SET lock:b 0123456789abcdef PX 3000 = OK
				1000 a1 EVALSHA abc 2 lock:a lock:b 0123456789abcdef 3000 = 2
				1100 b1 DEL lock:b = 1`, []string{"not-the-owner lock:b 9801"}},
			{"a re-entrant lock with its latch", `
				1000 a1 > EXISTS r = 0
				1000 a1 > HINCRBY r 0123456789abcdef0123:1 1 = 1
				1000 a1 > PEXPIRE r 3000 = 1
				1000 a1 EVALSHA abc 1 r 3000 0123456789abcdef0123:1 = nil
				1001 a2 > EXISTS r = 1
				1001 a2 > HEXISTS r 0123456789abcdef0123:1 = 1
				1001 a2 > HINCRBY r 0123456789abcdef0123:1 1 = 2
				1001 a2 > PEXPIRE r 3000 = 1
				1001 a2 EVALSHA abc 1 r 3000 0123456789abcdef0123:1 = nil
				1002 b1 > EXISTS r = 1
				1002 b1 > HEXISTS r fedcba98765432100123:1 = 0
				1002 b1 > PTTL r = 2999
				1002 b1 EVALSHA abc 1 r 3000 fedcba98765432100123:1 = 2999
				1003 a3 > HEXISTS r 0123456789abcdef0123:1 = 1
				1003 a3 > HINCRBY r 0123456789abcdef0123:1 -1 = 1
				1003 a3 > PEXPIRE r 3000 = 1
				1003 a3 > GET unlock_latch = nil
				1003 a3 > SET unlock_latch 0 PX 500 = OK
				1003 a3 EVALSHA abd 3 r ch unlock_latch 0 3000 0123456789abcdef0123:1 = 0
				1003 b1 DEL unlock_latch = 1
				1004 a3 > HEXISTS r 0123456789abcdef0123:1 = 1
				1004 a3 > HINCRBY r 0123456789abcdef0123:1 -1 = 0
				1004 a3 > DEL r = 1
				1004 a3 > SET unlock_latch 1 PX 500 = OK
				1004 a3 > PUBLISH ch 0 = 0
				1004 a3 EVALSHA abd 3 r ch unlock_latch 0 3000 0123456789abcdef0123:1 = 1
				1004 a4 DEL unlock_latch = 1`, nil},
			{"read locks of two", `
				1000 a1 > HGET rw mode = nil
				1000 a1 > HSET rw mode read = 1
				1000 a1 > HSET rw 0123456789abcdef0123:1 1 = 1
				1000 a1 > SET rw:to:1 1 = OK
				1000 a1 > PEXPIRE rw:to:1 3000 = 1
				1000 a1 > PEXPIRE rw 3000 = 1
				1000 a1 EVALSHA abc 2 rw rw:to 3000 0123456789abcdef0123:1 = nil
				1001 b1 > HGET rw mode = read
				1001 b1 > HINCRBY rw fedcba98765432100123:1 1 = 1
				1001 b1 > PEXPIRE rw 3000 = 1
				1001 b1 EVALSHA abc 2 rw rw:to 3000 fedcba98765432100123:1 = nil
				1002 a1 > HDEL rw 0123456789abcdef0123:1 = 1
				1002 a1 EVALSHA abd 2 rw rw:to 0123456789abcdef0123:1 = 1
				1003 c1 DEL rw = 1`, nil},
			{"renewed by SET XX PX", `
				1000 a1 SET lock:a token-of-a NX PX 500 = OK
				1100 a1 SET lock:a token-of-a XX PX 500 = OK
				1200 b1 SET lock:a token-of-b NX PX 500 = nil`, nil},
		},
		"polling": {
			{"without a pause", busy(0), []string{"polling lock:a 9801"}},
			{"with a pause of 5 ms", busy(5), nil},
			{"while the release publishes", `
				1000 a1 SET lock:a token-1 NX PX 5000 = OK
				1100 b1 SET lock:a token-2 NX PX 5000 = nil
				1200 b1 SET lock:a token-2 NX PX 5000 = nil
				1300 b1 SET lock:a token-2 NX PX 5000 = nil
				1400 b1 SET lock:a token-2 NX PX 5000 = nil
				1500 b1 SET lock:a token-2 NX PX 5000 = nil
				1600 a1 > GET lock:a = token-1
				1600 a1 > DEL lock:a = 1
				1600 a1 > PUBLISH lock:a:free token-1 = 0
				1600 a1 EVALSHA abc 1 lock:a token-1 = 1`, []string{"polling lock:a 9801"}},
			{"and it listens", `
				1000 a1 SET lock:a token-1 NX PX 5000 = OK
				1100 b1 SET lock:a token-2 NX PX 5000 = nil
				1200 b1 SET lock:a token-2 NX PX 5000 = nil
				1300 b1 SET lock:a token-2 NX PX 5000 = nil
				1400 b1 SET lock:a token-2 NX PX 5000 = nil
				1500 b1 SET lock:a token-2 NX PX 5000 = nil
				1600 a1 > GET lock:a = token-1
				1600 a1 > DEL lock:a = 1
				1600 a1 > PUBLISH lock:a:free token-1 = 1
				1600 a1 EVALSHA abc 1 lock:a token-1 = 1`, nil},
			{"where there is no message", `
				1000 a1 SET lock:a token-1 NX PX 5000 = OK
				1100 b1 SET lock:a token-2 NX PX 5000 = nil
				1200 b1 SET lock:a token-2 NX PX 5000 = nil
				1300 b1 SET lock:a token-2 NX PX 5000 = nil
				1400 b1 SET lock:a token-2 NX PX 5000 = nil
				1500 b1 SET lock:a token-2 NX PX 5000 = nil
				1600 a1 > GET lock:a = token-1
				1600 a1 > DEL lock:a = 1
				1600 a1 EVALSHA abc 1 lock:a token-1 = 1`, nil},
			{"many that pause for 100 ms", many(15, 100), []string{"polling lock:a 9801"}},
			{"many that pause for 2 s", many(15, 2000), nil},
			{"many, for less than a second", first(many(15, 100), 100), nil},
			{"five that pause for 100 ms", many(5, 100), nil},
			{"many that try once", `
				1000 a1 SET lock:a token-1 NX PX 5000 = OK
				1100 b1 SET lock:a token-2 NX PX 5000 = nil
				1100 b2 SET lock:a token-3 NX PX 5000 = nil
				1100 b3 SET lock:a token-4 NX PX 5000 = nil
				1100 b4 SET lock:a token-5 NX PX 5000 = nil
				1100 b5 SET lock:a token-6 NX PX 5000 = nil
				1600 a1 > GET lock:a = token-1
				1600 a1 > DEL lock:a = 1
				1600 a1 > PUBLISH lock:a:free token-1 = 0
				1600 a1 EVALSHA abc 1 lock:a token-1 = 1`, nil},
		},
	}
}

func TestEachPatternIsFoundInWrongClientsOnly(t *testing.T) {
	for pattern, histories := range patterns() {
		for _, h := range histories {
			t.Run(pattern+"/"+h.what, func(t *testing.T) {
				d := New(nil, nil, 0)
				play(t, d, h.history)
				require.Equal(t, append([]string{}, h.want...), found(d, 5000))
			})
		}
	}
}
