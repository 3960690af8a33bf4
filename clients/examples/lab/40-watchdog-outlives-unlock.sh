#!/bin/bash
# 40. A watchdog has sent its renewal when the lock is released, and nobody stops the watchdog. It renews by the name
# of its worker. The worker takes the lock again, for a short job with a lease of its own, and dies. The old
# watchdog goes on and keeps the lock for ever (redisson#7272).
. "$(dirname "$0")/lab.sh"
start
client worker-1
client worker-1.watchdog
client worker-2

worker-1 SET lock:order worker-1 NX PX 30000
worker-1 gets OK
lab CLOCK ADVANCE 10000
lab FAULT ADD slow SCRIPT pexpire TIMES 1 ACTION HOLD
worker-1.watchdog EVAL "$renew" 1 lock:order worker-1 30000
lab HOLD WAIT slow 10000
worker-1 EVAL "$unlock" 1 lock:order worker-1
worker-1 gets 1

# The next job, without a watchdog. Its lease is one second, and its worker dies.
worker-1 SET lock:order worker-1 NX PX 1000
worker-1 gets OK
worker-1 leaves
lab HOLD RELEASE slow
lab gets 1
worker-1.watchdog gets 1
lab CLOCK ADVANCE 1001
lab gets 0
worker-2 SET lock:order worker-2 NX PX 30000
worker-2 gets '(nil)'
lab CLOCK ADVANCE 10000
worker-1.watchdog EVAL "$renew" 1 lock:order worker-1 30000
worker-1.watchdog gets 1

# What helps: a token for each attempt. The renewal of an older attempt then finds another token.
worker-1.watchdog leaves
lab CLOCK ADVANCE 30001
client worker-1
client worker-1.watchdog
worker-1 SET lock:order worker-1:1 NX PX 30000
worker-1 gets OK
worker-1 EVAL "$unlock" 1 lock:order worker-1:1
worker-1 gets 1
worker-1 SET lock:order worker-1:2 NX PX 1000
worker-1 gets OK
worker-1.watchdog EVAL "$renew" 1 lock:order worker-1:1 30000
worker-1.watchdog gets 0
lab CLOCK ADVANCE 1001
lab gets 1
worker-2 SET lock:order worker-2:1 NX PX 30000
worker-2 gets OK

the_end
