package command

import "github.com/miniredisd/miniredisd/resp"

// Await has the client wait for a reply that the server will have for it, by Answer, as
// long as that takes. CLIENT UNBLOCK ends the wait as well: nothing writes the reply then.
func (c *Call) Await(nothing func(*resp.Writer)) { c.block(0, nothing) }

// Check tells why s may never run a request as it is, if it may not. What keeps it from that
// here and now, a pause or a script, does not count: another executor is to run it.
func (ex *Executor) Check(s *Session, args [][]byte) error {
	if _, err := ex.admit(s, args); err != errPostponed && err != ex.Busy() {
		return err
	}
	return nil
}

// Answer ends the wait of s with the reply that write appends.
func (ex *Executor) Answer(s *Session, write func(*resp.Writer)) {
	s.Wait.nothing = write
	ex.Unblock(s, nil)
}
