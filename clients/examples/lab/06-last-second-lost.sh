#!/bin/bash
# 6. appendfsync everysec: the server crashes, and the last second is not on disk. There is no disk
# here: a snapshot plays it.
. "$(dirname "$0")/lab.sh"
start
client worker-1

worker-1 SET stock 10
worker-1 gets OK
lab SNAPSHOT SAVE disk

# 900 ms later, before the next fsync, worker-1 gets the lock. Then:
lab CLOCK ADVANCE 900
worker-1 SET lock:order token-1 NX PX 30000
worker-1 gets OK
lab CRASH
lab SNAPSHOT RESTORE disk

client worker-2
worker-2 GET stock
worker-2 gets 10
worker-2 SET lock:order token-2 NX PX 30000
worker-2 gets OK
# worker-1 works, and so does worker-2.

# With appendfsync always, every answered command is on disk.
lab SNAPSHOT SAVE disk
lab CRASH
lab SNAPSHOT RESTORE disk
client worker-1
worker-1 SET lock:order token-1 NX PX 30000
worker-1 gets '(nil)'
worker-1 PTTL lock:order
worker-1 gets 30000

the_end
