#!/bin/bash
# 4. GET returns the client's own token, then DEL deletes the lock. Between them the lease ends and
# another client takes the lock. DEL removes that lock, and a third client gets in.
. "$(dirname "$0")/lab.sh"
start
client worker-1
client worker-2
client worker-3

worker-1 SET lock:order token-1 NX PX 30000
worker-1 gets OK
worker-1 GET lock:order
worker-1 gets token-1

lab FAULT ADD slow CMD DEL CLIENT worker-1 ACTION HOLD
worker-1 DEL lock:order
lab HOLD WAIT slow 10000
lab CLOCK ADVANCE 30001
lab gets 1
worker-2 SET lock:order token-2 NX PX 30000
worker-2 gets OK
lab HOLD RELEASE slow
lab gets 1
worker-1 gets 1
worker-3 SET lock:order token-3 NX PX 30000
worker-3 gets OK
# Now worker-2 and worker-3 both hold it.

# What helps: compare and delete in one step, by a script or by WATCH. Both meet the same delay.
lab FAULT CLEAR
lab FAULT ADD slow CMD EVAL CLIENT worker-3 ACTION HOLD
worker-3 EVAL "$unlock" 1 lock:order token-3
lab HOLD WAIT slow 10000
lab CLOCK ADVANCE 30001
worker-1 SET lock:order token-1 NX PX 30000
worker-1 gets OK
lab HOLD RELEASE slow
worker-3 gets 0

lab FAULT ADD slow-too CMD DEL CLIENT worker-1 ACTION HOLD
worker-1 WATCH lock:order
worker-1 gets OK
worker-1 GET lock:order
worker-1 gets token-1
worker-1 MULTI
worker-1 gets OK
worker-1 DEL lock:order
worker-1 gets QUEUED
worker-1 EXEC
lab HOLD WAIT slow-too 10000
lab CLOCK ADVANCE 30001
worker-2 SET lock:order token-2 NX PX 30000
worker-2 gets OK
lab HOLD RELEASE slow-too
worker-1 gets '(nil)'
worker-2 GET lock:order
worker-2 gets token-2

the_end
