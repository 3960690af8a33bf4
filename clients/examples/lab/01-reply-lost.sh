#!/bin/bash
# 1. The server gives the lock, but the reply is lost. The client tries again and learns that
# somebody holds the lock: itself. Nobody works, and nobody gets the lock until the lease is over.
. "$(dirname "$0")/lab.sh"
start
client worker-1
client worker-2

lab FAULT ADD lost CMD SET KEY 'lock:*' NTH 1 ACTION DROP-REPLY

worker-1 SET lock:order token-1 NX PX 30000
worker-1 gets '(closed)'

# The client connects and tries again, as client libraries do by themselves.
client worker-1
worker-1 SET lock:order token-1 NX PX 30000
worker-1 gets '(nil)'
worker-2 SET lock:order token-2 NX PX 30000
worker-2 gets '(nil)'

# What helps: compare the token. It belongs to this attempt, so the client holds the lock.
worker-1 GET lock:order
worker-1 gets token-1
worker-1 EVAL "$unlock" 1 lock:order token-1
worker-1 gets 1

logged 1 '"event":"lost".*"outcome":"reply lost"'
logged 3 '"cmd":"SET '
the_end
