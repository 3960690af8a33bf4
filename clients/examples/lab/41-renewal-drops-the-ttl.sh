#!/bin/bash
# 41. A renewal in one plain command, SET lock token IFEQ token, and its expiry is forgotten. SET removes the TTL. The
# worker dies, and the lock stays for ever (Redis 8.4, Valkey 8.1).
. "$(dirname "$0")/lab.sh"
start --dialect valkey-9.1
client worker-1
client worker-2

worker-1 SET lock:order token-1 NX PX 30000
worker-1 gets OK
lab CLOCK ADVANCE 10000
worker-1 SET lock:order token-1 IFEQ token-1
worker-1 gets OK
worker-1 PTTL lock:order
worker-1 gets -1
worker-1 leaves

lab CLOCK ADVANCE 31536000000
lab gets 0
worker-2 SET lock:order token-2 NX PX 30000
worker-2 gets '(nil)'

# Only its owner can release it, if it comes back. What helps: each renewal has its lease. The condition still
# compares the token.
client worker-1
worker-1 DELIFEQ lock:order token-1
worker-1 gets 1
worker-1 SET lock:order token-3 NX PX 30000
worker-1 gets OK
lab CLOCK ADVANCE 10000
worker-1 SET lock:order token-3 IFEQ token-3 PX 30000
worker-1 gets OK
worker-1 leaves
lab CLOCK ADVANCE 30001
lab gets 1
worker-2 SET lock:order token-4 IFEQ token-3 PX 30000
worker-2 gets '(nil)'
worker-2 SET lock:order token-4 NX PX 30000
worker-2 gets OK

the_end
