#!/bin/bash
# From one miniredisd into a cluster of Redis or Valkey by import, and back, while clients take locks. They are told when
# they have to use the cluster.
. "$(dirname "$0")/way-out.sh"

server here "$MINIREDISD"
fill here
echo "$here" >"$work/where"
client() { timeout 5 redis-cli -c -p "$(cat "$work/where")" "$@"; }
start_workers

step "a cluster of three"
for node in n1 n2 n3; do server $node "$TO" --cluster-enabled yes --cluster-port "$(free_port)"; done
redis-cli --cluster create "127.0.0.1:$n1" "127.0.0.1:$n2" "127.0.0.1:$n3" --cluster-yes >"$work/create" ||
	wrong "$(cat "$work/create")"
is_whole() { [ "$(cli "$1" CLUSTER INFO | grep -c 'cluster_state:ok')" = 1 ]; }
for node in n1 n2 n3; do until_true is_whole $node; done

step "a copy, because an import takes its keys away"
server copy "$MINIREDISD" --replicaof "127.0.0.1 $here"
until_true follows copy here

step "no more writes; the copy has all of them"
cli here CLIENT PAUSE 120000 WRITE
same copy here
cli copy REPLICAOF NO ONE

step "import"
keys=$(cli copy DBSIZE)
redis-cli --cluster import "127.0.0.1:$n1" --cluster-from "127.0.0.1:$copy" --cluster-copy >"$work/import" ||
	wrong "$(tail -n 5 "$work/import")"
there=0
for node in n1 n2 n3; do
	there=$((there + $(cli $node DBSIZE)))
	# Each key of the node, as it is on the node and on the copy:
	mapfile -t names < <(cli $node KEYS '*')
	[ "$(cli $node DEBUG DIGEST-VALUE "${names[@]}")" = "$(cli copy DEBUG DIGEST-VALUE "${names[@]}")" ] ||
		wrong "the keys of $node differ"
done
[ "$there" = "$keys" ] || wrong "$there of $keys keys"
echo "all $keys keys are there, with the same values"

step "the clients use the cluster"
echo "$n1" >"$work/where"
cli here SHUTDOWN NOSAVE || true
holder() { for node in n1 n2 n3; do cli $node EXISTS lock:kept 2>/dev/null | grep -qx 1 && echo $node; done || true; }
kept "$(holder)" 60000 # MIGRATE sends what is left of a lease, so the way is added to it
count_locks
ends=$(cli "$(holder)" PEXPIRETIME lock:kept)

step "back: all slots move to one node"
slots_move() { # NODE RANGE...
	local from=$1 id
	shift
	id=$(cli n1 CLUSTER MYID)
	# Valkey from 9.0 on moves slots as a whole.
	if cli $from CLUSTER MIGRATESLOTS SLOTSRANGE "$@" NODE "$id" 2>/dev/null | grep -qx OK; then
		until_true owns_nothing $from
		return
	fi
	redis-cli --cluster rebalance "127.0.0.1:$n1" --cluster-weight "$(cli $from CLUSTER MYID)=0" >"$work/rebalance" ||
		wrong "$(tail -c 500 "$work/rebalance")"
}
owns_nothing() { ! cli n1 CLUSTER NODES | grep ":${!1}@" | grep -q -- '[0-9]-[0-9]*$'; }
slots_move n2 5461 10922
slots_move n3 10923 16383
server back "$MINIREDISD" --replicaof "127.0.0.1 $n1"
until_true follows back n1
cli n1 CLIENT PAUSE 60000 WRITE
same back n1
cli back REPLICAOF NO ONE
echo "$back" >"$work/where"
for node in n1 n2 n3; do cli $node SHUTDOWN NOSAVE || true; done
kept back 60000
count_locks
end_workers back
