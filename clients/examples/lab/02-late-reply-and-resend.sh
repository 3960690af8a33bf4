#!/bin/bash
# 2. The reply comes later than the client's timeout, and the client sends the command again
# (redisson#7367). The command unlocks a lock that is held twice, and counts down twice. The client
# believes that it holds the lock, and another client gets it.
. "$(dirname "$0")/lab.sh"
start
client worker-1
client worker-1-again
client worker-2

# A lock that counts, like Redisson's: a hash with one field, its holder.
lock="if redis.call('exists', KEYS[1]) == 1 and redis.call('hexists', KEYS[1], ARGV[1]) == 0 then return redis.call('pttl', KEYS[1]) end
redis.call('hincrby', KEYS[1], ARGV[1], 1) redis.call('pexpire', KEYS[1], 30000) return false"
unlock="if redis.call('hexists', KEYS[1], ARGV[1]) == 0 then return false end
if redis.call('hincrby', KEYS[1], ARGV[1], -1) > 0 then return 0 end
redis.call('del', KEYS[1]) return 1"

for _ in 1 2; do
	worker-1 EVAL "$lock" 1 lock:order worker-1
	worker-1 gets '(nil)'
done
lab FAULT ADD late SCRIPT ', -1)' NTH 1 ACTION DELAY-REPLY 4000
worker-1 EVAL "$unlock" 1 lock:order worker-1
lab CLOCK ADVANCE 3000
worker-1 waits

# The timeout of 3000 ms is over. The client sends the same again on another connection:
worker-1-again EVAL "$unlock" 1 lock:order worker-1
worker-1-again gets 1
lab CLOCK ADVANCE 1000
worker-1 gets 0
logged 1 '"event":"late".*"outcome":"reply late"'

# The client released one of two holds, and another client got the lock.
worker-2 EVAL "$lock" 1 lock:order worker-2
worker-2 gets '(nil)'
worker-2 EVAL "$unlock" 1 lock:order worker-2
worker-2 gets 1

# What helps: a latch for each request, which keeps the first reply.
latched="local answer = redis.call('get', KEYS[2])
if answer then return tonumber(answer) end
if redis.call('hexists', KEYS[1], ARGV[1]) == 0 then return false end
answer = redis.call('hincrby', KEYS[1], ARGV[1], -1) > 0 and 0 or 1
if answer == 1 then redis.call('del', KEYS[1]) end
redis.call('set', KEYS[2], answer, 'px', 60000) return answer"

lab FAULT CLEAR
for _ in 1 2; do
	worker-1 EVAL "$lock" 1 lock:order worker-1
	worker-1 gets '(nil)'
done
lab FAULT ADD late SCRIPT ', -1)' NTH 1 ACTION DELAY-REPLY 4000
worker-1 EVAL "$latched" 2 lock:order latch:request-7 worker-1
lab CLOCK ADVANCE 3000
worker-1-again EVAL "$latched" 2 lock:order latch:request-7 worker-1
worker-1-again gets 0
lab CLOCK ADVANCE 1000
worker-1 gets 0
worker-2 EVAL "$lock" 1 lock:order worker-2
worker-2 gets 26000

the_end
