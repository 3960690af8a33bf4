#!/bin/bash
# 37. Two Sentinels answer differently. One client stays at the old master, another one finds the new master.
. "$(dirname "$0")/lab.sh"
start --replicas 1 --sentinels 3
client app-1 3 # at the first Sentinel
client app-2 5 # at the third
client worker-1

# The third Sentinel is late. The old master runs on, because nobody has told it.
lab SENTINEL 3 PAUSE
lab FAILOVER LEAVE
app-1 finds 2
app-2 finds 1
worker-1 SET lock:order token-1 NX PX 30000
worker-1 gets OK
client worker-2 2
worker-2 SET lock:order token-2 NX PX 30000
worker-2 gets OK
lab VERDICT lock:order
[[ $reply == *two-holders* ]] || wrong two-holders

# The third Sentinel hears of the failover. The pool of worker-1 stays where it is: nobody asks a Sentinel again.
lab SENTINEL 3 RESUME
lab ALL CLOCK ADVANCE 3000
app-2 finds 2
worker-1 EVAL "$renew" 1 lock:order token-1 30000
worker-1 gets 1

# What helps: Sentinels make the old master a replica, and close its clients. Then worker-1 has to ask.
lab SENTINEL RECONF
worker-1 gets '(closed)'
app-2 finds 2
client worker-1.2 2
worker-1.2 EVAL "$unlock" 1 lock:order token-1
worker-1.2 gets 0

the_end
