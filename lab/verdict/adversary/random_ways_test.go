package adversary

import "strings"

// ways are the commands by which workers take, renew and release a lock. Blind ones do not carry the token.
type ways struct {
	takes, renewals, blindRenewals, releases, blindReleases []string

	taken   string // the reply of an acquire that succeeds
	renewed []string
	token   string // a command whose reply shows whether the lock has this token
	is      string // ... by being this
	counts  bool   // a lock that is taken twice must be released twice
}

// stringWays are those of locks whose value is the token.
func stringWays() ways {
	return ways{
		takes: []string{"SET lock:1 {token} NX PX {lease}", "SET lock:1 {token} PX {lease} NX",
			"EVAL @take 1 lock:1 {token} {lease}", "EVAL @take-if-absent 1 lock:1 {token} {lease}",
			"EVAL @take-or-renew 1 lock:1 {token} {lease}"},
		renewals: []string{"SET lock:1 {token} XX PX {lease}", "EVAL @compare-and-pexpire 1 lock:1 {token} {lease}",
			"EVAL @compare-and-set 1 lock:1 {token} {lease}"},
		blindRenewals: []string{"PEXPIRE lock:1 {lease}", "PEXPIRE lock:1 {lease} GT", "GETEX lock:1 PX {lease}"},
		releases: []string{"EVAL @compare-and-delete 1 lock:1 {token}",
			"EVAL @compare-and-unlink 1 lock:1 {token}"},
		blindReleases: []string{"DEL lock:1", "UNLINK lock:1", "GETDEL lock:1", "PEXPIRE lock:1 0",
			"EVAL @delete 1 lock:1"},
		taken: "OK", renewed: []string{"1", "OK", "{token}"}, token: "GET lock:1", is: "{token}",
	}
}

// hashWays are those of locks in a hash, whose field is the token.
func hashWays() ways {
	return ways{
		takes:         []string{"EVAL @hash-take 1 lock:1 {lease} {token}"},
		renewals:      []string{"EVAL @hash-renew 1 lock:1 {lease} {token}"},
		blindRenewals: []string{"PEXPIRE lock:1 {lease}", "PEXPIRE lock:1 {lease} GT"},
		releases:      []string{"EVAL @hash-release 1 lock:1 {lease} {token}", "HDEL lock:1 {token}"},
		blindReleases: []string{"DEL lock:1", "EVAL @hash-force 1 lock:1"},
		taken:         "(nil)", renewed: []string{"1"}, token: "HEXISTS lock:1 {token}", is: "1",
		counts: true,
	}
}

// fill puts the worker's token and a lease into a command.
func (w *worker) fill(command, lease string) string {
	return strings.NewReplacer("{token}", w.token, "{lease}", lease).Replace(command)
}
