#!/bin/bash
# 16. The connection is open, and the server sends nothing. Did it execute the command? The client
# cannot see that.
. "$(dirname "$0")/lab.sh"
start --masters 2
via=2 # who is in a black hole cannot be told to leave it
client worker-1
client worker-2

# It did: SILENT.
lab MASTER 1 FAULT ADD mute CMD SET CLIENT worker-1 TIMES 1 ACTION SILENT
worker-1 SET lock:order token-1 NX PX 30000
worker-1 waits
worker-1 PING
worker-1 waits
worker-2 GET lock:order
worker-2 gets token-1
logged 1 '"event":"mute".*"outcome":"reply lost"'

# It did not: BLACKHOLE. The kernel takes the bytes, and the server does not read them.
lab MASTER 1 BLACKHOLE ON
worker-2 SET lock:invoice token-2 NX PX 30000
worker-2 waits
logged 0 'lock:invoice'
lab MASTER 1 BLACKHOLE OFF
worker-2 gets OK

# What helps against both: a timeout, a new connection, and a look at the lock's token.
worker-1 leaves
client worker-1
worker-1 GET lock:order
worker-1 gets token-1

the_end
