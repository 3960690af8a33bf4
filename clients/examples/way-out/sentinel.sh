#!/bin/bash
# From a group of miniredisd under Sentinel to one of Redis or Valkey, and back, while clients take locks. They ask the
# sentinels for the master.
. "$(dirname "$0")/way-out.sh"

sentinels=()
sentinel_ask() { redis-cli --raw -p "${sentinels[0]}" SENTINEL "$@"; }
master_port() { sentinel_ask GET-MASTER-ADDR-BY-NAME locks | tail -n 1; }
client() { timeout 5 redis-cli -p "$(master_port)" "$@"; }

start_sentinel() {
	local port
	port=$(free_port)
	mkdir "$work/sentinel-$port"
	printf '%s\n' "port $port" "bind 127.0.0.1" "dir $work/sentinel-$port" "sentinel monitor locks 127.0.0.1 $one 2" \
		"sentinel down-after-milliseconds locks 5000" "sentinel failover-timeout locks 20000" >"$work/sentinel-$port/conf"
	"$TO" "$work/sentinel-$port/conf" --sentinel >"$work/sentinel-$port/log" 2>&1 &
	pids+=($!)
	until_true answers "$port" "$!"
	redis-cli -p "$port" SENTINEL DEBUG INFO-PERIOD 1000 PUBLISH-PERIOD 500 >/dev/null # so that this script is quick
	sentinels+=("$port")
}

# knows N: each sentinel sees N replicas that are up, and both other sentinels.
knows() {
	local port
	for port in "${sentinels[@]}"; do
		[ "$(redis-cli --raw -p "$port" SENTINEL REPLICAS locks | grep -A1 '^master-link-status$' | grep -c '^ok$')" = "$1" ] &&
			redis-cli --raw -p "$port" SENTINEL MASTER locks | grep -A1 num-other-sentinels | grep -qx 2 || return 1
	done
}

# move PROGRAM brings two servers of another kind into the group, makes one of them the master, and ends the old ones.
move() {
	step "two of $(basename "$1") become replicas"
	server three "$1" --replicaof "127.0.0.1 $one"
	server four "$1" --replicaof "127.0.0.1 $one"
	cli two CONFIG SET replica-priority 0 >/dev/null # it must not become the master
	until_true knows 3

	# CLIENT PAUSE would also hold the messages of the sentinels.
	step "no more writes; the replicas have all of them"
	cli one CONFIG SET min-replicas-to-write 9 >/dev/null
	same three one
	same four one

	step "failover"
	sentinel_ask FAILOVER locks
	until_true has_moved
	until_true is_replica one
	until_true is_replica two

	step "the old servers end"
	cli one SHUTDOWN NOSAVE || true
	cli two SHUTDOWN NOSAVE || true
	one=$(master_port)
	[ "$one" != "$three" ] || three=$four
	two=$three
	for port in "${sentinels[@]}"; do
		redis-cli -p "$port" SENTINEL RESET locks >/dev/null
	done
	until_true knows 1
	kept one
	count_locks
}

# has_moved: each sentinel has a new master. One that is reset before would look for the old master for ever.
has_moved() {
	local now port
	now=$(master_port)
	[ "$now" = "$three" ] || [ "$now" = "$four" ] || return 1
	for port in "${sentinels[@]}"; do
		[ "$(redis-cli --raw -p "$port" SENTINEL GET-MASTER-ADDR-BY-NAME locks | tail -n 1)" = "$now" ] || return 1
	done
}

is_replica() { [ "$(info "$1" role)" = slave ] && [ "$(info "$1" master_port)" = "$(master_port)" ]; }

server one "$MINIREDISD"
server two "$MINIREDISD" --replicaof "127.0.0.1 $one"
fill one
for _ in 1 2 3; do start_sentinel; done
until_true knows 1
start_workers

move "$TO"
move "$MINIREDISD"
end_workers one
