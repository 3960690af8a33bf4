#!/bin/bash
# 35. The clock of the new master is behind: the lease is longer there, and nobody holds the lock meanwhile.
. "$(dirname "$0")/lab.sh"
start --replicas 1
client worker-1
client worker-2 2
lab MASTER 2 CLOCK SET 1699999960000

worker-1 SET lock:order token-1 NX PX 30000
worker-1 gets OK
linked 1
lab FAILOVER
linked 1

# The lease ends at a time of the clock of the old master.
worker-2 PTTL lock:order
worker-2 gets 70000
lab ALL CLOCK ADVANCE 30001
worker-2 SET lock:order token-2 NX PX 30000
worker-2 gets '(nil)'
lab ALL CLOCK ADVANCE 40000
worker-2 SET lock:order token-2 NX PX 30000
worker-2 gets OK

the_end
