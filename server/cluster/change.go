package cluster

import (
	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/lab/topology"
	"github.com/miniredisd/miniredisd/server"
	"github.com/miniredisd/miniredisd/store"
)

const (
	errSlotRange   store.Error = "ERR Invalid or out of range slot"
	errFlushKeys   store.Error = "ERR DB must be empty to perform CLUSTER FLUSHSLOTS."
	errSetSlot     store.Error = "ERR Invalid CLUSTER SETSLOT action or number of arguments. Try CLUSTER HELP"
	errResetKeys   store.Error = "ERR CLUSTER RESET can't be called with master nodes containing keys"
	errToReplica   store.Error = "ERR You should send CLUSTER FAILOVER to a replica"
	errNoMaster    store.Error = "ERR I'm a replica but my master is unknown to me"
	errMasterIsOff store.Error = "ERR Master is down or failed, please use CLUSTER FAILOVER FORCE"
)

// parseSlot reads a slot (cluster.c: getSlotOrReply).
func parseSlot(arg []byte) (int, error) {
	slot, ok := ascii.ParseInt(arg)
	if !ok || slot < 0 || slot >= topology.Slots {
		return 0, errSlotRange
	}
	return int(slot), nil
}

// become is set for a command: it replies OK, or with why the view cannot change.
func (st *State) become(c *command.Call, v topology.View, err error) error {
	if err != nil {
		return store.Errorf("%s", err.Error())
	}
	st.set(v)
	c.OK()
	return nil
}

// CLUSTER ADDSLOTS slot ... (cluster.c: clusterCommand)
func (st *State) addSlots(c *command.Call) error {
	return st.changeSlots(c, false, topology.View.Claim)
}

// CLUSTER DELSLOTS slot ... (cluster.c: clusterCommand)
func (st *State) delSlots(c *command.Call) error {
	return st.changeSlots(c, false, topology.View.Release)
}

// CLUSTER ADDSLOTSRANGE start-slot end-slot ... (cluster.c: clusterCommand)
func (st *State) addRanges(c *command.Call) error {
	return st.changeSlots(c, true, topology.View.Claim)
}

// CLUSTER DELSLOTSRANGE start-slot end-slot ... (cluster.c: clusterCommand)
func (st *State) delRanges(c *command.Call) error {
	return st.changeSlots(c, true, topology.View.Release)
}

func (st *State) changeSlots(
	c *command.Call, ranges bool, change func(topology.View, []int) (topology.View, error),
) error {
	var slots []int
	args := c.Args[2:]
	if ranges && len(args)%2 != 0 {
		return store.Errorf("ERR wrong number of arguments for '%s' command", c.Cmd.Name)
	}
	for len(args) > 0 {
		first, err := parseSlot(args[0])
		if err != nil {
			return err
		}
		last := first
		if args = args[1:]; ranges {
			if last, err = parseSlot(args[0]); err != nil {
				return err
			}
			if args = args[1:]; first > last {
				return store.Errorf("ERR start slot number %d is greater than end slot number %d", first, last)
			}
		}
		for slot := first; slot <= last; slot++ {
			slots = append(slots, slot)
		}
		if ranges {
			if _, err := change(st.view, slots); err != nil { // before a later argument that is no slot
				return store.Error(err.Error())
			}
		}
	}
	v, err := change(st.view, slots)
	return st.become(c, v, err)
}

// CLUSTER FLUSHSLOTS (cluster.c: clusterCommand)
func (st *State) flushSlots(c *command.Call) error {
	if st.KS.DBs[0].Len() > 0 {
		return errFlushKeys
	}
	return st.become(c, st.view.Flush(), nil)
}

// CLUSTER SETSLOT slot (IMPORTING id | MIGRATING id | NODE id | STABLE) (cluster.c: clusterCommand)
func (st *State) setSlot(c *command.Call) error {
	if !st.view.Me().IsMaster() {
		return store.Error(topology.ErrReplica)
	}
	slot, err := parseSlot(c.Args[2])
	if err != nil {
		return err
	}
	var v topology.View
	switch how := c.Args[3]; {
	case ascii.EqualFold(how, "migrating") && len(c.Args) == 5:
		v, err = st.view.Migrate(slot, string(c.Args[4]))
	case ascii.EqualFold(how, "importing") && len(c.Args) == 5:
		v, err = st.view.Import(slot, string(c.Args[4]))
	case ascii.EqualFold(how, "stable") && len(c.Args) == 4:
		v, err = st.view.Settle(slot)
	case ascii.EqualFold(how, "node") && len(c.Args) == 5:
		v, err = st.view.Bind(slot, string(c.Args[4]), st.keysIn(slot), st.epoch, st.Cfg.ClusterReplicaMigration)
	default:
		return errSetSlot
	}
	return st.become(c, v, err)
}

