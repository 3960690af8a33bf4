#!/bin/bash
# 30. An fsync fails once. The system takes its pages for written, so reads show what no disk has.
. "$(dirname "$0")/lab.sh"
start --lab-disk yes --appendonly yes
client worker-1

lab DISK FAIL FSYNC NTH 1 EIO
worker-1 SET lock:order token-1 NX PX 30000
worker-1 gets OK
lab CLOCK ADVANCE 1000
# The fsync of this second has failed. The lock can be read, but nothing can be written any more.
worker-1 GET lock:order
worker-1 gets token-1
client worker-2
worker-2 SET lock:report token-2 NX PX 30000
worker-2 hears

# Somebody restarts the server, as its error asks for. The lock is not on disk.
lab CRASH
client worker-2
worker-2 GET lock:order
worker-2 gets '(nil)'
worker-2 SET lock:order token-2 NX PX 30000
worker-2 gets OK
# worker-1 works, and so does worker-2.

the_end
