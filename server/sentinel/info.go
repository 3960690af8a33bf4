package sentinel

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/lab/sentinel"
	"github.com/miniredisd/miniredisd/server"
	"github.com/miniredisd/miniredisd/store"
)

const errPublish store.Error = "ERR Only HELLO messages are accepted by Sentinel instances."

// serverRows are commands of every server that a Sentinel answers in another way.
func serverRows() []command.Row {
	const flags = command.Loading | command.Stale
	return []command.Row{
		server.Row("info", "[section ...]", -1, flags|command.Dangerous, "server", "1.0.0", "O(1)",
			"Returns statistics of this Sentinel, and its masters.", (*State).info),
		server.Row("role", "", 1, flags|command.NoScript|command.Fast|command.InAdmin, "server", "2.8.12", "O(1)",
			"Returns the names of the masters.", (*State).role),
		server.Row("publish", "channel:string message:string", 3,
			command.PubSub|command.Loading|command.Stale|command.Fast, "pubsub", "2.0.0", "O(1)",
			"Takes a hello of another Sentinel.", (*State).publish),
	}
}

// INFO [section ...] (sentinel.c: sentinelInfoCommand)
func (st *State) info(c *command.Call) error {
	var r server.Report
	names := strings.Fields(strings.ToLower(strings.Join(words(c.Args[1:]), " ")))
	if len(names) == 0 || slices.ContainsFunc(names, func(n string) bool {
		return n == "all" || n == "everything" || n == "default"
	}) {
		names = []string{"server", "clients", "cpu", "stats", "sentinel"}
	}
	for _, name := range []string{"server", "clients", "stats", "cpu"} {
		if slices.Contains(names, name) {
			st.admin.Section(&r, name)
		}
	}
	if slices.Contains(names, "sentinel") {
		st.infoSentinel(&r)
	}
	c.Bulk(r.B)
	return nil
}

func (st *State) infoSentinel(r *server.Report) {
	if len(r.B) > 0 {
		r.B = append(r.B, "\r\n"...)
	}
	r.B = append(r.B, "# Sentinel\r\n"...)
	r.Fields("sentinel_masters", len(st.brain.Masters), "sentinel_tilt", 0, "sentinel_tilt_since_seconds", -1,
		"sentinel_running_scripts", 0, "sentinel_scripts_queue_length", 0,
		"sentinel_simulate_failure_flags", int(st.brain.Crashes))
	for i, m := range st.brain.Masters {
		r.Line("master%d:name=%s,status=%s,address=%s:%d,slaves=%d,sentinels=%d", i, m.Name, status(m), m.Addr.Host,
			m.Addr.Port, len(m.Replicas), len(m.Others)+1)
	}
}

func status(m *sentinel.Instance) string {
	switch {
	case m.Flags&sentinel.ODown != 0:
		return "odown"
	case m.Flags&sentinel.SDown != 0:
		return "sdown"
	}
	return "ok"
}

// ROLE (sentinel.c: sentinelRoleCommand)
func (st *State) role(c *command.Call) error {
	c.Array(2)
	c.BulkString("sentinel")
	c.Array(len(st.brain.Masters))
	for _, m := range st.brain.Masters {
		c.BulkString(m.Name)
	}
	return nil
}

// PUBLISH __sentinel__:hello message (sentinel.c: sentinelPublishCommand)
func (st *State) publish(c *command.Call) error {
	if string(c.Args[1]) != "__sentinel__:hello" {
		return errPublish
	}
	st.brain.Heard(string(c.Args[2]))
	c.Int(1)
	st.acted()
	return nil
}

func isIP(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}
