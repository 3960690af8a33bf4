#!/bin/bash
# 7. The master dies before its replica has the lock, and the replica takes over.
. "$(dirname "$0")/lab.sh"
start --replicas 1
via=2
client worker-1
lab MASTER 1 REPLICATION HOLD

worker-1 SET lock:order token-1 NX PX 30000
worker-1 gets OK

# A client that asks how many replicas have the lock gets 0.
worker-1 WAIT 1 100
lab ALL CLOCK ADVANCE 100
worker-1 gets 0

lab MASTER 1 CRASH DOWN 60000
worker-1 gets '(reset)'
linked 0

# The failover: clients now use the second node.
lab FAILOVER
lab gets "${ports[1]}"
client worker-2 2
worker-2 SET lock:order token-2 NX PX 30000
worker-2 gets OK
# worker-1 has 29900 ms left, and works on.

the_end
