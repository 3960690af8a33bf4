#!/bin/bash
# 17. One master of the majority replies, but so late that the lease on the other masters is almost
# over. A client that counts votes but not the time believes that it holds the lock
# (RedLock.net#78).
. "$(dirname "$0")/redlock.sh"
start --masters 5

lab MASTER 4 LISTEN OFF
lab MASTER 5 LISTEN OFF
connect a
lab MASTER 4 LISTEN ON
lab MASTER 5 LISTEN ON

lab MASTER 3 FAULT ADD slow CMD SET ACTION DELAY-EXEC 9950
for m in 1 2 3; do
	a.$m SET lock:order token-a NX PX 10000
done
a.1 gets OK
a.2 gets OK
a.3 waits
lab ALL CLOCK ADVANCE 9950
a.3 gets OK
# Three votes of five and 50 ms of lease. Redlock subtracts the drift, and less than nothing is
# left: 10000 - 9950 - 102.
a.1 PTTL lock:order
a.1 gets 50

lab ALL CLOCK ADVANCE 51
lab MASTER 3 FAULT CLEAR
connect b
acquire b 4
# A client that does not look at the time is now one of two holders.

the_end
