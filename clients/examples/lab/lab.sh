# The words of the stories in this folder:
#
#   start [OPTION ...]     Starts a server, or several with --masters N and --replicas N. Their clocks
#                          stand still. The replicas count on from the masters.
#   lab VERB ...           Sends LAB VERB ... by redis-cli. An error ends the story.
#   lab gets REPLY         Checks the reply of the last LAB.
#   client NAME [MASTER]   Connects a client, and names it by CLIENT SETNAME. For a.3, the
#                          connection of a to the third master, the name is a. Then:
#   NAME COMMAND ...       sends a command and does not wait;
#   NAME gets REPLY        reads the next reply, which must be REPLY;
#   NAME hears             reads the next reply;
#   NAME waits             checks that there is no reply yet;
#   NAME leaves            closes the connection;
#   NAME finds N           asks the Sentinel that it is connected to for the master, which must be node N.
#   linked N               Waits until N replicas have a link, and all that their master has executed.
#   logged N REGEX         Checks that N lines of LAB LOG match, over all masters.
#   the_end                Prints LAB LOG.
#   $unlock, $renew        The two scripts of a lock. Both compare the token first.
#
# Replies are written as in LAB LOG: OK, 1, text, (nil), ERR ..., [a b]. An address is node-N. The state of a connection
# is (closed), (reset) or (refused). Nothing here sleeps or uses real time. MINIREDISD is the path
# of the server (built here by default), SEED its seed, and HISTORY a file for LAB ALL LOG EXPORT. With
# WATCH=127.0.0.1:7379 the servers have their page there, and each step waits for Enter.
set -eu
export LC_ALL=C
trap '' PIPE
work=$(mktemp -d)
trap 'stop $?' EXIT
declare -A fds=() of=()
ports=()
barriers=() # a connection to each master
via=1 # the master that gets LAB
reply=
unlock="if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end"
renew="if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) else return 0 end"

stop() {
	[ -z "${server-}" ] || { kill "$server" && wait "$server"; } 2>/dev/null || true
	rm -rf "$work"
	exit "$1"
}

start() {
	if [ -z "${MINIREDISD-}" ]; then
		MINIREDISD=$work/miniredisd
		(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && go build -o "$MINIREDISD" ./cmd/miniredisd)
	fi
	mkfifo "$work/says"
	"$MINIREDISD" --lab yes --seed "${SEED:-1}" --port 0 --port-file "$work/ports" --dir "$work" ${WATCH:+--watch "$WATCH"} "$@" \
		>"$work/says" 2>&1 &
	server=$!
	exec {says}<"$work/says"
	until [ -s "$work/ports" ]; do
		read -r line <&$says || { echo "the server ended: $line" && exit 1; }
	done
	cat <&$says >/dev/null &
	local port fd
	mapfile -t ports < <(cut -d" " -f1 "$work/ports")
	for port in "${ports[@]}"; do
		exec {fd}<>"/dev/tcp/127.0.0.1/$port"
		barriers+=("$fd")
	done
	linked "$(grep -c replica "$work/ports" || true)"
	labcli ALL CLOCK FREEZE >/dev/null
	labcli ALL CLOCK SET 1700000000000 >/dev/null
	labcli ALL LOG WATCH '*' >/dev/null
	labcli ALL LOG RESET >/dev/null
	[ -z "${WATCH-}" ] || echo "Open http://$WATCH/ and press Enter for each step."
}

# step waits until the reader wants the next step. Without WATCH nobody looks.
step() { [ -z "${WATCH-}" ] || read -rs || true; }

labcli() { redis-cli -p "${ports[via - 1]}" LAB "$@"; }

lab() {
	if [ "$1" != gets ]; then
		step
		echo "lab> $(nodes "$*")"
		reply=$(labcli "$@")
		case $reply in ERR* | NOPERM* | Error*) wrong "no error" ;; esac
		return
	fi
	echo "  lab: $(nodes "$reply")"
	[ "$reply" = "$2" ] || wrong "$2"
}

