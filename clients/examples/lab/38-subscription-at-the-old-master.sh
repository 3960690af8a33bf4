#!/bin/bash
# 38. A waiter has subscribed to the message of the unlock. After a failover it still listens to the old master.
. "$(dirname "$0")/lab.sh"
start --replicas 1
script="if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('del', KEYS[1]) redis.call('publish', KEYS[1], 'free') return 1 end return 0"
client worker-1
client worker-2

worker-1 SET lock:order token-1 NX PX 30000
worker-1 gets OK
worker-2 SUBSCRIBE lock:order
worker-2 gets '[subscribe lock:order 1]'
linked 1

# The replica is promoted. The old master runs on, because nobody can tell it.
lab FAILOVER LEAVE
client worker-1.2 2
worker-1.2 EVAL "$script" 1 lock:order token-1
worker-1.2 gets 1
worker-2 waits
# The lock is free, and worker-2 waits for a message that was sent elsewhere. No connection has ended.

# A wait that is not longer than the lease helps: then worker-2 asks, and finds the new master.
lab ALL CLOCK ADVANCE 30001
client worker-2.2 2
worker-2.2 SET lock:order token-2 NX PX 30000
worker-2.2 gets OK

the_end
