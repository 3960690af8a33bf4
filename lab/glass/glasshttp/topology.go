package glasshttp

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"github.com/miniredisd/miniredisd/lab/labhttp"
)

// lookPeriod is the time between two LAB TOPOLOGY for a page that shows it. Screen 4 asks for the log as often.
const lookPeriod = 700 * time.Millisecond

// waits is what a page gets while a node does not answer: its loop may be stopped, or run a script.
const waits = `{"waits":true}`

// look asks for LAB TOPOLOGY again and again, and hands over each answer that differs from the one before.
func (s *Server) look(ctx context.Context, views chan<- []byte) {
	var last []byte
	tell := func(view []byte) {
		if bytes.Equal(view, last) {
			return
		}
		last = view
		select {
		case views <- view:
		case <-ctx.Done():
		}
	}
	for ctx.Err() == nil {
		answer := make(chan []byte, 1)
		go func() { answer <- s.topology(ctx) }()
		period := time.After(lookPeriod)
		select {
		case view := <-answer:
			tell(view)
			select {
			case <-period:
			case <-ctx.Done():
			}
		case <-period:
			tell([]byte(waits))
			tell(<-answer) // it ends with ctx, too
		}
	}
}

// topology returns {"nodes": [...]} with the reply to LAB TOPOLOGY, or {"error": "ERR ..."}.
func (s *Server) topology(ctx context.Context) []byte {
	v, err := s.Ask(ctx, 0, []string{"LAB", "TOPOLOGY"})
	if err != nil {
		text, _ := json.Marshal(map[string]string{"error": err.Error()}) // never fails for strings
		return text
	}
	return append(labhttp.AppendJSON([]byte(`{"nodes":`), v), '}')
}
