#!/bin/bash
# 25. The next owner. BLPOP serves waiters in the order in which they came, and skips a client that
# left. A queue of the clients' own keeps such a client. A message wakes all waiters for one lock.
. "$(dirname "$0")/lab.sh"
start
client worker-1
for n in 1 2 3; do
	client waiter-$n
	waiter-$n BLPOP signal:order 0
	waiter-$n waits
done
waiter-2 leaves
worker-1 RPUSH signal:order first
worker-1 gets 1
waiter-1 gets '[signal:order first]'
waiter-3 waits
worker-1 RPUSH signal:order second
worker-1 gets 1
waiter-3 gets '[signal:order second]'

# A fair lock like Redisson's: a list of waiters, each with a time until which it counts.
# waiter-1 dies. The lock is free, and waiter-3 is not the first.
worker-1 RPUSH queue:order waiter-1 waiter-3
worker-1 gets 2
worker-1 ZADD timeouts:order 1700000005000 waiter-1 1700000010000 waiter-3
worker-1 gets 2
waiter-1 leaves
waiter-3 LINDEX queue:order 0
waiter-3 gets waiter-1
script="local now = redis.call('time')
local first = redis.call('lindex', KEYS[1], 0)
while first and tonumber(redis.call('zscore', KEYS[2], first)) <= now[1] * 1000 + now[2] / 1000 do
	redis.call('lpop', KEYS[1]) redis.call('zrem', KEYS[2], first)
	first = redis.call('lindex', KEYS[1], 0)
end
return first"
lab CLOCK ADVANCE 4999
waiter-3 EVAL "$script" 2 queue:order timeouts:order
waiter-3 gets waiter-1
lab CLOCK ADVANCE 1
waiter-3 EVAL "$script" 2 queue:order timeouts:order
waiter-3 gets waiter-3

# All at once: one unlock, one lock, and every waiter tries.
for n in 4 5 6; do
	client waiter-$n
	client waiter-$n-ear
	waiter-$n-ear SUBSCRIBE free:lock:order
	waiter-$n-ear gets '[subscribe free:lock:order 1]'
done
worker-1 PUBLISH free:lock:order x
worker-1 gets 3
for n in 4 5 6; do
	waiter-$n-ear gets '[message free:lock:order x]'
	waiter-$n SET lock:order token-$n NX PX 30000
done
waiter-4 gets OK
waiter-5 gets '(nil)'
waiter-6 gets '(nil)'

the_end
