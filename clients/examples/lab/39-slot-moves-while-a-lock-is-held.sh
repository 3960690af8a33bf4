#!/bin/bash
# 39. A slot of a cluster moves while a lock in it is held: TRYAGAIN and ASK answer the release.
. "$(dirname "$0")/lab.sh"
start --cluster yes --masters 3
script="if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('lpop', KEYS[2]) return redis.call('del', KEYS[1]) else return 0 end"
client worker-1 3
client worker-2.1 1
client worker-2.3 3

# The lock and the queue of its waiters are in one slot, because of the tag {order}. The queue is empty: there is no such key.
worker-1 CLUSTER KEYSLOT 'lock:{order}'
worker-1 gets 16025
worker-1 SET 'lock:{order}' token-1 NX PX 30000
worker-1 gets OK

# Halfway, a script with one key that is here runs here. A script with two keys of which one is here runs nowhere.
lab CLUSTER MOVE 16025 TO 1 STEP MIGRATING
worker-1 EVAL "$renew" 1 'lock:{order}' token-1 30000
worker-1 gets 1
worker-1 EVAL "$script" 2 'lock:{order}' 'queue:{order}' token-1
worker-1 gets 'TRYAGAIN Multiple keys request during rehashing of slot'
# A client that takes this for the end leaves its lock until the lease is over.

# The lock is at node 1 now, and the slot is not yet. Who asks there without ASKING is sent back: a client that takes
# ASK for MOVED goes to and fro.
lab CLUSTER MOVE 16025 TO 1 STEP KEYS
worker-2.3 SET 'lock:{order}' token-2 NX PX 30000
worker-2.3 gets 'ASK 16025 node-1'
worker-2.1 SET 'lock:{order}' token-2 NX PX 30000
worker-2.1 gets 'MOVED 16025 node-3'
worker-2.1 ASKING
worker-2.1 gets OK
worker-2.1 SET 'lock:{order}' token-2 NX PX 30000
worker-2.1 gets '(nil)'

# The release with two keys gets ASK here and TRYAGAIN there: it has to wait for the end of the move.
worker-1 EVAL "$script" 2 'lock:{order}' 'queue:{order}' token-1
worker-1 gets 'ASK 16025 node-1'
client worker-1.1 1
worker-1.1 ASKING
worker-1.1 gets OK
worker-1.1 EVAL "$script" 2 'lock:{order}' 'queue:{order}' token-1
worker-1.1 gets 'TRYAGAIN Multiple keys request during rehashing of slot'

# Who tries again releases the lock once the slot has moved. One key alone would have been released by ASK before.
lab CLUSTER MOVE 16025 TO 1
worker-1 EVAL "$script" 2 'lock:{order}' 'queue:{order}' token-1
worker-1 gets 'MOVED 16025 node-1'
worker-1.1 EVAL "$script" 2 'lock:{order}' 'queue:{order}' token-1
worker-1.1 gets 1
worker-2.1 SET 'lock:{order}' token-2 NX PX 30000
worker-2.1 gets OK

the_end
