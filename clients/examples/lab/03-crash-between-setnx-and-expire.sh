#!/bin/bash
# 3. SETNX, then EXPIRE, and the client dies between them: a lock for ever.
. "$(dirname "$0")/lab.sh"
start
client worker-1
client worker-2

lab FAULT ADD dies CMD EXPIRE KEY 'lock:*' ACTION DROP-BEFORE

worker-1 SETNX lock:order token-1
worker-1 gets 1
worker-1 EXPIRE lock:order 30
worker-1 gets '(closed)'

# A year later:
lab CLOCK ADVANCE 31536000000
lab gets 0
worker-2 SETNX lock:order token-2
worker-2 gets 0
worker-2 TTL lock:order
worker-2 gets -1

# What helps: one command.
worker-2 SET lock:invoice token-2 NX EX 30
worker-2 gets OK
worker-2 TTL lock:invoice
worker-2 gets 30

logged 1 '"event":"dies".*"outcome":"not executed"'
the_end
