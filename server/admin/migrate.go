package admin

import (
	"bufio"
	"errors"
	"net"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/store"
)

const (
	migrateSocketsMost = 64               // cluster.c: MIGRATE_SOCKET_CACHE_ITEMS
	migrateSocketTTL   = 10 * time.Second // cluster.c: MIGRATE_SOCKET_CACHE_TTL
	migrateChunk       = 64 << 10
	migrateReplyMost   = 1024
)

const (
	errMigrateConnecting store.Error = "IOERR error or timeout connecting to the client"
	errMigrateWriting    store.Error = "IOERR error or timeout writing to target instance"
	errMigrateReading    store.Error = "IOERR error or timeout reading to target instance"
)

// errNoReply stands for a line that Redis never sends as a reply to AUTH, SELECT or RESTORE.
const errNoReply store.Error = "neither +OK nor an error"

// migrateSockets are the cached connections of MIGRATE, most recently used last.
type migrateSockets []*migrateSocket

// migrateSocket is a connection to another server. All its calls block.
type migrateSocket struct {
	host, port string // as in the arguments of MIGRATE
	conn       net.Conn
	replies    *bufio.Reader
	db         int64 // the selected database, -1 if unknown
	used       int64 // ns, by Clock.Timeline
}

// Transfer sends RESTORE requests to another server and blocks until the replies are there. If the
// connection fails before a key is restored, it tries once more on a new one: the other server may
// have closed a cached connection.
func (a *State) Transfer(t *command.Transfer, restored func(key int)) error {
	again, err := a.tryTransfer(t, restored)
	if again {
		_, err = a.tryTransfer(t, restored)
	}
	return err
}

// tryTransfer uses one connection. It caches the connection if all replies were read.
func (a *State) tryTransfer(t *command.Transfer, restored func(key int)) (again bool, err error) {
	m := a.Migrate.take(t)
	if m == nil {
		if m, err = a.dialMigrate(t); err != nil {
			return false, err
		}
	}
	head, heads := t.Auth, 0
	if len(t.Auth) > 0 {
		heads++
	}
	if m.db != t.DB {
		head = appendSelect(head, t.DB)
		heads++
	}
	err = m.send(head, t.Timeout)
	if err == nil {
		err = m.send(t.Restore, t.Timeout)
	}
	if err != nil {
		m.conn.Close()
		return !isTimeout(err), errMigrateWriting
	}
	n, refusal, err := m.receive(heads, t, restored)
	m.db = t.DB
	if refusal != "" {
		m.db = -1
	}
	if err != nil || m.replies.Buffered() > 0 {
		m.conn.Close()
	} else {
		a.Migrate.keep(m, a.s.Ex.Clock.Timeline(a.s.Now))
	}
	switch {
	case refusal != "" && n > 0:
		return false, store.Error("ERR Target instance replied with error: " + refusal[1:])
	case err != nil:
		return n == 0 && !isTimeout(err), errMigrateReading
	}
	return false, nil
}

func appendSelect(head []byte, db int64) []byte {
	head = head[:len(head):len(head)] // a second try needs head unchanged
	return resp.AppendRequest(head, "SELECT", strconv.FormatInt(db, 10))
}

func isTimeout(err error) bool {
	var e net.Error
	return errors.As(err, &e) && e.Timeout()
}

// send writes the requests. The timeout holds for each chunk.
func (m *migrateSocket) send(requests []byte, timeout time.Duration) error {
	for len(requests) > 0 {
		n := min(len(requests), migrateChunk)
		if err := m.conn.SetWriteDeadline(time.Now().Add(timeout)); err != nil {
			return err
		}
		if _, err := m.conn.Write(requests[:n]); err != nil {
			return err
		}
		requests = requests[n:]
	}
	return nil
}

// receive reads the replies. n is the number of replies to RESTORE, refusal the first error
// reply. If AUTH or SELECT fails, no key counts as restored: the keys may be in another database.
func (m *migrateSocket) receive(
	heads int, t *command.Transfer, restored func(key int),
) (n int, refusal string, err error) {
	for range heads {
		reply, err := m.reply(t.Timeout)
		if err != nil {
			return 0, "", err
		}
		if refusal == "" && reply[0] == '-' {
			refusal = reply
		}
	}
	astray := refusal != ""
	for ; n < t.Keys; n++ {
		reply, err := m.reply(t.Timeout)
		switch {
		case err != nil:
			return n, refusal, err
		case refusal == "" && reply[0] == '-':
			refusal = reply
		case reply[0] == '+' && !astray:
			restored(n)
		}
	}
	return n, refusal, nil
}

// reply reads +OK or an error. Any other line is a failure, so that a server of another kind cannot
// cost a key.
func (m *migrateSocket) reply(timeout time.Duration) (string, error) {
	if err := m.conn.SetReadDeadline(time.Now().Add(timeout)); err != nil {
		return "", err
	}
	line, err := m.replies.ReadSlice('\n') // fails if the line is longer than the buffer
	if err != nil {
		return "", err
	}
	reply := strings.TrimSuffix(string(line[:len(line)-1]), "\r")
	if reply != "+OK" && !strings.HasPrefix(reply, "-") {
		return "", errNoReply
	}
	return reply, nil
}

// dialMigrate connects. A connection that is refused or late is reported as a write error, because
// Redis notices it at its first write.
func (a *State) dialMigrate(t *command.Transfer) (*migrateSocket, error) {
	if t.Host == "" { // Go would connect to this machine
		return nil, errMigrateConnecting
	}
	conn, err := a.Dial(t.Host, leadingNumber(t.Port), t.Timeout)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED), isTimeout(err):
		return nil, errMigrateWriting
	case err != nil:
		return nil, errMigrateConnecting
	}
	replies := bufio.NewReaderSize(conn, migrateReplyMost)
	return &migrateSocket{host: t.Host, port: t.Port, conn: conn, replies: replies, db: -1}, nil
}

func dialTCP(host, port string, timeout time.Duration) (net.Conn, error) {
	d := net.Dialer{Timeout: timeout, KeepAlive: -1}
	return d.Dial("tcp", net.JoinHostPort(host, port))
}

// leadingNumber returns the part of a port that C's atoi reads.
func leadingNumber(port string) string {
	end := strings.IndexFunc(port, func(r rune) bool { return r != '-' && (r < '0' || r > '9') })
	switch {
	case end < 0:
		return port
	case end == 0:
		return "0"
	}
	return port[:end]
}

// take removes the cached connection to a server and returns it, or nil.
func (all *migrateSockets) take(t *command.Transfer) *migrateSocket {
	for i, m := range *all {
		if m.host == t.Host && m.port == t.Port {
			*all = slices.Delete(*all, i, i+1)
			return m
		}
	}
	return nil
}

// keep caches a connection. If the cache is full it closes the least recently used one.
func (all *migrateSockets) keep(m *migrateSocket, now int64) {
	if len(*all) == migrateSocketsMost {
		all.CloseFirst(1)
	}
	m.used = now
	*all = append(*all, m)
}

// closeUnused closes the connections that were last used before a time
// (cluster.c: migrateCloseTimedoutSockets).
func (all *migrateSockets) closeUnused(before int64) {
	n := 0
	for n < len(*all) && (*all)[n].used < before {
		n++
	}
	all.CloseFirst(n)
}

// CloseFirst closes the n connections that were not used for the longest time.
func (all *migrateSockets) CloseFirst(n int) {
	for _, m := range (*all)[:n] {
		m.conn.Close()
	}
	*all = slices.Delete(*all, 0, n)
}
