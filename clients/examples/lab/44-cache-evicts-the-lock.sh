#!/bin/bash
# 44. A cache evicts the lock: two clients hold it. With noeviction nobody gets a lock that the server cannot keep.
. "$(dirname "$0")/lab.sh"
start
client worker-1
client worker-2

worker-1 SET lock:order token-1 NX PX 30000
worker-1 gets OK
# The cache needs room. No command deletes the lock, and worker-1 hears nothing.
lab EVICT lock:order
lab gets 1
worker-2 SET lock:order token-2 NX PX 30000
worker-2 gets OK
lab VERDICT lock:order
[[ $reply == *two-holders*"the server evicted lock:order for memory"* ]] || wrong two-holders

# What helps: noeviction. The memory is as short, and the next client gets an error. The holder works on.
worker-1 CONFIG SET maxmemory-policy noeviction
worker-1 gets OK
worker-1 SET lock:invoice token-1 NX PX 30000
worker-1 gets OK
worker-1 CONFIG SET maxmemory 1
worker-1 gets OK
worker-2 SET lock:invoice token-2 NX PX 30000
worker-2 gets "OOM command not allowed when used memory > 'maxmemory'."
worker-1 EVAL "$renew" 1 lock:invoice token-1 30000
worker-1 gets 1
worker-1 EVAL "$unlock" 1 lock:invoice token-1
worker-1 gets 1
lab VERDICT lock:invoice
[[ $reply == *safe* ]] || wrong safe

the_end
