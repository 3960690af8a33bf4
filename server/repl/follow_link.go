package repl

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/internal/dialect"
	"github.com/miniredisd/miniredisd/internal/replication/follow"
	"github.com/miniredisd/miniredisd/ioworkers"
	"github.com/miniredisd/miniredisd/reactor"
	"github.com/miniredisd/miniredisd/server"
)

// link is a connection to the master. Until the stream begins it has its socket for itself. Then the socket is also
// that of a client, so that CLIENT LIST shows it and CLIENT KILL ends it.
type link struct {
	FD      int
	addr    string
	tls     *ioworkers.TLS // nil without tls-replication
	Shaking *shaking       // its handshake, nil if that is over
	Talk    *follow.Link   // nil until it is connected
	Client  *server.Client // nil until the stream begins
	chunk   []byte         // room for a read
	unsent  []byte
	ready   bool  // the socket has something to read, or is connected
	stopped bool  // it is not watched for input
	behind  bool  // talk has events that had to wait
	heard   int64 // monotonic ns, when something has come
}

const (
	linkChunk   = 64 << 10         // bytes of a read
	linkBudget  = int64(5_000_000) // ns in a pass
	resolveMost = 2 * time.Second
)

// connect begins to connect. It may fail at once, or later (replication.c: connectWithMaster). In Redis all clients
// wait while the name of a master is resolved. Here a goroutine does that.
func (f *following) connect() {
	if f.asking != nil {
		return
	}
	if to := PeerAt(f.s, f.Host, f.Port); to != nil {
		f.began(f.connectTo(to))
	} else if addr, err := netip.ParseAddr(f.Host); err == nil {
		f.began(f.dial(addr))
	} else {
		f.ask(f.Host)
	}
}

// began takes a link that is about to be connected.
func (f *following) began(l *link, err error) {
	if err != nil {
		f.s.Log('#', "Unable to connect to MASTER: %v", err)
		return
	}
	f.Link = l
	f.s.Log('*', "MASTER <-> REPLICA sync started")
}

// asking is a search for the address of a master.
type asking struct{ cancel context.CancelFunc }

// ask resolves the name of the master, and then connects, unless stopAsking has ended that.
func (f *following) ask(host string) {
	ctx, cancel := context.WithTimeout(context.Background(), resolveMost)
	a := &asking{cancel}
	f.asking = a
	f.computing.Add(1)
	go func() {
		defer f.computing.Done()
		addrs, err := resolveMaster(ctx, host)
		f.s.Inbox.Post(func() {
			switch {
			case f.asking != a:
				return
			case err == nil:
				f.began(f.dial(addrs[0]))
			default:
				f.began(nil, err)
			}
			f.stopAsking()
		})
	}()
}

func (f *following) stopAsking() {
	if f.asking != nil {
		f.asking.cancel()
		f.asking = nil
	}
}

func (f *following) dial(addr netip.Addr) (*link, error) {
	addr = addr.Unmap()
	family := unix.AF_INET6
	var to unix.Sockaddr = &unix.SockaddrInet6{Port: f.Port, Addr: addr.As16()}
	if addr.Is4() {
		family, to = unix.AF_INET, &unix.SockaddrInet4{Port: f.Port, Addr: addr.As4()}
	}
	fd, err := unix.Socket(family, unix.SOCK_STREAM, 0)
	if err != nil {
		return nil, err
	}
	unix.CloseOnExec(fd)
	_ = unix.SetNonblock(fd, true)
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	l := &link{FD: fd, addr: server.AddrString(to), heard: f.s.Now, chunk: make([]byte, linkChunk)}
	err = unix.Connect(fd, to)
	if err == nil || errors.Is(err, unix.EINPROGRESS) {
		err = f.s.Loop.Watch(fd, reactor.Writable, func() { l.ready = true })
	}
	if err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	return l, nil
}

// resolveMaster returns the addresses of a host, those of IPv4 first.
func resolveMaster(ctx context.Context, host string) ([]netip.Addr, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{addr}, nil
	}
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	slices.SortStableFunc(addrs, func(a, b netip.Addr) int { return a.Unmap().BitLen() - b.Unmap().BitLen() })
	return addrs, err
}

// isSelf reports whether a host and a port are those of this server. It resolves a name only if the port is that of
// this server. Then clients wait, because the reply depends on it.
func (f *following) isSelf(host string, port int) bool {
	switch {
	case f.s.Bubble != nil:
		return port == f.s.PeerPort
	case port != f.s.Cfg.Port:
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), resolveMost)
	defer cancel()
	addrs, _ := resolveMaster(ctx, host) // the link says later what is wrong with the name
	own, _ := net.InterfaceAddrs()
	return slices.ContainsFunc(addrs, func(a netip.Addr) bool {
		return a.IsLoopback() || a.IsUnspecified() || slices.ContainsFunc(own, func(o net.Addr) bool {
			prefix, err := netip.ParsePrefix(o.String())
			return err == nil && prefix.Addr() == a.Unmap()
		})
	})
}

