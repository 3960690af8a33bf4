#!/bin/bash
# 2. The reply comes later than the client's timeout, and the client sends the command again
# (redisson#7367). It is an unlock of a lock that is held twice, and counts down twice: the
# client believes to hold the lock, and another one gets it.
. "$(dirname "$0")/lab.sh"
start
client worker-1
client worker-1-again
client worker-2

script="if redis.call('hexists', KEYS[1], ARGV[1]) == 0 then return nil end
if redis.call('hincrby', KEYS[1], ARGV[1], -1) > 0 then return 0 end
redis.call('del', KEYS[1]) return 1"

worker-1 HINCRBY lock:order worker-1 2
worker-1 gets 2
worker-1 PEXPIRE lock:order 30000
worker-1 gets 1

lab FAULT ADD late SCRIPT hincrby NTH 1 ACTION DELAY-REPLY 4000
worker-1 EVAL "$script" 1 lock:order worker-1
lab CLOCK ADVANCE 3000
worker-1 waits

# The timeout of 3000 ms is over. The same again, on another connection:
worker-1-again EVAL "$script" 1 lock:order worker-1
worker-1-again gets 1
lab CLOCK ADVANCE 1000
worker-1 gets 0

# One unlock of two, and the lock is free.
worker-2 EXISTS lock:order
worker-2 gets 0
logged 2 '"cmd":"EVAL .*"outcome":"(executed|reply late)"'

# What helps: a latch, one for each request, that keeps the first answer.
script="local done = redis.call('get', KEYS[2])
if done then return tonumber(done) end
local left = redis.call('hincrby', KEYS[1], ARGV[1], -1)
if left == 0 then redis.call('del', KEYS[1]) end
redis.call('set', KEYS[2], left == 0 and 1 or 0, 'px', 60000)
return left == 0 and 1 or 0"
lab FAULT DEL late
lab FAULT ADD late-again SCRIPT latch NTH 1 ACTION DELAY-REPLY 4000
script="-- latch
$script"
worker-1 HINCRBY lock:order worker-1 2
worker-1 gets 2
worker-1 EVAL "$script" 2 lock:order latch:request-7 worker-1
lab CLOCK ADVANCE 3000
worker-1-again EVAL "$script" 2 lock:order latch:request-7 worker-1
worker-1-again gets 0
lab CLOCK ADVANCE 1000
worker-1 gets 0
worker-2 HGET lock:order worker-1
worker-2 gets 1

the_end
