#!/bin/bash
# 19. Masters refuse connections. With two of five down, Redlock goes on. With three down it must
# not, and gives back its votes.
. "$(dirname "$0")/redlock.sh"
start --masters 5

lab MASTER 4 LISTEN OFF
lab MASTER 5 LISTEN OFF
connect a
acquire a 3
release a

lab MASTER 3 LISTEN OFF
connect b
acquire b 2
release b

# Nothing is left behind on the two masters.
b.1 EXISTS lock:order
b.1 gets 0
b.2 EXISTS lock:order
b.2 gets 0

the_end
