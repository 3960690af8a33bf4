#!/bin/bash
# From one miniredisd to one server of Redis or Valkey, and back, while clients take locks. They know one port.
. "$(dirname "$0")/way-out.sh"

server here "$MINIREDISD"
port=$here
client() { timeout 5 redis-cli -p "$port" "$@"; }
fill here
start_workers

# move PROGRAM puts a server of another kind in place of this one.
move() {
	step "$(basename "$1") becomes a replica"
	server there "$1" --replicaof "127.0.0.1 $port"
	until_true follows there here

	step "no more writes; the replica has all of them"
	cli here CLIENT PAUSE 60000 WRITE
	same there here

	step "the replica becomes the master, and takes over the port"
	cli there REPLICAOF NO ONE
	cli here SHUTDOWN NOSAVE || true # the reply is the end of the connection
	until_true cli there CONFIG SET port "$port"
	here=$port
	kept here
	count_locks
}

move "$TO"
move "$MINIREDISD"
end_workers here
