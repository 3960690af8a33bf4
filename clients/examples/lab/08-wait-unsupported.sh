#!/bin/bash
# 8. A client wants its lock on replicas. It meets a server without WAIT, or a server whose replicas
# do not answer. The lab cannot make WAIT count replicas: there are none here.
. "$(dirname "$0")/lab.sh"
start
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

worker-2 SET lock:order token-2 NX PX 30000
worker-2 gets OK
worker-2 WAIT 1 1000
lab CLOCK ADVANCE 999
worker-2 waits
lab CLOCK ADVANCE 1
worker-2 gets 0
worker-2 EVAL "$unlock" 1 lock:order token-2
worker-2 gets 1

the_end
