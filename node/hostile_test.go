package node_test

import (
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/freeport"
	"github.com/miniredisd/miniredisd/internal/test/amount"
	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

// hostile makes requests that hardly anybody sends: too many and too few arguments, numbers out of range, nonsense.
type hostile struct {
	*rand.Rand
	subcommands, words []string
	changes            func(args []string) bool // what cannot be compared, or ends the comparison
}

// oddNumbers are those that parsers disagree about.
var oddNumbers = []string{"0", "-1", "", "abc", "30000", "16383", "16384", "9223372036854775807", "9223372036854775808",
	"-9223372036854775808", "1.5", " 1", "01", "+1", "-0", "0x10", "5 ", "1e3", "100", "200", "65535", "65536"}

func (h *hostile) request(command string) []string {
	for {
		name := h.pick(h.subcommands)
		if h.IntN(2) == 0 {
			name = strings.ToUpper(name)
		}
		args := []string{command, name}
		for range h.IntN(7) {
			if h.IntN(2) == 0 {
				args = append(args, h.pick(oddNumbers))
			} else {
				args = append(args, h.pick(h.words))
			}
		}
		if !h.changes(args) {
			return args
		}
	}
}

func (h *hostile) pick(from []string) string { return from[h.IntN(len(from))] }

// compare sends requests to both servers. me replaces the word "me" by what a server calls itself.
func (h *hostile) compare(
	t *testing.T, count int, command string, ours, real *redistest.Conn, me func(c *redistest.Conn) string,
) {
	t.Helper()
	reply := func(c *redistest.Conn, args []string) string {
		_, port, _ := net.SplitHostPort(c.Net.RemoteAddr().String())
		own := me(c)
		sent := slices.Clone(args)
		for i := range sent {
			if sent[i] == "me" {
				sent[i] = own
			}
		}
		text := strings.ReplaceAll(c.Do(sent...).String(), port, "PORT")
		if own != "" {
			text = strings.ReplaceAll(text, own, "me")
		}
		return text
	}
	for range count {
		args := h.request(command)
		require.Equal(t, reply(real, args), reply(ours, args), "%q", args)
	}
}

func TestANodeOfAClusterAnswersHostileRequestsAsRedisDoes(t *testing.T) {
	t.Parallel()
	bus, err := freeport.Choose()
	require.NoError(t, err)
	real := redistest.Start(t, "--cluster-enabled", "yes", "--cluster-port", bus)
	old := redistest.Older(real.Version, "7.2")
	h := &hostile{
		Rand: rand.New(rand.NewPCG(*seed, 0)),
		subcommands: strings.Fields("addslots addslotsrange bumpepoch count-failure-reports countkeysinslot delslots " +
			"delslotsrange failover flushslots forget getkeysinslot keyslot links meet nodes replicas replicate reset " +
			"saveconfig set-config-epoch setslot slaves slots shards myid info nosuch"),
		words: []string{"node", "IMPORTING", "migrating", "stable", "force", "TAKEOVER", "hard", "soft", "127.0.0.1", "::1",
			"999.1.1.1", "localhost", "x", "\x00", "{a}b", strings.Repeat("a", 40), strings.Repeat("z", 41), "me"},
		changes: func(args []string) bool {
			switch name := strings.ToLower(args[1]); {
			case name == "meet": // only nodes of the process can meet
				return old || slices.ContainsFunc(args[2:], func(a string) bool { return net.ParseIP(a) != nil })
			case slices.Contains([]string{"links", "nodes", "shards", "myid", "info"}, name):
				return len(args) == 2 // each node has values of its own
			case name == "keyslot":
				return slices.Contains(args, "me")
			}
			return false
		},
	}
	id := func(c *redistest.Conn) string { return c.Do("CLUSTER", "MYID").Str }
	h.compare(t, amount.Count(1000, 10_000), "CLUSTER", redistest.Dial(t, start(t, []string{"--cluster-enabled", "yes"})),
		redistest.Dial(t, real.Addr), id)
}

func TestASentinelAnswersHostileRequestsAsRedisDoes(t *testing.T) {
	t.Parallel()
	redistest.Require(t)
	sentinels, _ := redistest.StartSentinels(t, 1)
	old := redistest.Older(sentinels[0].Version, "7.2")
	h := &hostile{
		Rand: rand.New(rand.NewPCG(*seed, 0)),
		subcommands: strings.Fields("ckquorum get-master-addr-by-name info-cache is-master-down-by-addr master masters " +
			"pending-scripts replicas sentinels slaves config debug failover flushconfig monitor remove reset set " +
			"simulate-failure nosuch"),
		words: append(strings.Fields("mymaster mymaster mymaster nosuch * my* 127.0.0.1 ::1 999.1.1.1 yes NO warning GET "+
			"set down-after-milliseconds failover-timeout parallel-syncs QUORUM notification-script auth-pass auth-user "+
			"rename-command master-reboot-down-after-period resolve-hostnames announce-ip ANNOUNCE-PORT sentinel-user "+
			"sentinel-pass loglevel INFO-PERIOD ping-period ask-period publish-period default-down-after HELP"),
			"\x00", "quorum\x00x", strings.Repeat("a", 40), strings.Repeat("z", 300)),
		changes: func(args []string) bool {
			name := strings.ToLower(args[1])
			watched := len(args) > 2 && strings.HasPrefix("mymaster", strings.TrimSuffix(args[2], "*"))
			switch name {
			case "monitor": // only servers of the process can be watched
				return len(args) == 6
			case "failover", "remove", "reset", "master", "replicas", "slaves", "sentinels", "get-master-addr-by-name":
				return watched
			case "info-cache":
				return slices.Contains(args, "mymaster")
			case "masters":
				return len(args) == 2 // each has values of its own
			case "config":
				return old // it has other errors since 7.2
			case "debug":
				return len(args) == 2
			}
			return false
		},
	}
	n := startSentinels(t, "1")
	h.compare(t, amount.Count(1000, 10_000), "SENTINEL", n.c[3], redistest.Dial(t, sentinels[0].Addr),
		func(*redistest.Conn) string { return "" })
}
