package main

import (
	"context"
	"errors"
	stdlog "log"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/internal/rlog"
	"github.com/miniredisd/miniredisd/lab/labhttp"
	"github.com/miniredisd/miniredisd/node"
	"github.com/miniredisd/miniredisd/resp"
)

// listenLab opens the port of lab-http and writes its address into cfg. The listener is nil if
// lab-http is not set.
func listenLab(cfg *config.Config) (net.Listener, error) {
	switch {
	case cfg.LabHTTP == "" && cfg.LabHTTPFile != "":
		return nil, errors.New("lab-http-file needs lab-http, which is not set")
	case cfg.LabToken != "" && cfg.LabHTTP == "" && cfg.Watch == "":
		return nil, errors.New("lab-token needs lab-http or watch, and neither is set")
	case cfg.LabHTTP == "":
		return nil, nil
	case !cfg.Lab:
		return nil, errors.New("lab-http needs --lab yes")
	}
	l, err := accessOf(cfg).Listen("lab-http", cfg.LabHTTP)
	if err == nil {
		cfg.LabHTTP = l.Addr().String()
	}
	return l, err
}

// accessOf returns who may use the lab and the page over HTTP.
func accessOf(cfg *config.Config) labhttp.Access { return labhttp.Access{Token: cfg.LabToken} }

// labURL is the address of LAB over HTTP.
func labURL(cfg *config.Config) string { return "http://" + cfg.LabHTTP + "/lab" }

// headerLimit is how long a client may take to send the header of an HTTP request.
const headerLimit = 10 * time.Second

// askOf returns how a handler of HTTP executes LAB.
func askOf(masters node.Nodes) labhttp.Ask {
	return func(ctx context.Context, n int, args []string) (resp.Value, error) {
		return masters.Do(ctx, n, args...)
	}
}

// serveLab serves LAB over HTTP on l until the caller calls end. A nil l means no HTTP.
func serveLab(l net.Listener, cfg *config.Config, masters node.Nodes, log *rlog.Logger) (end func()) {
	if l == nil {
		return func() {}
	}
	end = serveHTTP(l, accessOf(cfg).Guard(labhttp.Handler(len(masters), askOf(masters))), log)
	log.Log('*', "Lab is at http://%s/lab", l.Addr())
	return end
}

// serveHTTP serves h on l until the caller calls end.
func serveHTTP(l net.Listener, h http.Handler, log *rlog.Logger) (end func()) {
	s := http.Server{Handler: h, ReadHeaderTimeout: headerLimit, ErrorLog: stdlog.New(labLog{log}, "", 0)}
	go func() { _ = s.Serve(l) }()
	return func() {
		// The masters have ended, so every pending request gets its answer at once.
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = s.Shutdown(ctx)
	}
}

// labLog writes the errors of net/http to the log.
type labLog struct{ *rlog.Logger }

func (l labLog) Write(line []byte) (int, error) {
	l.Log('-', "Lab: %s", strings.TrimSpace(string(line)))
	return len(line), nil
}
