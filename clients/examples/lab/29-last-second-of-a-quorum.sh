#!/bin/bash
# 29. The last second of Redlock: five masters with appendfsync everysec, and one power cut.
. "$(dirname "$0")/redlock.sh"
start --masters 5 --lab-disk yes --appendonly yes

# Client a gets three masters. It cannot reach the other two.
lab MASTER 4 LISTEN OFF
lab MASTER 5 LISTEN OFF
connect a
acquire a 3
lab MASTER 4 LISTEN ON
lab MASTER 5 LISTEN ON

# Half a second later the power of the third one is cut. It starts again at once.
lab ALL CLOCK ADVANCE 500
lab MASTER 3 CRASH
connect b
acquire b 3
# Both hold the lock: a on 1, 2, 3, and b on 3, 4, 5.

# A vote that is older than a second is on disk. The same power cut, later:
lab ALL CLOCK ADVANCE 10001
lab MASTER 4 LISTEN OFF
lab MASTER 5 LISTEN OFF
connect a
acquire a 3
lab MASTER 4 LISTEN ON
lab MASTER 5 LISTEN ON
lab ALL CLOCK ADVANCE 1000
lab MASTER 3 CRASH
connect b
acquire b 2
release b

# What the article on Redlock advises helps in each case: a master that crashed stays away for longer than the longest
# lease. Its price: for these ten seconds the lock needs three of four.
lab ALL CLOCK ADVANCE 9001
lab MASTER 4 LISTEN OFF
lab MASTER 5 LISTEN OFF
connect a
acquire a 3
lab MASTER 4 LISTEN ON
lab MASTER 5 LISTEN ON
lab ALL CLOCK ADVANCE 500
lab MASTER 3 CRASH DOWN 10001
connect b
acquire b 2
release b
lab ALL CLOCK ADVANCE 10001
connect b
acquire b 5

the_end