# nodes TEXT prints a text with the numbers of nodes instead of their ports.
nodes() {
	local text=$1 n
	for n in "${!ports[@]}"; do text=${text//"${ports[n]}"/node-$((n + 1))}; done
	echo "$text"
}

# places TEXT prints a text with the numbers of nodes instead of their addresses.
places() {
	local text=$1 n
	for n in "${!ports[@]}"; do text=${text//127.0.0.1[: ]"${ports[n]}"/node-$((n + 1))}; done
	echo "$text"
}

client() {
	fds[$1]= of[$1]=${2:-1}
	if { exec {fd}<>"/dev/tcp/127.0.0.1/${ports[${2:-1} - 1]}"; } 2>/dev/null; then
		fds[$1]=$fd
		send "$fd" CLIENT SETNAME "${1%.*}"
		receive "$fd"
		[ "$reply" = OK ] || echo "  $1: $reply"
	fi
	eval "$1() { talk $1 \"\$@\"; }"
}

talk() {
	local name=$1 fd=${fds[$1]}
	shift
	case $1 in
	gets | hears)
		receive "$fd"
		[[ $reply != *127.0.0.1:* ]] || reply=$(places "$reply")
		echo "  $name: $reply"
		[ "$1" = hears ] || [ "$reply" = "$2" ] || wrong "$2"
		;;
	waits)
		labcli ALL CLOCK >/dev/null # after this, a reply would have arrived
		! read -r -t 0 <&"$fd" || { receive "$fd" && wrong "$name still waits"; }
		;;
	finds)
		send "$fd" SENTINEL GET-MASTER-ADDR-BY-NAME mymaster
		receive "$fd"
		echo "$name finds $(nodes "${reply#*1 }" | tr -d ']')"
		[ "$reply" = "[127.0.0.1 ${ports[$2 - 1]}]" ] || wrong "node $2"
		;;
	leaves)
		echo "$name leaves"
		exec {fd}>&-
		;;
	*)
		step
		echo "$name> $(shown "$@")"
		[ -z "$fd" ] || { settle "${of[$name]}" && send "$fd" "$@"; }
		;;
	esac
}

# settle MASTER returns after the pass in which the master has read all requests so far. Without this, two
# requests can arrive in one pass. Then epoll may report the second first: after a pass it keeps each descriptor
# at its place in the list until epoll_wait has looked at it again.
settle() {
	local fd=${barriers[$1 - 1]} reply
	send "$fd" LAB CLOCK
	receive "$fd"
}

# shown WORD... prints a command, with the name of a variable instead of its script.
shown() {
	local line="$*" name
	for name in unlock renew lock latched script; do
		[ -z "${!name-}" ] || line=${line//"${!name}"/\$$name}
	done
	echo "$line"
}

# send FD WORD... sends a request in RESP. When it returns, the server's socket has the request. One
# exception: after a request without a reply, the kernel keeps the next one for some milliseconds.
send() {
	local fd=$1 word out
	shift
	printf -v out '*%d\r\n' $#
	for word; do
		printf -v word '$%d\r\n%s\r\n' ${#word} "$word"
		out+=$word
	done
	printf %s "$out" 2>/dev/null >&"$fd" || true
}

# receive FD leaves the next reply in $reply.
receive() {
	local line= n all=
	reply='(refused)'
	[ -n "$1" ] || return 0
	if ! { IFS= read -r line <&"$1"; } 2>"$work/why"; then
		reply=$line'(closed)'
		! grep -q reset "$work/why" || reply=$line'(reset)'
		return 0
	fi
	line=${line%$'\r'}
	reply=${line:1}
	case $line in
	'$-1' | '*-1') reply='(nil)' ;;
	\$*)
		IFS= read -r -N $((reply + 2)) line <&"$1" || line+='(closed)'
		reply=${line%$'\r\n'}
		;;
	\**)
		for ((n = reply; n > 0; n--)); do
			receive "$1"
			all+=" $reply"
		done
		reply="[${all# }]"
		;;
	esac
}

entries() { redis-cli -p "${ports[via - 1]}" --json LAB "$@" | sed 's/},{/},\n{/g; s/\],\[/],\n[/g'; }

linked() {
	local reply
	until
		send "${barriers[via - 1]}" LAB TOPOLOGY
		receive "${barriers[via - 1]}"
		[ "$(grep -o 'link connected' <<<"$reply" | wc -l)" = "$1" ] &&
			{ [ "$1" = 0 ] || [ "$(grep -o 'offset [0-9]*' <<<"$reply" | sort -u | wc -l)" = 1 ]; }
	do :; done
}

logged() {
	reply=$(entries ALL LOG | grep -cE -- "$2" || true)
	[ "$reply" = "$1" ] || wrong "$1 lines of LAB LOG with $2"
}

wrong() {
	echo
	echo "expected: $1"
	echo "but saw:  $reply"
	echo
	entries ALL LOG
	exit 1
} >&2

the_end() {
	step
	local all=
	[ ${#ports[@]} = 1 ] || all=ALL
	[ -z "${HISTORY-}" ] || labcli $all LOG EXPORT >"$HISTORY"
	echo
	places "$(entries $all LOG)"
}