// connected continues once there is a connection.
func (f *following) connected(l *link) {
	l.ready = false
	f.s.Loop.Unwatch(l.FD, reactor.Writable)
	if n, err := unix.GetsockoptInt(l.FD, unix.SOL_SOCKET, unix.SO_ERROR); err != nil || n != 0 {
		f.fail('#', "Error condition on socket for SYNC: "+config.ErrorText(errors.Join(err, unix.Errno(n))))
		return
	}
	f.s.Log('*', "Non blocking connect for SYNC fired the event.")
	if f.s.Cfg.TLSReplication {
		f.shakeHands(l)
		return
	}
	f.greet(l)
}

// greet begins the conversation.
func (f *following) greet(l *link) {
	l.Talk = follow.New(f.options())
	l.stopped = true
	f.watch(l, true)
	f.flush(l)
}

// saysVersion says since when a replica tells its version. The master chooses the format of the file by it.
const saysVersion dialect.Since = ",8.0.0"

func (f *following) options() follow.Options {
	cfg := f.s.Cfg
	o := follow.Options{
		User: cfg.MasterUser, Password: cfg.MasterAuth, Port: cfg.ReplicaAnnouncePort, AnnounceIP: cfg.ReplicaAnnounceIP,
		Failover: f.s.Failover.State == handsOver, MaxRequest: int(cfg.QueryBufferLimit), Log: f.s.Log,
	}
	if st := &f.s.Replicas.Stream; f.Known {
		o.From = follow.Position{ID: st.ID, Offset: st.Offset}
	}
	if o.Port == 0 {
		o.Port = f.s.Port()
		if f.s.Cfg.TLSReplication && f.s.Cfg.TLSPort > 0 {
			o.Port = f.s.Cfg.TLSPort
		}
	}
	if d := f.s.Ex.Table.Dialect; d.Has(saysVersion) {
		o.Version = d.Version
	}
	return o
}

// watch lets the loop say when bytes have come, or not.
func (f *following) watch(l *link, on bool) {
	if on != l.stopped {
		return
	}
	l.stopped = !on
	if !on {
		f.s.Loop.Unwatch(l.FD, reactor.Readable)
		return
	}
	if err := f.s.Loop.Watch(l.FD, reactor.Readable, func() { l.ready = true }); err != nil {
		f.fail('#', err.Error())
	}
}

// flush sends what there is to send. A socket without room gets it a second later.
func (f *following) flush(l *link) {
	l.unsent = append(l.unsent, l.Talk.Output()...)
	for len(l.unsent) > 0 {
		n, err := l.write(l.unsent)
		if n > 0 {
			if f.s.Trace.Detailed() {
				f.s.Link.Told(l.unsent[:n])
			}
			l.unsent = l.unsent[n:]
			f.s.Stats.NetOut += int64(n)
		}
		switch {
		case err == nil || err == unix.EINTR:
		case err == unix.EAGAIN:
			return
		default:
			f.fail('#', "Sending command to master in replication handshake: "+err.Error())
			return
		}
	}
}

// fail ends the link with a line in the log. The next one comes with the next second.
func (f *following) fail(level byte, why string) {
	f.s.Log(level, "%s", why)
	f.abortSync()
	if f.Link != nil {
		f.hangUp()
	}
}

// hangUp ends the link. The next one continues where this one has ended.
func (f *following) hangUp() {
	l := f.Link
	f.Link = nil
	if l.Client == nil {
		f.s.Loop.Unwatch(l.FD, reactor.Readable|reactor.Writable)
		if !l.stopShaking() {
			_ = unix.Close(l.FD)
			l.FD = -1
		}
		return
	}
	f.s.Log('*', "Connection with master lost.")
	f.s.Link.Down()
	f.db, f.partial = l.Client.Sess.DB, nil
	f.s.Ex.EndTransaction(&l.Client.Sess) // the master sends it again
	f.s.CloseClient(l.Client)
	f.downSince = f.s.Persist.Unix()
	f.configure()
}

// lost is called when the client of the link is freed: CLIENT KILL has ended it.
func (f *following) lost(c *server.Client) {
	if f.Link != nil && f.Link.Client == c {
		f.hangUp()
		f.again()
	}
}

// again connects at once, because the master forgets what it has sent.
func (f *following) again() {
	f.s.Log('*', "Reconnecting to MASTER %s:%d", f.Host, f.Port)
	f.connect()
}

// begin makes a client of the link, for the stream.
func (f *following) begin(l *link) {
	local, _ := unix.Getsockname(l.FD)
	f.watch(l, false)
	c := f.s.Adopt(l.FD, l.addr, server.AddrString(local), false)
	if c == nil {
		l.FD = -1 // adopt has closed it
		f.Link = nil
		return
	}
	c.Sess.Master, c.Sess.Authenticated, c.Sess.User, c.Sess.DB = true, true, nil, f.db
	c.Sess.Name = f.s.Link.Name("master", f.Port)
	c.TLS = l.tls
	c.Readable = func() { l.ready = true }
	l.Client, l.stopped, l.ready = c, true, true
	f.s.Loop.Unwatch(l.FD, reactor.Readable)
	f.watch(l, true)
	f.downSince = 0
	f.configure()
	f.s.Link.Begun(c)
}
