package glasshttp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/miniredisd/miniredisd/lab/glass"
)

// stream is a page that reads /watch/events. Its handler sends what two sources have:
//
//	points of package glass ──> Subscription ──> pump ──┐
//	bytes for the page's clients ──> tell ──> news ─────┼──> handler ──> the browser
//	LAB TOPOLOGY, if the page asks for it ──> look ─────┘
//
// No source waits for the browser. A Subscription drops its oldest messages, and the news keep
// the last 64 KB of each client. There is one LAB TOPOLOGY at a time.
type stream struct {
	news []news        // clients.mu guards it
	told chan struct{} // has a value if there may be news
}

// maxStreams is how many pages may watch.
const maxStreams = 16

// events serves server-sent events: hello first, then what happens, until the browser leaves.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	from, errFrom := number(r, "from", 0, 1<<53)
	master, errMaster := number(r, "master", 1, int64(len(s.Masters)))
	shows, errShows := number(r, "topology", 0, 1)
	if err := cmp.Or(errFrom, errMaster, errShows); err != nil {
		answer(w, nil, err)
		return
	}
	t, err := s.clients.join()
	if err != nil {
		answer(w, nil, err)
		return
	}
	defer s.clients.leave(t)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(s.ended, func() {
		cancel()
		// A browser that does not read keeps send in its Write.
		_ = http.NewResponseController(w).SetWriteDeadline(time.Unix(1, 0))
	})()

	of := s.Masters[master-1].View
	sub := of.Subscribe(from)
	defer sub.Close()
	of.Greet()
	messages := make(chan glass.Message, 64)
	go pump(ctx, sub, messages)
	var views chan []byte
	if shows == 1 {
		views = make(chan []byte)
		go s.look(ctx, views)
	}
	w.Header().Set("Content-Type", "text/event-stream")
	hello, err := json.Marshal(of.Hello())
	if err != nil {
		return
	}
	s.send(w, fmt.Appendf(nil, "event: hello\ndata: %s\n\n", hello), messages, views, t)
}

// number returns a parameter of the query, which lies between least and most. A missing one is
// least.
func number(r *http.Request, name string, least, most int64) (int64, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return least, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("%s is a number from %d to %d, not '%s'", name, least, most, text)
	}
	return n, nil
}

// pump waits for messages. It closes the channel when the watch or ctx has ended.
func pump(ctx context.Context, sub *glass.Subscription, messages chan<- glass.Message) {
	defer close(messages)
	for {
		m, err := sub.Next(ctx)
		if err != nil {
			return
		}
		select {
		case messages <- m:
		case <-ctx.Done():
			return
		}
	}
}

// send writes a first text, messages as they come, views of the topology, and the news. It flushes when no other
// message waits.
func (s *Server) send(
	w http.ResponseWriter, text []byte, messages <-chan glass.Message, views <-chan []byte, t *stream,
) {
	flush := http.NewResponseController(w).Flush
	for {
		if _, err := w.Write(text); err != nil {
			return
		}
		if len(messages) == 0 && flush() != nil {
			return
		}
		select {
		case m, ok := <-messages:
			if !ok {
				return
			}
			text = appendMessage(text[:0], m)
		case view := <-views:
			text = fmt.Appendf(text[:0], "event: topology\ndata: %s\n\n", view)
		case <-t.told:
			text = s.clients.take(t)
		}
	}
}

func appendMessage(b []byte, m glass.Message) []byte {
	b = append(append(append(b, "event: "...), m.Kind...), "\ndata: "...)
	return append(m.AppendJSON(b), "\n\n"...)
}
