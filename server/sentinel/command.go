package sentinel

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/internal/dialect"
	"github.com/miniredisd/miniredisd/lab/sentinel"
	"github.com/miniredisd/miniredisd/server"
	"github.com/miniredisd/miniredisd/server/lab"
	"github.com/miniredisd/miniredisd/store"
)

// Commands are all that a Sentinel can execute. from has the commands of other servers: a Sentinel has some of them.
func Commands(d dialect.Dialect, from ...[]command.Row) *command.Commands {
	shared := []string{"acl", "auth", "client", "command", "hello", "lab", "ping", "psubscribe", "punsubscribe",
		"shutdown", "subscribe", "unsubscribe"}
	keep := func(name string) bool {
		container, _, _ := strings.Cut(name, "|")
		return slices.Contains(shared, container) && name != "client|no-touch"
	}
	return command.CommandsOfMode("sentinel", d, keep, append(sentinelRows(), serverRows()...), from...)
}

const (
	group                      = "sentinel"
	errNoMaster    store.Error = "ERR No such master with that name"
	errQuorum      store.Error = "ERR Invalid quorum"
	errMonitorPort store.Error = "ERR Invalid port"
	errAddress     store.Error = "ERR Invalid IP address or hostname specified"
	errConfig      store.Error = "ERR Only SENTINEL CONFIG GET <param> [<param> <param> ...]/ SET <param> <value> " +
		"[<param> <value> ...] are supported."
	errSimulation store.Error = "ERR Unknown failure simulation specified"
)

func row(name, syntax string, arity int, since, complexity, summary string, do func(*State, *command.Call) error,
) command.Row {
	return server.Row("sentinel|"+name, syntax, arity, command.Admin, group, since, complexity, summary, do)
}

// masterRow is a row for one master: do gets it.
func masterRow(name, syntax string, arity int, since, complexity, summary string,
	do func(st *State, c *command.Call, m *sentinel.Instance) error,
) command.Row {
	return row(name, syntax, arity, since, complexity, summary, func(st *State, c *command.Call) error {
		m := st.brain.Master(string(c.Args[2]))
		if m == nil {
			return errNoMaster
		}
		return do(st, c, m)
	})
}

func sentinelRows() []command.Row {
	container := server.Row[*State]("sentinel", "", -2, command.Admin, group, "2.8.4", "Depends on subcommand.",
		"Shows and changes what this Sentinel watches.", nil)
	container.Do = nil
	help := server.Row[*State]("sentinel|help", "", 2, command.Loading|command.Stale, group, "6.2.0", "O(1)",
		"Lists the subcommands.", nil)
	help.Do = command.Help
	return append([]command.Row{container, help}, slices.Concat(readingRows(), changingRows())...)
}

func readingRows() []command.Row {
	const name, one, perReplica = "master-name:string", "O(1)", "O(N) where N is the number of replicas"
	return []command.Row{
		masterRow("ckquorum", name, 3, "2.8.4", "O(N) where N is the number of Sentinels",
			"Checks whether enough Sentinels can be reached for a failover.", (*State).checkQuorum),
		row("get-master-addr-by-name", name, 3, "2.8.4", one,
			"Returns host and port of a master.", (*State).masterAddr),
		row("info-cache", "nodename:string+", -3, "3.2.0", "O(N) where N is the number of nodes",
			"Returns the last INFO of masters and their replicas.", (*State).infoCache),
		row("is-master-down-by-addr", "ip:string port:integer current-epoch:integer runid:string", 6, "2.8.4", one,
			"Says whether a master is down for this Sentinel, and whom it votes for.", (*State).isMasterDown),
		masterRow("master", name, 3, "2.8.4", one, "Returns what this Sentinel knows of a master.",
			func(_ *State, c *command.Call, m *sentinel.Instance) error { return show(c, m) }),
		row("masters", "", 2, "2.8.4", "O(N) where N is the number of masters",
			"Returns what this Sentinel knows of all masters.",
			func(st *State, c *command.Call) error { return showAll(c, st.brain.Masters) }),
		row("myid", "", 2, "6.2.0", one, "Returns the ID of this Sentinel.",
			func(st *State, c *command.Call) error {
				c.BulkString(st.brain.ID)
				return nil
			}),
		row("pending-scripts", "", 2, "2.8.4", one, "Returns scripts that run: none, because they are not supported.",
			func(_ *State, c *command.Call) error {
				c.Array(0)
				return nil
			}),
		masterRow("replicas", name, 3, "5.0.0", perReplica, "Returns the replicas of a master.", replicas),
		masterRow("sentinels", name, 3, "2.8.4", "O(N) where N is the number of Sentinels",
			"Returns the other Sentinels of a master.",
			func(_ *State, c *command.Call, m *sentinel.Instance) error { return showAll(c, m.Others) }),
		masterRow("slaves", name, 3, "2.8.0", perReplica, "Does the same as SENTINEL REPLICAS.", replicas),
	}
}

