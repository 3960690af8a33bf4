#!/bin/bash
# 6. appendfsync everysec: the server crashes, and the last second is not on disk.
. "$(dirname "$0")/lab.sh"
start --lab-disk yes --appendonly yes
client worker-1

worker-1 SET stock 10
worker-1 gets OK
lab CLOCK ADVANCE 1000
# The fsync of this second has written the stock. 900 ms later worker-1 gets the lock.
lab CLOCK ADVANCE 900
worker-1 SET lock:order token-1 NX PX 30000
worker-1 gets OK
lab CRASH

client worker-2
worker-2 GET stock
worker-2 gets 10
worker-2 SET lock:order token-2 NX PX 30000
worker-2 gets OK
# worker-1 works, and so does worker-2.

# With appendfsync always, every answered command is on disk.
worker-2 CONFIG SET appendfsync always
worker-2 gets OK
worker-2 DEL lock:order
worker-2 gets 1
worker-2 SET lock:order token-3 NX PX 30000
worker-2 gets OK
lab CRASH
client worker-1
worker-1 SET lock:order token-4 NX PX 30000
worker-1 gets '(nil)'
worker-1 PTTL lock:order
worker-1 gets 30000

the_end
