#!/bin/bash
# 28. The lease runs on while the server is down: files have the time at which a key expires, not how long it lives.
# A clock that jumps during the outage makes the lease shorter or longer.
. "$(dirname "$0")/lab.sh"
start --masters 2 --lab-disk yes --appendonly yes --appendfsync always
via=2 # the first server will be down

client worker-1
worker-1 SET lock:order token-1 NX PX 30000
worker-1 gets OK
lab MASTER 1 CRASH DOWN 20000
lab ALL CLOCK ADVANCE 20000
client worker-1
worker-1 PTTL lock:order
worker-1 gets 10000
worker-1 EVAL "$unlock" 1 lock:order token-1
worker-1 gets 1

# The clock of the server goes back by an hour while it is down: the lock outlives its owner.
worker-1 SET lock:report token-2 NX PX 30000
worker-1 gets OK
lab MASTER 1 CRASH DOWN 0
lab MASTER 1 CLOCK SET 1699996420000
client worker-1
worker-1 PTTL lock:report
worker-1 gets 3630000
lab MASTER 1 CLOCK SET 1700000020000
worker-1 EVAL "$unlock" 1 lock:report token-2
worker-1 gets 1

# It jumps ahead by a minute: the lease is over 20 s too early, and worker-2 has the lock, too.
worker-1 SET lock:stock token-3 NX PX 30000
worker-1 gets OK
lab ALL CLOCK ADVANCE 10000
lab MASTER 1 CRASH
lab MASTER 1 CLOCK SET 1700000090000
client worker-2
worker-2 SET lock:stock token-4 NX PX 30000
worker-2 gets OK

the_end
