package browser

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// keep records an event. It runs on the goroutine of read.
func (p *Page) keep(m message) {
	var e struct {
		Request          struct{ URL string }
		Type             string
		Args             []struct{ Value, Description any }
		ExceptionDetails exception
		Entry            struct{ Level, Source, Text, URL string }
	}
	if json.Unmarshal(m.Params, &e) != nil {
		return // no event that is kept
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch m.Method {
	case "Page.loadEventFired":
		close(p.loaded)
		p.loaded = make(chan struct{})
	case "Network.requestWillBeSent":
		p.requests = append(p.requests, e.Request.URL)
	case "Runtime.exceptionThrown":
		p.problems = append(p.problems, e.ExceptionDetails.String())
	case "Runtime.consoleAPICalled":
		if e.Type == "error" || e.Type == "warning" || e.Type == "assert" {
			p.problems = append(p.problems, fmt.Sprintf("console.%s: %v", e.Type, e.Args))
		}
	case "Log.entryAdded": // violations of the content security policy too
		if e.Entry.Level == "error" || e.Entry.Level == "warning" {
			p.problems = append(p.problems, strings.TrimSpace(e.Entry.Source+": "+e.Entry.Text+" "+e.Entry.URL))
		}
	}
}

// exception is an error in JavaScript.
type exception struct {
	Text      string
	Exception struct{ Description, Value any }
}

func (e exception) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s %v", e.Text, firstOf(e.Exception.Description, e.Exception.Value)))
}

// firstOf returns the first value that is there.
func firstOf(values ...any) any {
	for _, v := range values {
		if v != nil {
			return v
		}
	}
	return ""
}

// Requests returns the URL of each request of the tab so far.
func (p *Page) Requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.requests)
}

// Problems returns what the browser has complained about so far: exceptions, errors and warnings in
// the console, failed requests, and violations of the content security policy.
func (p *Page) Problems() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.problems)
}
