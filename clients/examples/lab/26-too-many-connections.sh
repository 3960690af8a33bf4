#!/bin/bash
# 26. A client library opens a pool at its start: Redisson 24 connections and one for messages. The
# server accepts fewer.
. "$(dirname "$0")/lab.sh"
start --masters 2 --maxclients 21 # twenty for the pool, one for lab.sh
for n in {1..20}; do
	client "pool-$n" 2
done
client pool-21 2
[ "$reply" = 'ERR max number of clients reached' ] || wrong 'ERR max number of clients reached'

# The twenty connections work. The lab is a client as well, of the other master.
pool-20 SET lock:order token-1 NX PX 30000
pool-20 gets OK
pool-1 QUIT
pool-1 gets OK
pool-1 gets '(closed)'
client pool-21 2
pool-21 PING
pool-21 gets PONG

# A server that accepts no new connections, while existing ones work:
lab MASTER 2 LISTEN OFF
client pool-22 2
pool-22 PING
pool-22 gets '(refused)'
pool-21 PING
pool-21 gets PONG
lab MASTER 2 LISTEN ON

the_end
