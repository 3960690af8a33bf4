package server

// ProcessEventsWhileBlocked is a pass in the middle of a script that runs for too long. It serves the
// other clients (networking.c: processEventsWhileBlocked). The executor refuses most of their
// commands. It reports whether the script has to stop.
//
// The script must find everything as it was. So time stands still: no timer runs, and no key
// expires. The script's client is protected: it is neither read from nor written to
// (networking.c: protectClient).
func (s *Server) ProcessEventsWhileBlocked() (stop bool) {
	script := s.Running
	script.Protected = true
	s.Pool.Alone = true
	defer func() { // the engine turns a panic into an error of the script
		s.Running = script
		script.Protected = false
		s.Pool.Alone = false
	}()
	s.Running = nil
	s.Unqueue(script)        // ExecuteClient queues it again when the script is over
	if !s.Parts.mayReply() { // a full socket may take replies to what this pass has executed
		return true
	}
	fresh := len(s.PendingReads)
	if err := s.Loop.HandleReady(); err != nil {
		s.Log('#', "Looking for other clients during a script: %v", err)
	}
	s.ReadClients(s.PendingReads[fresh:])
	floor := s.Trace.Raise() // the time of commands stands still
	s.executeInternal()
	s.Hooks.executeReads()
	s.ExecuteResumed()
	s.Trace.Lower(floor)
	if s.Parts.mayReply() {
		s.WriteClients()
	}
	s.FreeClosed()
	s.Inbox.answer()
	each(s.Parts.inScript)
	if s.Loop.Stopped() {
		s.CloseClient(script) // its client gets no reply: the script was cut off
		return true
	}
	return false
}
