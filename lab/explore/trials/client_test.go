package trials

import (
	"cmp"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/internal/respclient"
	"github.com/miniredisd/miniredisd/resp"
)

// client is a connection that is made again when it ends.
type client struct {
	name string
	addr string        // the first server's without it
	wait time.Duration // for a reply; a second without it
	conn *respclient.Conn

	find   func(v resp.Value, err error) (again bool) // looks for the node that serves it, after a reply
	asking bool                                       // the next request follows an ASK
}

func (c *client) do(words ...string) (v resp.Value, err error) {
	for range 16 {
		v, err = c.once(words...)
		if c.find == nil || !c.find(v, err) {
			break
		}
	}
	return v, err
}

func (c *client) once(words ...string) (v resp.Value, err error) {
	if c.conn == nil {
		addr := cmp.Or(c.addr, strings.TrimPrefix(os.Getenv("REDIS_URL"), "redis://"))
		if c.conn, err = respclient.Dial(addr); err != nil {
			return v, err
		}
		c.conn.Limit = cmp.Or(c.wait, time.Second) // a reply is not late before on a busy machine
		if c.name != "" {
			_, _ = c.conn.Do("CLIENT", "SETNAME", c.name)
		}
	}
	if c.asking {
		_, _ = c.conn.Do("ASKING")
		c.asking = false
	}
	v, err = c.conn.Do(words...)
	if err != nil {
		_ = c.conn.Close()
		c.conn = nil
	}
	if v.Kind == '-' {
		err = errors.New(v.Str)
	}
	return v, err
}
