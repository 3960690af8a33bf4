package main

import (
	"context"
	"net"

	"github.com/miniredisd/miniredisd/course/claims"
	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/internal/rlog"
	"github.com/miniredisd/miniredisd/lab/glass/glasshttp"
	"github.com/miniredisd/miniredisd/node"
	"github.com/miniredisd/miniredisd/server/glass"
)

// listenWatch opens the port of the page and writes its address into cfg. The listener is nil if
// watch is not set.
func listenWatch(cfg *config.Config) (net.Listener, error) {
	if cfg.Watch == "" {
		return nil, nil
	}
	l, err := accessOf(cfg).Listen("watch", cfg.Watch)
	if err == nil {
		cfg.Watch = l.Addr().String()
	}
	return l, err
}

// serveWatch serves the page on l until the caller calls end. A nil l means no page.
func serveWatch(l net.Listener, cfg *config.Config, masters node.Nodes, log *rlog.Logger) (end func()) {
	if l == nil {
		return func() {}
	}
	o := glasshttp.Options{
		Ask: askOf(masters), Access: accessOf(cfg), Claims: claims.List(),
		RunClaim: func(ctx context.Context, n int) (any, error) { return claims.Run(ctx, n) },
	}
	for _, s := range masters {
		m := glasshttp.Master{View: glass.ViewOf(s), Name: s.NameClient}
		if addrs := s.Addrs(); len(addrs) > 0 { // none with tls-port alone
			m.Addr = addrs[0]
		}
		o.Masters = append(o.Masters, m)
	}
	page := glasshttp.New(o)
	stop := serveHTTP(l, page.Handler(), log)
	log.Log('*', "The loop can be watched at http://%s/", l.Addr())
	return func() {
		page.Close()
		stop()
	}
}
