package command

// Obey executes a request of the master (networking.c: processInputBuffer, for CLIENT_MASTER). Nothing expires
// meanwhile: the master says when. reply is what a client would get, valid until the next call.
func (ex *Executor) Obey(master *Session, args [][]byte) (reply []byte) {
	w := &ex.obeyed
	w.Buf = w.Buf[:0]
	ex.KS.Loading = true
	defer func() { ex.KS.Loading = false }()
	ex.Do(master, args, w)
	if master.Hold == Blocked { // a command that no master sends like this
		ex.Waiters.Remove(master)
		master.Hold = NotHeld
	}
	reply = w.Buf
	if cap(w.Buf) > keepMessage {
		w.Buf = nil
	}
	return reply
}
