#!/bin/bash
# 21. A script that does not end: every other client gets BUSY. SCRIPT KILL works until the script
# has written. After that, only the end of the server helps.
. "$(dirname "$0")/lab.sh"
start --masters 2 --busy-reply-threshold 1
client worker-1
client worker-2

worker-1 EVAL 'while true do end' 0
worker-2 SET lock:order token-2 NX PX 30000
worker-2 gets 'BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.'
worker-2 SCRIPT KILL
worker-2 gets OK
worker-1 hears
worker-2 SET lock:order token-2 NX PX 30000
worker-2 gets OK

client worker-3 2
client worker-4 2
worker-3 EVAL "redis.call('set', KEYS[1], ARGV[1]) while true do end" 1 lock:order token-3
worker-4 GET lock:order
worker-4 gets 'BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.'
worker-4 SCRIPT KILL
worker-4 gets 'UNKILLABLE Sorry the script already executed write commands against the dataset. You can either wait the script termination or kill the server in a hard way using the SHUTDOWN NOSAVE command.'
worker-4 SHUTDOWN NOSAVE
worker-4 gets '(closed)'
worker-3 gets '(closed)'

ports=("${ports[0]}")
the_end
