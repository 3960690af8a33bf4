#!/bin/bash
# 24. The caller gives up while its SET is still on its way, and cleans up: there is nothing to
# clean up yet. Then the SET arrives, and nobody owns the lock (rueidis PR#1010).
. "$(dirname "$0")/lab.sh"
start
client worker-1
client worker-1-cleans-up
client worker-2

lab FAULT ADD queued CMD SET CLIENT worker-1 TIMES 1 ACTION HOLD
worker-1 SET lock:order token-1 NX PX 30000
lab HOLD WAIT queued 10000
worker-1-cleans-up EVAL "$unlock" 1 lock:order token-1
worker-1-cleans-up gets 0
lab HOLD RELEASE queued
worker-1 gets OK
worker-2 SET lock:order token-2 NX PX 30000
worker-2 gets '(nil)'

# What helps: clean up after the SET, on the same connection.
lab CLOCK ADVANCE 30001
lab FAULT CLEAR
lab FAULT ADD queued CMD SET CLIENT worker-1 TIMES 1 ACTION HOLD
worker-1 SET lock:order token-1 NX PX 30000
worker-1 EVAL "$unlock" 1 lock:order token-1
lab HOLD WAIT queued 10000
lab HOLD RELEASE queued
worker-1 gets OK
worker-1 gets 1
worker-2 SET lock:order token-2 NX PX 30000
worker-2 gets OK

the_end
