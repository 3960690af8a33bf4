#!/bin/bash
# 20. The server has forgotten the scripts, by SCRIPT FLUSH or a restart. EVALSHA fails, and the
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

# What helps: EVAL after this error. It also loads the script.
worker-1 EVAL "$unlock" 1 lock:order token-1
worker-1 gets 1
worker-1 EVALSHA "$sha" 1 lock:order token-1
worker-1 gets 0

# A restart forgets the scripts, too.
lab CRASH
client worker-1
worker-1 SCRIPT EXISTS "$sha"
worker-1 gets '[0]'

# A rule can also play a server that does not know the script, once:
worker-1 SCRIPT LOAD "$unlock"
worker-1 gets "$sha"
lab FAULT ADD forgets CMD EVALSHA NTH 1 ACTION ERROR 'NOSCRIPT No matching script. Please use EVAL.'
worker-1 EVALSHA "$sha" 1 lock:order token-1
worker-1 gets 'NOSCRIPT No matching script. Please use EVAL.'
worker-1 EVALSHA "$sha" 1 lock:order token-1
worker-1 gets 0

the_end
