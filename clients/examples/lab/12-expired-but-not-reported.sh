#!/bin/bash
# 12. The lease is over, but nobody has looked at the key yet. So there is no expired event, and a
# client that waits for it keeps waiting. Redis removes expired keys by samples. Here that can be
# switched off.
. "$(dirname "$0")/lab.sh"
start --enable-debug-command yes --notify-keyspace-events Ex
client worker-1
client watcher

watcher SUBSCRIBE __keyevent@0__:expired
watcher gets '[subscribe __keyevent@0__:expired 1]'
worker-1 DEBUG SET-ACTIVE-EXPIRE 0
worker-1 gets OK
worker-1 SET lock:order token-1 NX PX 1000
worker-1 gets OK

lab CLOCK ADVANCE 60000
lab gets 0
worker-1 DBSIZE
worker-1 gets 1
watcher waits

# One look at the key is enough.
worker-1 TTL lock:order
worker-1 gets -2
watcher gets '[message __keyevent@0__:expired lock:order]'

# With active expiry on, every key goes at its millisecond, and the event is sent before ADVANCE
# replies.
worker-1 DEBUG SET-ACTIVE-EXPIRE 1
worker-1 gets OK
worker-1 SET lock:order token-1 NX PX 1000
worker-1 gets OK
lab CLOCK ADVANCE 1001
lab gets 1
watcher gets '[message __keyevent@0__:expired lock:order]'

the_end
