#!/bin/bash
# 23. A client reads from a replica that is behind: a held lock looks free. And it writes to a replica.
. "$(dirname "$0")/lab.sh"
start --replicas 1
client worker-1 1
client worker-2-reads 2
lab REPLICATION LAG 200

worker-1 SET lock:order token-1 NX PX 30000
worker-1 gets OK
worker-2-reads GET lock:order
worker-2-reads gets '(nil)'
worker-2-reads SET lock:order token-2 NX PX 30000
worker-2-reads gets "READONLY You can't write against a read only replica."

# 200 ms later the lock has reached the replica:
lab ALL CLOCK ADVANCE 200
linked 1
worker-2-reads GET lock:order
worker-2-reads gets token-1

# The unlock is late as well: the lock is free and looks held.
worker-1 EVAL "$unlock" 1 lock:order token-1
worker-1 gets 1
worker-2-reads GET lock:order
worker-2-reads gets token-1

the_end
