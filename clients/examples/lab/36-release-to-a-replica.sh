#!/bin/bash
# 36. The release reaches a master that has become a replica. Its client takes READONLY for success.
. "$(dirname "$0")/lab.sh"
start --replicas 1
client worker-1
client worker-2 2

worker-1 SET lock:order token-1 NX PX 30000
worker-1 gets OK
linked 1

# The release is on its way when the replica takes over.
lab FAULT ADD slow CMD EVAL CLIENT worker-1 ACTION HOLD
worker-1 EVAL "$unlock" 1 lock:order token-1
lab HOLD WAIT slow 10000
lab FAILOVER
linked 1
lab HOLD RELEASE slow
worker-1 hears
# An error, and the lock is where it was. worker-1 does not look.
worker-2 SET lock:order token-2 NX PX 30000
worker-2 gets '(nil)'
worker-2 GET lock:order
worker-2 gets token-1
lab ALL CLOCK ADVANCE 30001
worker-2 SET lock:order token-2 NX PX 30000
worker-2 gets OK

# A client that looks for the master after READONLY releases its lock there.
client worker-2.1 1
worker-2.1 EVAL "$unlock" 1 lock:order token-2
worker-2.1 hears
worker-2 EVAL "$unlock" 1 lock:order token-2
worker-2 gets 1

the_end
