#!/bin/bash
# 22. Errors about the state of the server. On an unlock they leave the lock behind
# (node-redlock#11). A client that gets one of them must still release the lock.
. "$(dirname "$0")/lab.sh"
start
client worker-1

n=0
while read -r error; do
	n=$((n + 1))
	worker-1 SET lock:order "token-$n" NX PX 30000
	worker-1 gets OK
	lab FAULT ADD "state-$n" SCRIPT "'del'" KEY 'lock:*' NTH 1 ACTION ERROR "$error"
	worker-1 EVAL "$unlock" 1 lock:order "token-$n"
	worker-1 gets "$error"
	worker-1 EVAL "$unlock" 1 lock:order "token-$n"
	worker-1 gets 1
done <<'ERRORS'
LOADING Redis is loading the dataset in memory
MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk.
OOM command not allowed when used memory > 'maxmemory'.
READONLY You can't write against a read only replica.
MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.
CLUSTERDOWN The cluster is down
TRYAGAIN Multiple keys request during rehashing of slot
NOREPLICAS Not enough good replicas to write.
ERRORS

# The worst case: the server executed the command and replied with an error.
worker-1 SET lock:order token-x NX PX 30000
worker-1 gets OK
lab FAULT ADD after SCRIPT "'del'" NTH 1 ACTION ERROR-AFTER 'NOREPLICAS Not enough good replicas to write.'
worker-1 EVAL "$unlock" 1 lock:order token-x
worker-1 gets 'NOREPLICAS Not enough good replicas to write.'
worker-1 EXISTS lock:order
worker-1 gets 0

logged 8 '"outcome":"not executed"'
the_end
