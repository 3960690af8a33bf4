#!/bin/bash
# 8. A client wants its lock on a replica. It meets a server without WAIT, or a replica that does not answer.
. "$(dirname "$0")/lab.sh"
start --replicas 1
client worker-1
client worker-2

lab FAULT ADD old CMD WAIT TIMES 1 ACTION ERROR "ERR unknown command 'WAIT', with args beginning with: '1' '1000' "
worker-1 SET lock:order token-1 NX PX 30000
worker-1 gets OK
worker-1 WAIT 1 1000
worker-1 gets "ERR unknown command 'WAIT', with args beginning with: '1' '1000' "

# Without an answer the client does not know whether the lock is safe, so it gives it back.
worker-1 EVAL "$unlock" 1 lock:order token-1
worker-1 gets 1

# The replica does not get the next lock.
lab REPLICATION HOLD
worker-2 SET lock:order token-2 NX PX 30000
worker-2 gets OK
worker-2 WAIT 1 1000
lab ALL CLOCK ADVANCE 999
worker-2 waits
lab ALL CLOCK ADVANCE 1
worker-2 gets 0
worker-2 EVAL "$unlock" 1 lock:order token-2
worker-2 gets 1

# With a replica that follows, WAIT has its answer at once.
lab REPLICATION RELEASE
worker-1 SET lock:order token-3 NX PX 30000
worker-1 gets OK
worker-1 WAIT 1 1000
worker-1 gets 1

the_end
