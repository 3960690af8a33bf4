package command

import "github.com/miniredisd/miniredisd/store"

// errPostponed is not an answer: the client waits, its command unread.
const errPostponed store.Error = "PAUSED"

// Pause is which commands are held back (CLIENT PAUSE).
type Pause uint8

func (p Pause) holds(flags Flag) bool {
	return flags&NeverPaused == 0 && (p == PauseAll || flags&(Write|MayReplicate) != 0)
}

// PauseWrites holds what may change the keyspace, PauseAll everything.
const (
	PauseNone Pause = iota
	PauseWrites
	PauseAll
)
