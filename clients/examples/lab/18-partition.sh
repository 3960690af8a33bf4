#!/bin/bash
# 18. Two clients see different halves of the network. A client with a majority may work. A client
# without one must not.
. "$(dirname "$0")/redlock.sh"
start --masters 5
connect a
connect b

# a reaches 1, 2, 3; b reaches 4 and 5.
lab MASTER 4 PARTITION CLIENT a ON
lab MASTER 5 PARTITION CLIENT a ON
lab MASTER 1 PARTITION CLIENT b ON
lab MASTER 2 PARTITION CLIENT b ON
lab MASTER 3 PARTITION CLIENT b ON

for m in 1 2 3 4 5; do
	a.$m SET lock:order token-a NX PX 10000
	b.$m SET lock:order token-b NX PX 10000
done
for m in 1 2 3; do
	a.$m gets OK
	b.$m waits
done
for m in 4 5; do
	a.$m waits
	b.$m gets OK
done
# Three for a, two for b: b gives back its votes.
for m in 4 5; do
	b.$m EVAL "$unlock" 1 lock:order token-b
	b.$m gets 1
done

# The network heals, and the kernel delivers old requests. Those of b find a's lock on 1, 2 and 3.
# Those of a find no lock on 4 and 5.
for m in 1 2 3; do
	lab MASTER $m PARTITION CLIENT b OFF
	b.$m gets '(nil)'
done
for m in 4 5; do
	lab MASTER $m PARTITION CLIENT a OFF
	a.$m gets OK
done

the_end
