#!/bin/bash
# 20. The server has forgotten the scripts, by SCRIPT FLUSH or a restart. EVALSHA fails, the
# lock stays.
. "$(dirname "$0")/lab.sh"
start
client worker-1

worker-1 SCRIPT LOAD "$unlock"
worker-1 hears
sha=$reply
worker-1 SET lock:order token-1 NX PX 30000
worker-1 gets OK
worker-1 SCRIPT FLUSH
worker-1 gets OK
worker-1 EVALSHA "$sha" 1 lock:order token-1
worker-1 gets 'NOSCRIPT No matching script. Please use EVAL.'
worker-1 GET lock:order
worker-1 gets token-1

# What helps: EVAL at this error. It also loads the script.
worker-1 EVAL "$unlock" 1 lock:order token-1
worker-1 gets 1
worker-1 EVALSHA "$sha" 1 lock:order token-1
worker-1 gets 0

# A restart forgets them too.
lab CRASH
client worker-1
worker-1 SCRIPT EXISTS "$sha"
worker-1 gets '[0]'

# That the server does not know a script this once, can also be said for it:
worker-1 SCRIPT LOAD "$unlock"
worker-1 gets "$sha"
lab FAULT ADD forgets CMD EVALSHA NTH 1 ACTION ERROR 'NOSCRIPT No matching script. Please use EVAL.'
worker-1 EVALSHA "$sha" 1 lock:order token-1
worker-1 gets 'NOSCRIPT No matching script. Please use EVAL.'
worker-1 EVALSHA "$sha" 1 lock:order token-1
worker-1 gets 0

the_end
