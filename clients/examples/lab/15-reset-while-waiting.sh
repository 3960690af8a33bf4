#!/bin/bash
# 15. A connection is reset while its client waits in BLPOP or for a message. A signal that the
# server took from the list for this client is lost to everybody.
. "$(dirname "$0")/lab.sh"
start
client worker-1
client waiter-1
client waiter-2

lab FAULT ADD torn CMD BLPOP CLIENT waiter-1 ACTION RESET-AFTER
waiter-1 BLPOP signal:order 0
waiter-2 BLPOP signal:order 0
waiter-2 waits
worker-1 RPUSH signal:order go
worker-1 gets 1
waiter-1 gets '(reset)'
waiter-2 waits
worker-1 LLEN signal:order
worker-1 gets 0
# The lock is free, the signal is gone, and waiter-2 waits for ever.

# What helps: a waiter that waits with a timeout, and then tries for the lock itself.
waiter-2 leaves
client waiter-2
waiter-2 BLPOP signal:order 30
lab CLOCK ADVANCE 30000
waiter-2 gets '(nil)'

# All connections end at once, and nothing else is lost: waiters and subscribers must start again.
client waiter-3
waiter-2 BLPOP signal:order 0
waiter-3 SUBSCRIBE free:lock:order
waiter-3 gets '[subscribe free:lock:order 1]'
lab CRASH LOSE NOTHING
waiter-2 gets '(reset)'
waiter-3 gets '(reset)'
client worker-1
worker-1 PUBLISH free:lock:order x
worker-1 gets 0
worker-1 RPUSH signal:order go
worker-1 gets 1
client waiter-2
waiter-2 BLPOP signal:order 0
waiter-2 gets '[signal:order go]'

the_end
