# The words of the scripts in this folder:
#
#   server NAME PROGRAM [OPTION ...]   Starts a server on a free port, which is then in $NAME.
#   cli NAME COMMAND ...               Sends a command by redis-cli. An error ends the script.
#   until_true COMMAND ...             Asks again and again.
#   follows NAME MASTER                Whether a replica has all that its master has sent.
#   same NAME OTHER                    Checks that both have the same data and the same offset.
#   fill NAME                          Makes keys of all types, and a lock that is held.
#   start_workers, count_locks         Two workers take one lock in turn, and count what they do under it.
#   end_workers                        Checks that no count was lost, and none was made twice.
#   kept NAME                          Checks that the held lock has its holder, and ends when it would have ended.
#
# A worker sends its commands by the function client, which a script defines: it knows where the master is. A worker
# that gets an error, or no reply, goes on with its next lock. MINIREDISD is the path of the server (built here by
# default), TO the program to move to.
set -euo pipefail
export LC_ALL=C
TO=${TO:-valkey-server}
work=$(mktemp -d)
pids=()
trap 'leave $?' EXIT

leave() {
	touch "$work/stop"
	[ ${#pids[@]} = 0 ] || { kill "${pids[@]}" && wait "${pids[@]}"; } 2>/dev/null || true
	rm -rf "$work"
	exit "$1"
}

if [ -z "${MINIREDISD-}" ]; then
	MINIREDISD=$work/miniredisd
	(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && go build -o "$MINIREDISD" ./cmd/miniredisd)
fi

step() { echo "-- $*"; }

wrong() {
	echo "WRONG: $*" >&2
	exit 1
}

free_port() {
	local port
	while port=$((20000 + RANDOM % 12000)) && { : >"/dev/tcp/127.0.0.1/$port"; } 2>/dev/null; do :; done
	echo "$port"
}

server() {
	local name=$1 program=$2 port home
	shift 2
	port=$(free_port)
	home=$work/$name-$port
	mkdir "$home"
	"$program" "$@" --port "$port" --bind 127.0.0.1 --dir "$home" --save "" --enable-debug-command yes \
		--repl-diskless-sync-delay 0 >"$home/log" 2>&1 &
	pids+=($!)
	printf -v "$name" %s "$port"
	until_true answers "$port" "$!"
	echo "$name: $(basename "$program") on port $port"
}

# answers PORT PID
answers() {
	kill -0 "$2" 2>/dev/null || wrong "the server on port $1 ended: $(tail -n 3 "$work"/*-"$1"/log)"
	[ "$(redis-cli -p "$1" PING 2>/dev/null)" = PONG ]
}

cli() {
	local port=${!1}
	shift
	redis-cli -e -p "$port" "$@"
}

until_true() {
	local end=$((SECONDS + 60))
	until "$@"; do
		[ $SECONDS -lt $end ] || wrong "not within a minute: $*"
		sleep 0.05
	done
}

info() { cli "$1" INFO | sed -n "s/^$2:\([^\r]*\).*/\1/p"; }

follows() {
	[ "$(info "$1" master_link_status)" = up ] && [ "$(info "$1" slave_repl_offset)" = "$(info "$2" master_repl_offset)" ]
}

same() {
	until_true follows "$1" "$2"
	local data_1 data_2 # not the name of a server
	data_1=$(cli "$1" DEBUG DIGEST) data_2=$(cli "$2" DEBUG DIGEST)
	[ "$data_1" = "$data_2" ] || wrong "$1 has $data_1, and $2 has $data_2"
	echo "same data, same offset: $1 and $2"
}

fill() {
	cli "$1" EVAL "for i = 1, 2000 do
		redis.call('SET', 'string:' .. i, i, 'PX', 3600000 + i)
		redis.call('HSET', 'hash:' .. i % 50, i, i)
		redis.call('RPUSH', 'list:' .. i % 50, i)
		redis.call('ZADD', 'zset:' .. i % 50, i, i)
		redis.call('XADD', 'stream:' .. i % 50, i .. '-1', 'f', i)
	end" 0 >/dev/null
	cli "$1" SET lock:kept holder-7 NX PX 900000 >/dev/null
	ends=$(cli "$1" PEXPIRETIME lock:kept)
}

# kept NAME [LATER]: the lock may end up to LATER ms later.
kept() {
	local now
	[ "$(cli "$1" GET lock:kept)" = holder-7 ] || wrong "lock:kept has lost its holder on $1"
	now=$(cli "$1" PEXPIRETIME lock:kept)
	[ "$now" -ge "$ends" ] && [ "$now" -le $((ends + ${2:-0})) ] || wrong "lock:kept ends at $now and not at $ends"
	echo "the lock that was held has its holder, and ends $((now - ends)) ms later than before"
}

unlock="if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end"

# worker NAME counts under the lock, by GET and SET: two holders at a time would write the same number twice.
worker() {
	local n=0 count
	until [ -e "$work/stop" ]; do
		n=$((n + 1))
		[ "$(client SET lock:order "$1-$n" NX PX 30000)" = OK ] || continue
		count=$(client GET counter)
		case ${count:-0} in
		*[!0-9]*) ;;
		*) [ "$(client SET counter $((count + 1)))" != OK ] || echo $((count + 1)) >>"$work/counted" ;;
		esac
		# A lock that is not released would be there for its lease.
		until [ -e "$work/stop" ] || [[ $(client EVAL "$unlock" 1 lock:order "$1-$n") = [01] ]]; do :; done
	done
} 2>/dev/null

start_workers() {
	: >"$work/counted"
	for name in a b; do
		worker $name &
		workers+=($!)
	done
	count_locks
}

# count_locks returns when the workers have taken twenty more locks.
count_locks() {
	enough=$(($(wc -l <"$work/counted") + 20))
	until_true counted_enough
	echo "the workers go on"
}

counted_enough() { [ "$(wc -l <"$work/counted")" -ge $enough ]; }

end_workers() {
	touch "$work/stop"
	wait "${workers[@]}"
	local last twice
	last=$(cli "$1" GET counter)
	twice=$(sort "$work/counted" | uniq -d)
	[ -z "$twice" ] || wrong "two holders have counted $twice"
	[ "$last" -ge "$(sort -n "$work/counted" | tail -n 1)" ] || wrong "the counter is $last, which is less than was confirmed"
	echo "$(wc -l <"$work/counted") locks, none had two holders, nothing confirmed is lost"
}
