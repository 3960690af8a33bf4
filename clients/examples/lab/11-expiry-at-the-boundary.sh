#!/bin/bash
# 11. The last millisecond. A lease of 3000 ms is renewed or released at its very end. The holder
# has it while PTTL is 0, and has lost it one millisecond later.
. "$(dirname "$0")/lab.sh"
start
client worker-1
client worker-2

worker-1 SET lock:order token-1 NX PX 3000
worker-1 gets OK

lab CLOCK ADVANCE 2999
lab gets 0
worker-1 PTTL lock:order
worker-1 gets 1
lab CLOCK ADVANCE 1
lab gets 0
worker-1 PTTL lock:order
worker-1 gets 0
worker-2 SET lock:order token-2 NX PX 3000
worker-2 gets '(nil)'

# A renewal in that millisecond is in time.
worker-1 EVAL "$renew" 1 lock:order token-1 3000
worker-1 gets 1

# One millisecond later the renewal is too late, and another client may hold the lock.
lab CLOCK ADVANCE 3001
lab gets 1
worker-2 SET lock:order token-2 NX PX 3000
worker-2 gets OK
worker-1 EVAL "$renew" 1 lock:order token-1 3000
worker-1 gets 0
worker-1 GET lock:order
worker-1 gets token-2

the_end
