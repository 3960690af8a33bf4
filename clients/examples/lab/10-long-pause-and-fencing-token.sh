#!/bin/bash
# 10. The holder pauses for longer than its lease, and then goes on as if nothing had happened.
# First without a fencing token, then with one.
. "$(dirname "$0")/lab.sh"
start
client worker-1
client worker-2

worker-1 SET lock:stock token-1 NX PX 30000
worker-1 gets OK
lab FAULT ADD pause CLIENT worker-1 TIMES 1 ACTION HOLD
worker-1 SET stock 'by worker-1'
lab HOLD WAIT pause 10000
lab CLOCK ADVANCE 30001
lab gets 1
worker-2 SET lock:stock token-2 NX PX 30000
worker-2 gets OK
worker-2 SET stock 'by worker-2'
worker-2 gets OK
lab HOLD RELEASE pause
worker-1 gets OK
worker-2 GET stock
worker-2 gets 'by worker-1'
# The value of worker-2 is lost. worker-2 wrote it while it held the lock.

# What helps: a number that grows with every holder, and a store that refuses a number lower than
# one it has seen.
lab FAULT CLEAR
lab CLOCK ADVANCE 30001
script="local seen = tonumber(redis.call('hget', KEYS[1], 'fence') or 0)
if tonumber(ARGV[1]) < seen then return redis.error_reply('STALE fence ' .. ARGV[1] .. ', seen ' .. seen) end
redis.call('hset', KEYS[1], 'fence', ARGV[1], 'value', ARGV[2])
return redis.status_reply('OK')"

worker-1 SET lock:stock token-1 NX PX 30000
worker-1 gets OK
worker-1 INCR fence:stock
worker-1 gets 1
lab FAULT ADD pause CLIENT worker-1 TIMES 1 ACTION HOLD
worker-1 EVAL "$script" 1 fenced-stock 1 'by worker-1'
lab HOLD WAIT pause 10000
lab CLOCK ADVANCE 30001
worker-2 SET lock:stock token-2 NX PX 30000
worker-2 gets OK
worker-2 INCR fence:stock
worker-2 gets 2
worker-2 EVAL "$script" 1 fenced-stock 2 'by worker-2'
worker-2 gets OK
lab HOLD RELEASE pause
worker-1 gets 'STALE fence 1, seen 2'
worker-2 HGET fenced-stock value
worker-2 gets 'by worker-2'

the_end
