package lab

import (
	"errors"
	"fmt"

	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/server"
)

// A lab that strangers can reach is refused: they could crash the server. Protected mode and a
// password keep strangers out, as they do for every other command.

// openAt returns the addresses at which strangers can send LAB.
func (l *State) openAt() (addrs []string) {
	if l.Cfg.ProtectedMode || !l.Ex.Users.Default.NoPass {
		return nil
	}
	for _, at := range l.Listeners.All {
		if !at.Unix && !server.IsLoopback(at.Addr) {
			addrs = append(addrs, at.Addr)
		}
	}
	return addrs
}

const closeLab = "Set a password, turn protected mode on, or bind to a loopback address"

// RefuseOpen keeps a server from starting if strangers could send LAB and lab-open is not set.
func (l *State) RefuseOpen() error {
	if addrs := l.openAt(); len(addrs) > 0 && !l.Cfg.LabOpen {
		return fmt.Errorf("lab yes is refused: everyone who reaches %s could crash this server and move its clock. "+
			closeLab+", or allow it with lab-open yes.", addrs[0])
	}
	return nil
}

// WarnOfOpen logs the addresses at which strangers can send LAB.
func (l *State) WarnOfOpen() {
	for _, addr := range l.openAt() {
		l.Log('#', "WARNING: everyone who reaches %s may crash this server and move its clock, because of 'lab yes'. "+
			closeLab+".", addr)
	}
}

// configured warns, too, when CONFIG SET has let strangers in.
func (l *State) configured(name string) error {
	switch name {
	case "port", "tls-port", "bind", "requirepass", "protected-mode":
		l.WarnOfOpen()
	}
	return nil
}

// Check refuses directives that mean nothing without a lab.
func Check(cfg *config.Config) error {
	switch {
	case cfg.LabDisk && !cfg.Lab:
		return errors.New("lab-disk needs --lab yes")
	case cfg.LabMaint && !cfg.Lab:
		return errors.New("lab-maint-notifications needs --lab yes")
	}
	return nil
}