func changingRows() []command.Row {
	const name, one = "master-name:string", "O(1)"
	return []command.Row{
		row("config", "(SET (parameter:string value:string)+) | (GET parameter:string+)", -4, "6.2.0",
			"O(N) where N is the number of parameters", "Shows or changes parameters of the whole Sentinel.",
			(*State).config),
		row("debug", "[(parameter:string value:string) ...]", -2, "7.0.0", "O(N) where N is the number of parameters",
			"Shows or changes periods, in milliseconds.", (*State).debug),
		masterRow("failover", name, 3, "2.8.4", "O(N) where N is the number of replicas",
			"Begins a failover without asking other Sentinels.", (*State).failover),
		row("flushconfig", "", 2, "2.8.4", one, "Does nothing, because there is no configuration file.",
			func(_ *State, c *command.Call) error {
				c.OK()
				return nil
			}),
		row("monitor", "name:string ip:string port:integer quorum:integer", 6, "2.8.4", one,
			"Begins to watch a master of this process.", (*State).monitor),
		masterRow("remove", name, 3, "2.8.4", one, "Ends to watch a master.",
			func(st *State, c *command.Call, m *sentinel.Instance) error {
				st.brain.Remove(m)
				return st.done(c)
			}),
		row("reset", "pattern", 3, "2.8.4", "O(N) where N is the number of masters",
			"Forgets replicas, Sentinels and failovers of masters that match.", (*State).resetMasters),
		masterRow("set", "master-name:string (option:string value:string)+", -5, "2.8.4", one,
			"Changes how a master is watched.",
			func(st *State, c *command.Call, m *sentinel.Instance) error {
				err := st.brain.Set(m, words(c.Args[3:]))
				st.acted()
				if err == nil {
					c.OK()
				}
				return err
			}),
		row("simulate-failure", "[CRASH-AFTER-ELECTION] [CRASH-AFTER-PROMOTION] [HELP]", -3, "3.2.0", one,
			"Ends this Sentinel in its next failover.", (*State).simulate),
	}
}

// words are arguments as Sentinel reads them: each ends at a zero, as strings in C do.
func words(args [][]byte) (all []string) {
	for _, arg := range args {
		arg, _, _ = bytes.Cut(arg, []byte{0})
		all = append(all, string(arg))
	}
	return all
}

// done replies, and does what follows from the command.
func (st *State) done(c *command.Call) error {
	c.OK()
	st.acted()
	return nil
}

func replicas(_ *State, c *command.Call, m *sentinel.Instance) error { return showAll(c, m.Replicas) }

func show(c *command.Call, in *sentinel.Instance) error {
	st := server.PartOf[*State](server.ServerOf(c))
	fields := in.Fields(st.now())
	c.Map(len(fields) / 2)
	for _, text := range fields {
		c.BulkString(text)
	}
	return nil
}

func showAll(c *command.Call, all []*sentinel.Instance) error {
	c.Array(len(all))
	for _, in := range all {
		_ = show(c, in) // never fails
	}
	return nil
}

func (st *State) checkQuorum(c *command.Call, m *sentinel.Instance) error {
	text, err := st.brain.Quorum(m)
	if err == nil {
		c.Status(text)
	}
	return err
}

func (st *State) masterAddr(c *command.Call) error {
	m := st.brain.Master(string(c.Args[2]))
	if m == nil {
		c.NullArray()
		return nil
	}
	at := m.MasterAddr()
	c.Array(2)
	c.BulkString(at.Host)
	c.BulkInt(int64(at.Port))
	return nil
}

