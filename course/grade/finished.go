package grade

import (
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/internal/respclient"
)

// suspectLimit bounds the wait for each answer of a program that need not answer.
const suspectLimit = time.Second

// suspect looks whether the program is a finished server. No lab asks for COMMAND and INFO, and every finished
// server has them. It tells the reader, and takes no points: somebody may have written both.
func (s *story) suspect() {
	if s.served == nil {
		return
	}
	for _, c := range s.peers {
		_ = c.conn.Close() // a server may serve one client at a time
	}
	conn, err := net.DialTimeout("tcp", s.served.addr, suspectLimit)
	if err != nil {
		return
	}
	defer conn.Close()
	c := respclient.New(conn, 64<<10)
	c.Limit = suspectLimit
	count, err := c.Do("COMMAND", "COUNT")
	if err != nil || count.Kind != ':' || count.Int <= 0 {
		return
	}
	info, err := c.Do("INFO")
	if err != nil || !strings.Contains(info.Str, "_version:") {
		return
	}
	note := say{"Note: this program answers COMMAND COUNT (%d) and INFO. It may be a finished server, and not yours.",
		"注意：这个程序会回答 COMMAND COUNT（%d）和 INFO。它可能是现成的服务器，而不是你写的。"}.in(s.run.Lang, count.Int)
	s.run.results.Output += "\n" + note
	fmt.Fprintf(s.run.Out, "   %s\n", note)
}
