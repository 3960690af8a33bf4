package doctor

import (
	"strconv"
	"strings"

	"github.com/miniredisd/miniredisd/lab/holders"
)

// waits reports whether o is a WAIT or WAITAOF.
func (o op) waits() bool { return o.name == "wait" || o.name == "waitaof" }

// confirmed reports whether the client has the reply of o, and whether it says that enough servers have the writes.
// reply is the reply in RESP, or *[1 0] from the log.
func (o op) confirmed(reply []byte) bool {
	if o.lost || len(reply) == 0 || reply[0] == '-' {
		return false
	}
	digits := func(r rune) bool { return r < '0' || r > '9' }
	told := strings.FieldsFunc(strings.TrimPrefix(string(reply), "*2\r\n"), digits)
	asked := o.args[1:max(len(o.args)-1, 1)] // the last one is the timeout
	if len(told) != len(asked) {
		return false
	}
	for i := range asked {
		want, err := strconv.Atoi(asked[i])
		got, bad := strconv.Atoi(told[i])
		if err != nil || bad != nil || got < want {
			return false
		}
	}
	return true
}

// awaited handles a WAIT of a client. held means that it has no reply yet.
func (d *Doctor) awaited(o op, reply []byte, held bool) {
	if d.ledger != nil {
		d.ledger.Holders.Awaited(d.master, holders.Wait{
			Client: o.client, Request: o.request, Enough: !held && o.confirmed(reply), Late: o.late, Step: o.step(),
		})
	}
}
