package trials

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/explore"
)

// scene returns the state of the servers. The TTL of a key is the one at the first time that it is asked for.
func (t *trial) scene() (s explore.Scene, err error) {
	for n := range t.servers.Addrs {
		v, err := t.servers.Lab(t.ctx, n+1, "LOG", "EXPORT")
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
		v, err := t.servers.Do(t.ctx, master, explore.AskTTL(db, key)...)
		known[at] = v.Int
		if err != nil {
			known[at] = -2
		}
		return known[at]
	}
	return s, nil
}

// ends returns what each key holds on the masters: how far a replica has come is chance. It is nil if there are too
// many keys.
func (t *trial) ends() (map[string]string, error) {
	all := map[string]string{}
	for n := range t.addrs() {
		role, err := t.servers.Do(t.ctx, n+1, "ROLE")
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
	for i := range t.servers.Addrs {
		for _, words := range [][]string{{"PUBSUB", "CHANNELS"}, {"PUBSUB", "SHARDCHANNELS"}, {"PUBSUB", "NUMPAT"}} {
			v, err := t.servers.Do(t.ctx, i+1, words...)
			if err != nil {
				return n, err
			}
			n += len(v.Elems) + int(v.Int)
		}
		v, err := t.servers.Do(t.ctx, i+1, "INFO", "clients")
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
