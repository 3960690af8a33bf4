#!/bin/bash
# 32. A failover while the replica is half a second behind: two clients hold the lock.
. "$(dirname "$0")/lab.sh"
start --replicas 1
client worker-1
client worker-2 2
lab REPLICATION LAG 500

worker-1 SET stock 10
worker-1 gets OK
lab ALL CLOCK ADVANCE 2000
linked 1
worker-1 SET lock:order token-1 NX PX 30000
worker-1 gets OK
lab ALL CLOCK ADVANCE 400

# An administrator lets the replica take over. Nothing fails, and nobody hears of anything.
lab FAILOVER
linked 1
worker-2 GET stock
worker-2 gets 10
worker-2 SET lock:order token-2 NX PX 30000
worker-2 gets OK
# worker-1 works, and so does worker-2. worker-1 hears of it when it wants to release its lock.
worker-1 EVAL "$unlock" 1 lock:order token-1
worker-1 hears

the_end