func (st *State) infoCache(c *command.Call) error {
	var masters []*sentinel.Instance
	for _, m := range st.brain.Masters {
		if slices.Contains(words(c.Args[2:]), m.Name) {
			masters = append(masters, m)
		}
	}
	c.Array(2 * len(masters))
	for _, m := range masters {
		c.BulkString(m.Name)
		all := append([]*sentinel.Instance{m}, m.Replicas...)
		c.Array(len(all))
		for _, in := range all {
			c.Array(2)
			c.Int(in.InfoAge(st.now()))
			if in.Info == "" {
				c.Null()
			} else {
				c.BulkString(in.Info)
			}
		}
	}
	return nil
}

func (st *State) isMasterDown(c *command.Call) error {
	port, ok := ascii.ParseInt(c.Args[3])
	epoch, fine := ascii.ParseInt(c.Args[4])
	if !ok || !fine {
		return store.ErrNotInt
	}
	isDown, leader, of := st.brain.IsDown(sentinel.Down{
		Master: sentinel.Addr{Host: string(c.Args[2]), Port: int(port)}, Epoch: epoch, RunID: string(c.Args[5]),
	})
	c.Array(3)
	c.Int(server.OneIf(isDown))
	if leader == "" {
		leader = "*"
	}
	c.BulkString(leader)
	c.Int(of)
	st.acted()
	return nil
}

func (st *State) config(c *command.Call) error {
	switch args := words(c.Args[3:]); {
	case ascii.EqualFold(c.Args[2], "set") && len(args) > 1:
		if err := st.brain.Global.ConfigSet(args); err != nil {
			return err
		}
		c.OK()
		return nil
	case ascii.EqualFold(c.Args[2], "get"):
		pairs := st.brain.Global.ConfigGet(args, func(pattern, name string) bool {
			return store.Match([]byte(pattern), []byte(name), true)
		})
		c.Map(len(pairs) / 2)
		for _, text := range pairs {
			c.BulkString(text)
		}
		return nil
	}
	return errConfig
}

func (st *State) debug(c *command.Call) error {
	p := &st.brain.Periods
	if len(c.Args) > 2 {
		if err := p.Set(words(c.Args[2:])); err != nil {
			return err
		}
		return st.done(c)
	}
	named := p.Named()
	c.Map(len(named))
	for _, d := range named {
		c.BulkString(d.Name)
		c.BulkString(strconv.FormatInt(*d.Value, 10))
	}
	return nil
}

func (st *State) failover(c *command.Call, m *sentinel.Instance) error {
	if err := st.brain.Failover(m); err != nil {
		return err
	}
	return st.done(c)
}

// monitor watches servers of this process only: its calls are posts to their loops.
func (st *State) monitor(c *command.Call) error {
	quorum, ok := ascii.ParseInt(c.Args[5])
	port, fine := ascii.ParseInt(c.Args[4])
	addr := sentinel.Addr{Host: string(c.Args[3]), Port: int(port)}
	switch {
	case !ok:
		return errQuorum
	case !fine:
		return errMonitorPort
	case quorum > 0 && !isIP(addr.Host):
		return errAddress
	case quorum > 0 && st.nodeAt(addr) == nil:
		return store.Errorf("ERR SENTINEL MONITOR: %s is no master or replica of this process. redis-sentinel watches "+
			"other servers", addr)
	}
	if err := st.brain.Monitor(string(c.Args[2]), addr, quorum); err != nil {
		return err
	}
	return st.done(c)
}

// nodeAt is serverAt for masters and replicas.
func (st *State) nodeAt(addr sentinel.Addr) *lab.State {
	if l := st.serverAt(addr); l != nil && !l.Cfg.IsSentinel(l.Number) {
		return l
	}
	return nil
}

func (st *State) resetMasters(c *command.Call) error {
	c.Int(st.brain.Reset(func(name string) bool { return store.Match(c.Args[2], []byte(name), false) }))
	st.acted()
	return nil
}

func (st *State) simulate(c *command.Call) error {
	st.brain.Crashes = 0
	for _, word := range words(c.Args[2:]) {
		switch strings.ToLower(word) {
		case "crash-after-election":
			st.brain.Crashes |= sentinel.AfterElection
		case "crash-after-promotion":
			st.brain.Crashes |= sentinel.AfterPromotion
		case "help":
			c.Array(2)
			c.BulkString("crash-after-election")
			c.BulkString("crash-after-promotion")
			return nil
		default:
			return errSimulation
		}
	}
	c.OK()
	return nil
}
