#!/bin/bash
# 14. A waiter waits for the message that the lock is free. That message never comes, or comes late.
# The lock is free, and nobody takes it.
. "$(dirname "$0")/lab.sh"
start
client worker-1
client worker-2
client worker-2-ear
client worker-3

script="if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('del', KEYS[1]) redis.call('publish', 'free:' .. KEYS[1], 'x') return 1"

worker-1 SET lock:order token-1 NX PX 30000
worker-1 gets OK
worker-2 SET lock:order token-2 NX PX 30000
worker-2 gets '(nil)'
worker-2-ear SUBSCRIBE free:lock:order
worker-2-ear gets '[subscribe free:lock:order 1]'

lab FAULT ADD deaf CMD MESSAGE KEY 'free:*' TIMES 1 ACTION SKIP-PUSH
worker-1 EVAL "$script" 1 lock:order token-1
worker-1 gets 1

# PONG comes first: there was no message before it.
worker-2-ear PING
worker-2-ear gets '[pong ]'
worker-2 EXISTS lock:order
worker-2 gets 0
logged 1 '"event":"deaf".*"outcome":"push skipped"'

# What helps: never wait for longer than the lease that the client saw.
lab CLOCK ADVANCE 30000
worker-2 SET lock:order token-2 NX PX 30000
worker-2 gets OK

# A late message is another case: for five seconds another client can be faster.
lab FAULT ADD slow CMD MESSAGE KEY 'free:*' TIMES 1 ACTION DELAY-PUSH 5000
worker-2 EVAL "$script" 1 lock:order token-2
worker-2 gets 1
worker-3 SET lock:order token-3 NX PX 30000
worker-3 gets OK
lab CLOCK ADVANCE 4999
worker-2-ear waits
lab CLOCK ADVANCE 1
worker-2-ear gets '[message free:lock:order x]'
worker-2 SET lock:order token-2 NX PX 30000
worker-2 gets '(nil)'

the_end
