#!/bin/bash
# 34. min-replicas-to-write 1: the old master, which is cut off, still grants locks for up to ten seconds.
. "$(dirname "$0")/lab.sh"
start --replicas 1
client worker-1
client worker-2 2
worker-1 CONFIG SET min-replicas-to-write 1 min-replicas-max-lag 10
worker-1 gets OK

# The network between the nodes breaks, and the replica is promoted. worker-1 is on the side of the old master.
lab PARTITION CLIENT 'replica-*' ON
lab FAILOVER
lab ALL CLOCK ADVANCE 5000
worker-1 SET lock:order token-1 NX PX 30000
worker-1 gets OK
worker-2 SET lock:order token-2 NX PX 30000
worker-2 gets OK
# worker-1 works, and so does worker-2.

# Six seconds later the old master has not heard of a replica for more than ten.
lab ALL CLOCK ADVANCE 6000
worker-1 SET lock:report token-3 NX PX 30000
worker-1 gets "NOREPLICAS Not enough good replicas to write."

the_end
