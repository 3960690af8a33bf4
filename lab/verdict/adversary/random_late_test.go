package adversary

import (
	"fmt"

	"github.com/stretchr/testify/require"
)

// takeUnheard takes the lock and loses the reply. The worker looks at once whether it has the lock. Its token
// is new: so it cannot take an old lock of its own for the new one.
func (im *improviser) takeUnheard(w *worker, command, lease string) {
	sender := im.sender(w)
	im.say("lose " + sender)
	im.say(sender + ": " + command + " -> lost")
	if im.ask(im.sender(w), w.fill(im.ways.token, "")) == w.fill(im.ways.is, "") {
		w.held = true
		im.say("hold " + w.name + " " + lease)
	}
}

// sendSlowly sends a release that waits at the server until letGo. Until then the worker has its lock.
func (im *improviser) sendSlowly(w *worker, command string) {
	w.slow = fmt.Sprintf("slow-%d", im.text.Len())
	im.say("lab FAULT ADD " + w.slow + " CLIENT " + w.name + " TIMES 1 ACTION HOLD")
	im.say(w.name + "> " + command)
	im.say("lab HOLD WAIT " + w.slow + " 5000")
}

// letGo lets the server execute the request of a worker. A connection that a crash has ended has no request.
func (im *improviser) letGo(w *worker) {
	if im.client(w.name).conns[1] != nil {
		im.say("lab HOLD RELEASE " + w.slow)
		v, err := im.conn(w.name, 1).Read()
		require.NoError(im.t, err)
		fmt.Fprintf(&im.text, "%s< %s\n", w.name, text(v))
	}
	w.slow = ""
	if im.believes(w) {
		im.say("gone " + w.name)
	}
}
