#!/bin/bash
# 5. One of five masters crashes and loses its keys. Two clients have a majority.
. "$(dirname "$0")/redlock.sh"
start --masters 5 --lab-disk yes # on which these masters save nothing

# Client a gets three masters. It cannot reach the other two.
lab MASTER 4 LISTEN OFF
lab MASTER 5 LISTEN OFF
connect a
acquire a 3
lab MASTER 4 LISTEN ON
lab MASTER 5 LISTEN ON

lab MASTER 3 CRASH
connect b
acquire b 3
# Both hold the lock: a on 1, 2, 3, and b on 3, 4, 5.

# What helps: a crashed master stays away for longer than the longest lease. The same again, after
# all leases are over:
lab ALL CLOCK ADVANCE 10001
lab MASTER 4 LISTEN OFF
lab MASTER 5 LISTEN OFF
connect a
acquire a 3
lab MASTER 4 LISTEN ON
lab MASTER 5 LISTEN ON

lab MASTER 3 CRASH DOWN 10001
connect b
acquire b 2
release b

# When the master is back, nobody holds the lock.
lab ALL CLOCK ADVANCE 10001
connect b
acquire b 5

the_end
