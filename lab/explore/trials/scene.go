package trials

import (
	"encoding/json"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/explore"
)

// scene returns the state of the servers. The TTL of a key is the one at the first time that it is asked for.
func (t *trial) scene() (s explore.Scene, err error) {
	for n := range t.nodes() {
		v, err := t.lab(n+1, "LOG", "EXPORT")
		if err != nil {
			return s, err
		}
		var h lab.History
		if err := json.Unmarshal([]byte(v.Str), &h); err != nil {
			return s, err
		}
		s.Histories = append(s.Histories, h)
	}
	type place struct {
		master, db int
		key        string
	}
	known := map[place]int64{}
	s.TTL = func(master, db int, key string) int64 {
		at := place{master, db, key}
		if ms, ok := known[at]; ok {
			return ms
		}
		known[at] = t.ttl(master, db, key)
		return known[at]
	}
	s.Slot = t.slot
	return s, nil
}

// ttl returns the TTL of a key on a master. Where clients have to find the master, so has this.
func (t *trial) ttl(master, db int, key string) int64 {
	from, to := master, master
	if t.Cluster || t.Sentinels {
		from, to = 1, t.nodes()
	}
	most := int64(-2)
	for n := from; n <= to; n++ {
		v, err := t.servers.Do(t.ctx, n, explore.AskTTL(db, key)...)
		if err == nil && (from == to || t.leads(n)) && (most == -2 || v.Int == -1 || most >= 0 && v.Int > most) {
			most = v.Int
		}
	}
	return most
}

// leads reports whether a node is a master.
func (t *trial) leads(n int) bool {
	role, err := t.servers.Do(t.ctx, n, "ROLE")
	return err == nil && role.Elems[0].Str == "master"
}

// slot returns the slot of a key, and the number of the node that serves it.
func (t *trial) slot(key string) (slot, owner int) {
	v, err := t.servers.Do(t.ctx, 1, "CLUSTER", "KEYSLOT", key)
	if err != nil {
		return 0, 0
	}
	slot = int(v.Int)
	all, err := t.servers.Do(t.ctx, 1, "CLUSTER", "SLOTS")
	if err != nil {
		return slot, 0
	}
	for _, part := range all.Elems {
		if slot < int(part.Elems[0].Int) || slot > int(part.Elems[1].Int) {
			continue
		}
		of := part.Elems[2].Elems
		return slot, 1 + slices.Index(t.all, net.JoinHostPort(of[0].Str, strconv.FormatInt(of[1].Int, 10)))
	}
	return slot, 0
}

// ends returns what each key holds on the masters: how far a replica has come is chance. It is nil if there are too
// many keys.
func (t *trial) ends() (map[string]string, error) {
	all := map[string]string{}
	for n := range t.nodes() {
		role, err := t.servers.Do(t.ctx, n+1, "ROLE")
		if err == errDown {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if role.Elems[0].Str != "master" {
			continue
		}
		keys, err := t.servers.Do(t.ctx, n+1, "KEYS", "*")
		if err != nil || len(keys.Elems) > mostEnds {
			return nil, err
		}
		for _, key := range keys.Elems {
			v, err := explore.End(func(words ...string) (string, int64, error) {
				v, err := t.servers.Do(t.ctx, n+1, words...)
				return v.Str, v.Int, err
			}, key.Str)
			if err != nil {
				return nil, err
			}
			all[lab.Printable(key.Str)] += v
		}
	}
	return all, nil
}

// mostEnds bounds the keys whose values are compared.
const mostEnds = 1000

// waiting counts what clients wait for: channels with a receiver, patterns, and clients in a blocking command.
func (t *trial) waiting() (n int, err error) {
	for i := range t.nodes() {
		for _, words := range [][]string{{"PUBSUB", "CHANNELS"}, {"PUBSUB", "SHARDCHANNELS"}, {"PUBSUB", "NUMPAT"}} {
			v, err := t.servers.Do(t.ctx, i+1, words...)
			if err == errDown {
				break
			}
			if err != nil {
				return n, err
			}
			n += len(v.Elems) + int(v.Int)
		}
		v, err := t.servers.Do(t.ctx, i+1, "INFO", "clients")
		if err == errDown {
			continue
		}
		if err != nil {
			return n, err
		}
		_, blocked, _ := strings.Cut(v.Str, "blocked_clients:")
		blocked, _, _ = strings.Cut(blocked, "\r")
		more, err := strconv.Atoi(blocked)
		if err != nil {
			return n, err
		}
		n += more
	}
	return n, nil
}
