#!/bin/bash
# 42. MSETEX with NX takes two locks at once, or none (Redis 8.4, Valkey 9.1). Nothing releases both: DELIFEQ has one
# key. A worker dies between the two releases, and half of the pair stays until its lease ends.
. "$(dirname "$0")/lab.sh"
start --dialect valkey-9.1
client worker-1
client worker-2

worker-1 MSETEX 2 lock:from token-1 lock:to token-1 NX PX 30000
worker-1 gets 1
worker-2 MSETEX 2 lock:to token-2 lock:other token-2 NX PX 30000
worker-2 gets 0
worker-2 EXISTS lock:other
worker-2 gets 0

worker-1 DELIFEQ lock:from token-1
worker-1 gets 1
worker-1 leaves
worker-2 MSETEX 2 lock:from token-2 lock:to token-2 NX PX 30000
worker-2 gets 0
lab CLOCK ADVANCE 30001
lab gets 1

# What helps: a script that compares all tokens before it deletes.
release="for _, k in ipairs(KEYS) do if server.call('get', k) ~= ARGV[1] then return 0 end end return server.call('del', unpack(KEYS))"
worker-2 MSETEX 2 lock:from token-2 lock:to token-2 NX PX 30000
worker-2 gets 1
worker-2 EVAL "$release" 2 lock:from lock:to token-1
worker-2 gets 0
worker-2 EVAL "$release" 2 lock:from lock:to token-2
worker-2 gets 2

the_end
