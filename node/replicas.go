package node

import (
	"fmt"

	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/server"
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

// followMasters makes the replicas of the process follow their masters. Their links begin with Run.
func followMasters(all []*node) error {
	for _, n := range all {
		if n.Group == n.Number {
			continue
		}
		n.Cfg.ReplicaOf = fmt.Sprintf("%s %d", server.PeerHost, all[n.Group-1].PeerPort)
		if err := n.repl.Follow.Start(); err != nil {
			return err
		}
		if n.lab != nil {
			n.lab.KeepConfig()
		}
	}
	return nil
}
