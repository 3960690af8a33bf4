package server

import (
	"slices"
	"time"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/store"
)

// crash is a LAB CRASH that is to be done at the end of the pass, when no command is in the
// middle of anything.
type crash struct {
	by   []*client // have a reply to come
	down time.Duration
	keep bool // the keyspace and the functions
}

func (s *Server) labCrashRows() []command.Row {
	return []command.Row{
		s.labRow("crash", "[DOWN milliseconds] [LOSE (ALL | NOTHING)]", -2, 0, "O(N) where N is the number of keys and connections",
			"Ends and starts the server, as if its process had been killed.", s.labCrash),
	}
}

// labCrash replies, and only then closes the connection it came over.
func (s *Server) labCrash(c *command.Call) error {
	var end crash
	seen := map[string]bool{}
	for args := c.Args[2:]; len(args) > 0; args = args[2:] {
		word := labVerb(args[0])
		switch {
		case word != "DOWN" && word != "LOSE":
			return labError("crash", "expects DOWN or LOSE, not '%s'", args[0])
		case seen[word]:
			return labError("crash", "%s is there twice", word)
		case len(args) == 1:
			return labError("crash", "%s expects an argument", word)
		}
		seen[word] = true
		if err := end.option(word, args[1], command.LabEnd-c.Now); err != nil {
			return err
		}
	}
	if end.down > 0 && s.lab.clock.Frozen && s.locksOut() {
		return labError("crash", "DOWN would last for ever: the clock is frozen, and who could move it on cannot connect")
	}
	if (s.lab.blackhole || s.lab.deaf) && s.locksOut() {
		return labError("crash", "it would last for ever: connections are refused or not answered, and who could end that has none any more")
	}
	if first := s.lab.crash; first != nil { // in this same pass: as if one came after the other
		end.by, end.keep = first.by, end.keep && first.keep
	}
	if by := s.caller(); by != nil {
		end.by = append(end.by, by)
	}
	if s.lab.crash == nil {
		s.deferred = append(s.deferred, s.crash)
	}
	s.lab.crash = &end
	s.closeCaller()
	c.OK()
	return nil
}

// locksOut tells whether nobody could reach the lab when the connections are gone, as far as it
// knows: no other master would be up, and it was no program that asked, which still can.
func (s *Server) locksOut() bool {
	switch {
	case s.cfg.LabHTTP != "":
		return false
	case len(s.peers) == 1:
		return s.caller() != nil
	}
	return s.running.visit != nil && s.running.visit.toAll
}

func (end *crash) option(word string, arg []byte, longest int64) error {
	if word == "DOWN" {
		ms, ok := store.ParseInt(arg)
		if !ok || ms < 0 || ms > longest {
			return labError("crash", "DOWN expects a number of milliseconds from 0 to %d, not '%s'", longest, arg)
		}
		end.down = time.Duration(ms) * time.Millisecond
		return nil
	}
	switch labVerb(arg) {
	case "ALL":
		end.keep = false
	case "NOTHING":
		end.keep = true
	default:
		return labError("crash", "LOSE expects ALL or NOTHING, not '%s'", arg)
	}
	return nil
}

// crash leaves of the server what a process leaves that is killed and started again, and
// the lab itself. Replies of this pass are lost to all but who has asked for it, who gets his when
// the server listens again, or does not until DOWN is over. What LOSE NOTHING keeps is what
// Redis keeps on disk: neither scripts nor what CONFIG SET and ACL SETUSER have changed.
func (s *Server) crash() {
	if len(s.deferred) > 0 { // the crash comes last
		s.deferred = append(s.deferred, s.crash)
		return
	}
	s.ex.Broadcast()
	end := s.lab.crash
	s.lab.crash = nil
	for _, c := range s.order {
		if slices.Contains(end.by, c) {
			s.ex.Leave(&c.sess)
		} else if !c.closed {
			s.resetConn(c)
		}
	}
	s.unpause()
	clear(s.resumed)
	s.resumed = s.resumed[:0]
	s.startAgain(end.keep)
	s.closeListeners()
	if s.lab.down != nil { // it was down, and is so for another time now
		s.timers.Cancel(s.lab.down)
		s.lab.down = nil
	}
	if end.down > 0 {
		s.lab.down = s.after(end.down, s.comeUp)
	} else {
		s.comeUp()
	}
	kept := ""
	if end.keep {
		kept = lab.KeysKept
	}
	s.labEvent(lab.EventCrash, kept)
	s.log('*', "LAB CRASH: all connections are reset, and the server has started again")
	s.write()
	for _, c := range end.by {
		if !c.closed && c.lab.relay == nil { // a relay's reply is yet to come
			s.close(c)
		}
	}
	s.freeClosed()
}

// startAgain makes the state that New makes, but for listeners and clients.
func (s *Server) startAgain(keep bool) {
	var code command.Code
	if keep {
		code.Libraries = s.ex.Code().Libraries
		s.ks.Stats = store.Stats{}
	} else {
		s.ks = newKeyspace(s.cfg)
		s.doctorLost()
	}
	s.migrate.closeFirst(len(s.migrate))
	s.restoreConfig()
	if err := s.newExecutor(s.ex.Clock); err != nil {
		s.log('#', "Starting again after LAB CRASH: %v", err)
	}
	s.ex.LoadCode(code)
	s.traceTo(s.trace)
	s.stats, s.rates, s.runID, s.noExpire, s.cronPaused, s.attack = Stats{}, rates{}, newRunID(), false, false, 0
	s.start, s.started, s.peakMem = s.now, s.ks.Now, s.usedMemory()
	s.setOutputTrigger()
	s.setMemoryLimits()
}

// comeUp listens again, where the server listened before. Somebody else may have taken the
// port meanwhile, and may give it back.
func (s *Server) comeUp() {
	s.lab.down = nil
	if err := s.openOrClose(); err != nil {
		s.log('#', "Listening again after LAB CRASH: %v", err)
		s.loop.After(100*time.Millisecond, func() time.Duration {
			if len(s.listeners) == 0 && s.lab.down == nil {
				s.comeUp()
			}
			return 0
		})
	}
}

// restoreConfig takes back what CONFIG SET has changed.
func (s *Server) restoreConfig() {
	all := func(string, string) bool { return true }
	first := s.lab.config.Get([]string{"*"}, all)
	var changed []string
	for i, value := range s.cfg.Get([]string{"*"}, all) {
		if value != first[i] {
			changed = append(changed, first[i-1])
		}
	}
	if len(changed) == 0 {
		return
	}
	*s.cfg = *s.lab.config.Clone()
	for _, name := range changed {
		if s.Reconfigured != nil {
			s.Reconfigured(s.cfg, name)
		}
	}
}

// resetConn closes c by a reset. What was still to be written is lost.
func (s *Server) resetConn(c *client) {
	c.ending = resetEnd
	s.unqueue(c)
	s.leave(c)
}
