#!/bin/bash
# 13. The watchdog renews a lease of 30 seconds every 10 seconds, and three renewals fail. Then the
# connection is back. The renewal returns 0, and the holder must stop.
. "$(dirname "$0")/lab.sh"
start
client worker-1
client worker-2

worker-1 SET lock:order token-1 NX PX 30000
worker-1 gets OK
lab FAULT ADD cut SCRIPT pexpire TIMES 3 ACTION DROP-BEFORE
for _ in 1 2 3; do
	lab CLOCK ADVANCE 10000
	worker-1 EVAL "$renew" 1 lock:order token-1 30000
	worker-1 gets '(closed)'
	client worker-1
done

lab CLOCK ADVANCE 1
lab gets 1
worker-2 SET lock:order token-2 NX PX 30000
worker-2 gets OK

worker-1 EVAL "$renew" 1 lock:order token-1 30000
worker-1 gets 0
worker-1 GET lock:order
worker-1 gets token-2

logged 3 '"event":"cut".*"outcome":"not executed"'
the_end
