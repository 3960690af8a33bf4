package doctor

import (
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
	return holders.Enough(o.args, strings.TrimPrefix(string(reply), "*2\r\n"))
}

// awaited handles a WAIT of a client. held means that it has no reply yet.
func (d *Doctor) awaited(o op, reply []byte, held bool) {
	if d.ledger != nil {
		d.ledger.Holders.Awaited(d.master, holders.Wait{
			Client: o.client, Request: o.request, Enough: !held && o.confirmed(reply), Late: o.late, Step: o.step(),
		})
	}
}
