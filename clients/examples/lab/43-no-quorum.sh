#!/bin/bash
# 43. "Unable to achieve a quorum" has five causes, and the clients say the same of all of them (node-redlock#168,
# redsync#186, #140, #149). Here is each of them with three masters, where two votes are a quorum.
. "$(dirname "$0")/lab.sh"
start --masters 3
for who in a b; do for master in 1 2 3; do client "$who.$master" "$master"; done; done

# A key of another type. SET NX sees that the key exists. The release of a token says why.
a.1 RPUSH lock:order job
a.1 gets 1
a.2 RPUSH lock:order job
a.2 gets 1
for master in 1 2; do
	"a.$master" SET lock:order token-1 NX PX 10000
	"a.$master" gets '(nil)'
done
a.1 GET lock:order
a.1 gets 'WRONGTYPE Operation against a key holding the wrong kind of value'
for master in 1 2; do
	"a.$master" DEL lock:order
	"a.$master" gets 1
done

# A lease that is shorter than the time of the attempt: the first vote is gone when the last one comes.
a.1 SET lock:order token-2 NX PX 200
a.1 gets OK
lab ALL CLOCK ADVANCE 201
a.2 SET lock:order token-2 NX PX 200
a.2 gets OK
a.1 EXISTS lock:order
a.1 gets 0
lab ALL CLOCK ADVANCE 201

# Dead masters: two of three do not answer.
lab MASTER 2 LISTEN OFF
lab MASTER 3 LISTEN OFF
client c.1 1
client c.2 2
client c.3 3
c.1 SET lock:order token-3 NX PX 10000
c.1 gets OK
c.2 SET lock:order token-3 NX PX 10000
c.2 gets '(refused)'
c.3 SET lock:order token-3 NX PX 10000
c.3 gets '(refused)'
c.1 EVAL "$unlock" 1 lock:order token-3
c.1 gets 1
lab MASTER 2 LISTEN ON
lab MASTER 3 LISTEN ON

# A partial win that is not released: a has one vote, b has one, and each stands in the other's way.
a.1 SET lock:order token-4 NX PX 10000
a.1 gets OK
b.2 SET lock:order token-5 NX PX 10000
b.2 gets OK
lab MASTER 3 LISTEN OFF
a.2 SET lock:order token-4 NX PX 10000
a.2 gets '(nil)'
b.1 SET lock:order token-5 NX PX 10000
b.1 gets '(nil)'
a.1 EVAL "$unlock" 1 lock:order token-4
a.1 gets 1
b.1 SET lock:order token-5 NX PX 10000
b.1 gets OK
lab MASTER 3 LISTEN ON

# A clock: those of two masters stand back an hour, so the leases there last an hour longer than the holder's.
lab ALL CLOCK ADVANCE 10001
for master in 1 2; do
	"a.$master" SET lock:order token-6 NX PX 10000
	"a.$master" gets OK
	lab MASTER $master CLOCK SET 1699996400000
done
lab ALL CLOCK ADVANCE 10001
for master in 1 2; do
	"b.$master" SET lock:order token-7 NX PX 10000
	"b.$master" gets '(nil)'
done

the_end
