// Package glasshttp serves the page on which a browser watches a server's loop, and controls it.
//
//	browser                       goroutines of net/http           the server
//
//	GET /                   <──── the files in page, embedded
//	GET /recordings/...     <──── the files in recordings, embedded
//	GET /watch/events       <──── Subscription.Next      <──────── points of package glass
//	POST /lab/step/...      ────> labhttp.Handler, Ask   ────────> the gate, even while the loop is stopped
//	POST /lab/...           ────> labhttp.Handler, Ask   ────────> LAB, in the loop
//	GET /lab/verdict.svg    <──── labhttp.Handler, Ask   <──────── LAB VERDICT SVG
//	POST /watch/clients     ────> clients of the page    ────────> a TCP connection for each
//	POST /watch/load        ────> 50 connections         ────────> SET
//	POST /watch/claims      ────> package claims, on a server of its own
//	GET /watch/sources      <──── the functions behind the points
//	GET /watch/labs         <──── the texts of package labs
//
// The loop never waits for a browser: a subscription drops what its reader is too slow for, and
// says how much. The page needs nothing from elsewhere, and its content security policy forbids it.
// labhttp.Access says who may use the handler.
//
// The goroutines of net/http run all of this. Each client of the page has another one, which reads.
package glasshttp

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"strings"

	"github.com/miniredisd/miniredisd/course/labs"
	"github.com/miniredisd/miniredisd/lab/glass"
	"github.com/miniredisd/miniredisd/lab/labhttp"
)

//go:embed page recordings
var page embed.FS

// Options say what the page shows and controls.
type Options struct {
	// Masters are the servers, the first of which is master 1.
	Masters []Master
	// Ask executes LAB. It must answer LAB STEP while a loop is stopped.
	Ask labhttp.Ask
	// Access says who may use the page.
	Access labhttp.Access
	// Claims returns the list of the experiments, or runs the n-th.
	Claims   any
	RunClaim func(ctx context.Context, n int) (any, error)
}

// Master is one server.
type Master struct {
	View *glass.View
	Addr string // where clients connect to it, such as "127.0.0.1:6379"
	// Name gives the next connection from an address a name.
	Name func(addr, name string)
}

// Server is the page's side in the process. Any goroutine may use it.
type Server struct {
	Options
	clients clients
	load    load
	stage   chan struct{}   // has a value while a claim runs
	ended   context.Context // at Close
	end     context.CancelFunc
}

// New returns the server of a page. The caller serves its Handler, and calls Close at the end.
func New(o Options) *Server {
	s := &Server{Options: o, stage: make(chan struct{}, 1)}
	s.ended, s.end = context.WithCancel(context.Background())
	s.clients.masters = o.Masters
	s.clients.open = map[string]*client{}
	s.clients.streams = map[*stream]bool{}
	return s
}

// Close ends streams, loads and the page's clients.
func (s *Server) Close() {
	s.end()
	s.clients.closeAll()
}

// policy lets the page load files of this server only, and lets no other page show it in a frame.
const policy = "default-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Handler serves the page and everything below /watch and /lab.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /", file)
	lab := labhttp.Handler(len(s.Masters), s.Ask)
	for _, pattern := range []string{"POST /lab", "POST /lab/", "GET /lab/verdict.svg", "GET /lab/verdict.html"} {
		mux.Handle(pattern, lab)
	}
	mux.HandleFunc("GET /watch/events", s.events)
	mux.HandleFunc("GET /watch/sources", sources)
	mux.HandleFunc("GET /watch/claims", func(w http.ResponseWriter, _ *http.Request) { answer(w, s.Claims, nil) })
	mux.HandleFunc("POST /watch/claims", post(s.claim))
	mux.HandleFunc("GET /watch/labs", listLabs)
	mux.HandleFunc("POST /watch/clients", post(s.clients.do))
	mux.HandleFunc("POST /watch/load", post(s.runLoad))
	return s.Access.Guard(confined(mux))
}

// Player serves the page with a recording of that name, and has no server behind it. The address of the
// recording is /?recording=name.
func Player(name string, recording []byte) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/recordings/"+name+".loop.gz" {
			file(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/gzip")
		_, _ = w.Write(recording) // the browser may have left
	})
	return labhttp.Access{}.Guard(confined(mux))
}

// confined returns a handler that serves h under the policy of the page.
func confined(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Referrer-Policy", "no-referrer")
		w.Header().Set("Cache-Control", "no-cache") // another version of the server may be next on this port
		h.ServeHTTP(w, r)
	})
}

// post returns a handler that reads a JSON object and answers with what do returns.
func post[Q any](do func(context.Context, Q) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var q Q
		d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
		d.DisallowUnknownFields()
		if err := d.Decode(&q); err != nil {
			answer(w, nil, fmt.Errorf("the body is wrong: %w", err))
			return
		}
		v, err := do(r.Context(), q)
		answer(w, v, err)
	}
}

// maxBody is more than 64 KB of bytes take as a string of JSON.
const maxBody = 6*maxSend + 1<<10

// answer sends {"ok": true, "result": v}, or {"ok": false, "error": "ERR ..."}.
func answer(w http.ResponseWriter, v any, err error) {
	status, reply := http.StatusOK, map[string]any{"ok": true, "result": v}
	if err != nil {
		status, reply = http.StatusBadRequest, map[string]any{"ok": false, "error": "ERR " + err.Error()}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(reply) // the browser may have left
}

// run is the order to run a claim.
type run struct{ N int }

// claim runs one claim at a time: each has up to five servers, and one of them measures.
func (s *Server) claim(ctx context.Context, q run) (any, error) {
	select {
	case s.stage <- struct{}{}:
		defer func() { <-s.stage }()
		return s.RunClaim(ctx, q.N)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// listLabs sends the texts of all labs in the language of ?lang=.
func listLabs(w http.ResponseWriter, r *http.Request) {
	lang := "en"
	if r.URL.Query().Get("lang") == "zh" {
		lang = "zh"
	}
	all, err := labs.All(lang)
	answer(w, all, err)
}

// file serves a file of the page, or a recording. There are no lists of files.
func file(w http.ResponseWriter, r *http.Request) {
	name := path.Clean("/" + r.URL.Path)
	switch {
	case r.URL.Path == "/":
		name = "/page/index.html"
	case !strings.HasPrefix(name, "/recordings/"):
		name = "/page" + name
	}
	text, err := page.ReadFile(name[1:])
	if err != nil {
		http.NotFound(w, r)
		return
	}
	// What package mime knows depends on the machine.
	w.Header().Set("Content-Type", map[string]string{
		".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8",
		".svg": "image/svg+xml", ".gz": "application/gzip",
	}[path.Ext(name)])
	_, _ = w.Write(text) // the browser may have left
}
