#!/bin/bash
# 9. The clock of one of five masters jumps ahead. Its lease ends early, and two clients have a
# majority.
. "$(dirname "$0")/redlock.sh"
start --masters 5

lab MASTER 4 LISTEN OFF
lab MASTER 5 LISTEN OFF
connect a
acquire a 3
lab MASTER 4 LISTEN ON
lab MASTER 5 LISTEN ON

lab MASTER 3 CLOCK ADVANCE 10001
lab gets 1

connect b
acquire b 3
# Both hold the lock: a on 1, 2, 3, and b on 3, 4, 5.
a.1 PTTL lock:order
a.1 gets 10000

the_end
