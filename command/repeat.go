package command

import (
	"slices"

	"github.com/miniredisd/miniredisd/internal/config"
)

// repeat replies with n elements, of which some may be the same: HRANDFIELD, SRANDMEMBER and ZRANDMEMBER with a
// negative count. Here the client alone chooses the length of the reply. So the reply ends at the client's
// output limit. Without such a limit, or inside a script, an error takes the place of a reply that is
// longer than proto-max-bulk-len. begin writes what stands before the elements, and add writes one.
func (c *Call) repeat(n int, begin, add func()) error {
	mark, most := len(c.Buf), stringLimit(c)
	begin()
	for i := 0; i < n && !c.cutOff(); i++ {
		add()
		length := len(c.Buf) - mark
		if i == repeatProbe && c.unlimited() {
			each := length / repeatProbe
			if each > 2*most/n {
				c.Buf = c.Buf[:mark]
				return errLongReply(most)
			}
			c.Buf = slices.Grow(c.Buf, min(each*(n+n/8), most)) // large buffers that grow leave large ones behind
		}
		if length > most {
			c.Buf = slices.Clone(c.Buf[:mark]) // gives the memory back
			return errLongReply(most)
		}
	}
	return nil
}

func errLongReply(most int) error {
	return errorf("ERR the reply would be longer than proto-max-bulk-len, which is %d bytes", most)
}

// repeatProbe is after how many elements the length of a reply is foreseen. Nobody has to wait until
// it is reached.
const repeatProbe = 1000

// unlimited reports whether no output limit ends the reply.
func (c *Call) unlimited() bool {
	return c.Ex.Scripts.run.on || c.Cfg.OutputLimits[config.ClassNormal].Hard == 0
}
