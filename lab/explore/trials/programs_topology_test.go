package trials

import (
	"os"
	"strings"

	"github.com/miniredisd/miniredisd/internal/respclient"
	"github.com/miniredisd/miniredisd/resp"
)

// inCluster has two owners of a lock in a cluster. Without follows, a release does not follow MOVED and ASK.
func inCluster(follows bool) {
	owners(func(o *owner, token string) {
		home := ""
		o.find = func(v resp.Value, _ error) bool {
			if home != "" { // ASK was for one request
				o.move(home)
				home = ""
			}
			words := strings.Fields(v.Str)
			if v.Kind != '-' || len(words) != 3 || words[0] != "MOVED" && words[0] != "ASK" {
				return v.Kind == '-' && strings.HasPrefix(v.Str, "TRYAGAIN")
			}
			if words[0] == "ASK" {
				o.asking, home = true, o.addr
			}
			o.move(words[2])
			return true
		}
		lookAgain(o, token, func() {
			o.work()
			if !follows {
				o.find = nil
			}
		})
	})
}

// behindSentinel has two owners of a lock whose master they find by the first so many Sentinels.
func behindSentinel(ask int) {
	owners(func(o *owner, token string) {
		o.find = func(v resp.Value, err error) bool {
			lost := v.Kind == '-' && strings.HasPrefix(v.Str, "READONLY")
			if lost || v.Kind == 0 && err != nil {
				o.move(master(ask))
			}
			return lost
		}
		o.addr = master(ask)
		lookAgain(o, token, o.work)
	})
}

// move connects to another node.
func (c *client) move(addr string) {
	if addr != c.addr && c.conn != nil {
		_ = c.conn.Close()
		c.conn = nil
	}
	c.addr = addr
}

// master returns the address that one of the first Sentinels names and that says itself that it is the master. If there
// is none, it returns the last one.
func master(ask int) (addr string) {
	for _, sentinel := range strings.Split(os.Getenv("REDIS_SENTINELS"), ",")[:ask] {
		v, err := once(sentinel, "SENTINEL", "GET-MASTER-ADDR-BY-NAME", os.Getenv("REDIS_SENTINEL_MASTER"))
		if err != nil || len(v.Elems) != 2 {
			continue
		}
		addr = v.Elems[0].Str + ":" + v.Elems[1].Str
		if role, err := once(addr, "ROLE"); err == nil && role.Elems[0].Str == "master" {
			return addr
		}
	}
	return addr
}

// once sends one request over a connection of its own.
func once(addr string, words ...string) (v resp.Value, err error) {
	c, err := respclient.Dial(addr)
	if err != nil {
		return v, err
	}
	defer c.Close()
	return c.Do(words...)
}
