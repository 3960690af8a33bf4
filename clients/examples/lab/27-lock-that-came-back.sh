#!/bin/bash
# 27. The lock that came back: a file of a minute ago has it, and its release was lost in the crash.
. "$(dirname "$0")/lab.sh"
start --lab-disk yes --save '60 1'
client worker-1

worker-1 SET lock:order token-1 NX PX 600000
worker-1 gets OK
lab CLOCK ADVANCE 61000
# The save point has written dump.rdb, with the lock in it. Then worker-1 is done.
worker-1 EVAL "$unlock" 1 lock:order token-1
worker-1 gets 1
lab CRASH

# Nobody holds the lock, and nobody gets it until the lease of ten minutes is over.
client worker-2
worker-2 SET lock:order token-2 NX PX 30000
worker-2 gets '(nil)'
worker-2 GET lock:order
worker-2 gets token-1
worker-2 PTTL lock:order
worker-2 gets 539000

# What helps: a short lease that is renewed. What came back is over soon.
lab CLOCK ADVANCE 539001
worker-2 SET lock:order token-2 NX PX 30000
worker-2 gets OK

logged 1 'it is back: its deletion was never on disk'
the_end
