# A client of Redlock, for the stories over five masters:
#
#   connect NAME       Connects NAME to every master, as NAME.1 to NAME.5.
#   acquire NAME N     Sends SET NX PX 10000 to all five. N of them must reply OK; three are a majority.
#   release NAME       Runs the unlock script on all five.
. "$(dirname "${BASH_SOURCE[0]}")/lab.sh"

connect() {
	local m
	for m in 1 2 3 4 5; do client "$1.$m" "$m"; done
}

acquire() {
	local m got=0
	for m in 1 2 3 4 5; do
		"$1.$m" SET lock:order "token-$1" NX PX 10000
		"$1.$m" hears
		[ "$reply" != OK ] || got=$((got + 1))
	done
	reply="$1 has $got of 5"
	echo "  $reply"
	[ $got = "$2" ] || wrong "$1 has $2 of 5"
}

release() {
	local m
	for m in 1 2 3 4 5; do
		"$1.$m" EVAL "$unlock" 1 lock:order "token-$1"
		"$1.$m" hears
	done
}
