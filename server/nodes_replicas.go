package server

import (
	"fmt"

	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/reactor"
)

// prepareToReplicate changes what would be a nuisance inside of one process. Each server may become a master or a
// replica, so all get the same.
func prepareToReplicate(own *config.Config, number int) {
	if own.ReplDisklessDelay == 5 { // the default: it waits for more replicas
		own.ReplDisklessDelay = 0
	}
	if own.ReplDisklessLoad == "disabled" { // the default: all keys go through a file first
		own.ReplDisklessLoad = "swapdb"
	}
	if own.MasterAuth == "" {
		own.MasterAuth = own.RequirePass
	}
	if own.MasterOf(number) != number {
		own.ReplicaOf = ""
	}
}

// becomeNeighbours lets the loops of a bubble look at the sockets between them.
func (ns Nodes) becomeNeighbours() {
	for _, s := range ns {
		if s.bubble == nil {
			return
		}
		var others []*reactor.Bubble
		for _, other := range ns {
			if other != s {
				others = append(others, other.bubble)
			}
		}
		s.bubble.Neighbours(others)
	}
}

// follow makes the replicas of the process follow their masters. Their links begin with Run.
func (ns Nodes) follow() error {
	for _, s := range ns {
		if s.group == s.number {
			continue
		}
		s.cfg.ReplicaOf = fmt.Sprintf("%s %d", peerHost, ns[s.group-1].port)
		if err := s.follow.start(); err != nil {
			return err
		}
		if s.lab != nil {
			s.lab.keepConfig()
		}
	}
	return nil
}
