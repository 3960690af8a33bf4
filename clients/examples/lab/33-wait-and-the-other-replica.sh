#!/bin/bash
# 33. WAIT 1 has answered 1, and the other replica is promoted.
. "$(dirname "$0")/lab.sh"
start --replicas 2
client worker-1
client worker-2 3
lab REPLICATION HOLD "${ports[2]}"

worker-1 SET lock:order token-1 NX PX 30000
worker-1 gets OK
worker-1 WAIT 1 1000
worker-1 gets 1
# One replica has the lock. The other one becomes the master.
lab FAILOVER TO "${ports[2]}"
linked 2
worker-2 SET lock:order token-2 NX PX 30000
worker-2 gets OK
# worker-1 works, and so does worker-2. Only WAIT 2 would have said that one replica lacks the lock.

the_end
