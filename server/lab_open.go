package server

import (
	"errors"
	"fmt"

	"github.com/miniredisd/miniredisd/internal/config"
)

// A lab that strangers can reach is refused: they could crash the server. Protected mode and a
// password keep strangers out, as they do for every other command.

// openAt returns the addresses at which strangers can send LAB.
func (l *labState) openAt() (addrs []string) {
	if l.cfg.ProtectedMode || !l.ex.Users.Default.NoPass {
		return nil
	}
	for _, at := range l.listeners.all {
		if !at.unix && !isLoopback(at.addr) {
			addrs = append(addrs, at.addr)
		}
	}
	return addrs
}

const closeLab = "Set a password, turn protected mode on, or bind to a loopback address"

// refuseOpen keeps a server from starting if strangers could send LAB and lab-open is not set.
func (l *labState) refuseOpen() error {
	if addrs := l.openAt(); len(addrs) > 0 && !l.cfg.LabOpen {
		return fmt.Errorf("lab yes is refused: everyone who reaches %s could crash this server and move its clock. "+
			closeLab+", or allow it with lab-open yes.", addrs[0])
	}
	return nil
}

// warnOfOpen logs the addresses at which strangers can send LAB.
func (l *labState) warnOfOpen() {
	for _, addr := range l.openAt() {
		l.log('#', "WARNING: everyone who reaches %s may crash this server and move its clock, because of 'lab yes'. "+
			closeLab+".", addr)
	}
}

// configured warns, too, when CONFIG SET has let strangers in.
func (l *labState) configured(name string) error {
	switch name {
	case "port", "tls-port", "bind", "requirepass", "protected-mode":
		l.warnOfOpen()
	}
	return nil
}

// checkLab refuses directives that mean nothing without a lab.
func checkLab(cfg *config.Config) error {
	switch {
	case cfg.LabDisk && !cfg.Lab:
		return errors.New("lab-disk needs --lab yes")
	case cfg.LabMaint && !cfg.Lab:
		return errors.New("lab-maint-notifications needs --lab yes")
	}
	return nil
}