// CLUSTER BUMPEPOCH (cluster.c: clusterCommand)
func (st *State) bumpEpoch(c *command.Call) error {
	v, bumped := st.view.Bump(st.epoch)
	word := "STILL"
	if bumped {
		word = "BUMPED"
		st.set(v)
	}
	c.Status(word + " " + itoa(v.Me().Epoch))
	return nil
}

// CLUSTER SET-CONFIG-EPOCH config-epoch (cluster.c: clusterCommand)
func (st *State) setEpoch(c *command.Call) error {
	epoch, ok := ascii.ParseInt(c.Args[2])
	switch {
	case !ok:
		return store.ErrNotInt
	case epoch < 0:
		return store.Errorf("ERR Invalid config epoch specified: %d", epoch)
	}
	v, err := st.view.Number(uint64(epoch))
	return st.become(c, v, err)
}

// CLUSTER FORGET node-id (cluster.c: clusterCommand)
func (st *State) forget(c *command.Call) error {
	v, err := st.view.Forget(string(c.Args[2]), c.Now+forgetFor, c.Now)
	return st.become(c, v, err)
}

// forgetFor is how long a node must not be heard of again, in ms (cluster.c: CLUSTER_BLACKLIST_TTL).
const forgetFor = 60_000

// CLUSTER REPLICATE node-id (cluster.c: clusterCommand)
func (st *State) replicate(c *command.Call) error {
	v, err := st.view.Replicate(string(c.Args[2]), st.KS.DBs[0].Len() == 0)
	return st.become(c, v, err)
}

// CLUSTER RESET [HARD | SOFT] (cluster.c: clusterReset)
func (st *State) reset(c *command.Call) error {
	hard := len(c.Args) == 3 && ascii.EqualFold(c.Args[2], "hard")
	isMaster := st.view.Me().IsMaster()
	switch {
	case len(c.Args) > 3:
		return c.SubcommandSyntax()
	case len(c.Args) == 3 && !hard && !ascii.EqualFold(c.Args[2], "soft"):
		return server.ErrSyntax
	case isMaster && st.KS.DBs[0].Len() > 0:
		return errResetKeys
	}
	id, shard := "", st.view.Me().Shard
	if hard {
		id = server.NewRunID()
		if len(st.All) == 1 { // others still have the epochs that they were given
			st.epochs.Store(0)
		}
	}
	if hard || !isMaster {
		shard = server.NewRunID()
	}
	st.believe(st.view.Reset(id, shard))
	if !isMaster {
		st.Ex.DropKeys(func(string) bool { return true })
	}
	clear(st.peers)
	c.OK()
	return nil
}

// CLUSTER SAVECONFIG (cluster.c: clusterCommand)
func (*State) saveConfig(c *command.Call) error {
	c.OK()
	return nil
}

// CLUSTER FAILOVER [FORCE | TAKEOVER] (cluster.c: clusterCommand)
// The reply comes before the failover, as in Redis.
// Without an option the master holds back writes until this replica has everything.
func (st *State) failover(c *command.Call) error {
	forced := len(c.Args) == 3
	master := st.view.Find(st.view.Me().Master)
	switch {
	case len(c.Args) > 3:
		return c.SubcommandSyntax()
	case forced && !ascii.EqualFold(c.Args[2], "force") && !ascii.EqualFold(c.Args[2], "takeover"):
		return server.ErrSyntax
	case st.view.Me().IsMaster():
		return errToReplica
	case master == nil:
		return errNoMaster
	case !forced && (master.Down || !st.Follow.IsUp()):
		return errMasterIsOff
	}
	c.OK()
	if forced {
		st.Log('#', "Taking over the master (user request).")
		st.takeOver()
		return nil
	}
	at, own := st.All[master.Place-1], st.PeerPort
	v := &server.InternalRequest{Done: func([]byte) {}, Errand: func(v *server.InternalRequest) {
		at.Role.Failover.HandOver(server.PeerHost, own, failoverTimeout)
		v.End(nil)
	}}
	v.SendTo(at.Server)
	return nil
}

// failoverTimeout is how long a master holds back writes for its replica, in ms (cluster.h: CLUSTER_MF_TIMEOUT).
const failoverTimeout = 5000
