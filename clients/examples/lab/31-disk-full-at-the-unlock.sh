#!/bin/bash
# 31. The disk is full: MISCONF answers the unlock, so the lock stays.
. "$(dirname "$0")/lab.sh"
start --lab-disk yes --appendonly yes
client worker-1
client worker-2

worker-1 SET lock:order token-1 NX PX 30000
worker-1 gets OK
lab DISK FAIL WRITE ENOSPC
worker-1 SET stock 9
worker-1 gets OK
# The append only file could not take that. From now on no command may write.
worker-1 EVAL "$unlock" 1 lock:order token-1
worker-1 hears

# The lock is there until its lease ends, and then nobody can take it.
worker-2 GET lock:order
worker-2 gets token-1
lab CLOCK ADVANCE 30001
worker-2 GET lock:order
worker-2 gets '(nil)'
worker-2 SET lock:order token-2 NX PX 30000
worker-2 hears

# Somebody makes room. The server tries again each second, and goes on without a restart.
lab DISK HEAL
lab CLOCK ADVANCE 1000
worker-2 SET lock:order token-2 NX PX 30000
worker-2 gets OK

the_end
