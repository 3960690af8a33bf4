package command

func (ex *Executor) makeRoom() bool               { return true }
func (ex *Executor) debugAllowed(s *Session) bool { return false }

type Slowlog struct{}
