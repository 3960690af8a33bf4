// Package labhttp serves the verbs of LAB over HTTP, for shells and for languages without a
// client at hand:
//
//	curl -X POST 127.0.0.1:7070/lab/clock/advance/3000?master=all
//	curl -d '{"master": 2, "args": ["FAULT", "ADD", "lost", "CMD", "SET", "ACTION", "DROP-REPLY"]}' 127.0.0.1:7070/lab
//
// The words of a request are those of its path behind /lab, then args of its body. master is
// a number from 1 on, which is also the default, or "all"; it may stand in the query or in
// the body. The answer is {"ok": true, "result": ...}, or {"ok": false, "error": "ERR ..."}
// with a status of 400 and more. In results, maps are objects in the order of the reply,
// errors of single masters are {"error": ...}, and what is no text is {"base64": ...}.
//
// It listens on this machine only. So that no page of a browser can use it, the Host of a
// request must be a name of this machine, which is what rebinding of names fails at, and its
// Origin, if it has one, that very Host.
//
// Requests are served by goroutines of net/http. Of the servers they know nothing but Ask.
package labhttp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/miniredisd/miniredisd/resp"
)

// Ask has a master execute a request: one counted from 1, or any that still runs for 0. An
// error reply is an error; so is the end of ctx, which comes when nobody waits for the
// answer any more.
type Ask func(ctx context.Context, master int, args []string) (resp.Value, error)

// Listen opens the port at addr, which must be one of this machine's own.
func Listen(addr string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(addr)
	switch {
	case err != nil:
		return nil, fmt.Errorf("lab-http expects an address such as 127.0.0.1:0, not '%s'", addr)
	case !isLoopback(host):
		return nil, fmt.Errorf("lab-http is for this machine only, and '%s' is not a loopback address", host)
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("lab-http: %w", err)
	}
	return l, nil
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.IsLoopback()
}

// Handler answers for so many masters.
func Handler(masters int, ask Ask) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q, err := read(w, r, masters)
		if err != nil {
			refuse(w, err)
			return
		}
		v, err := ask(r.Context(), q.master, q.words)
		if err != nil {
			refuse(w, failure{http.StatusBadRequest, err.Error()})
			return
		}
		send(w, http.StatusOK, append(appendJSON([]byte(`{"ok":true,"result":`), v), "}\n"...))
	})
}

// failure is an answer other than 200.
type failure struct {
	status int
	text   string
}

func (f failure) Error() string { return f.text }

func bad(format string, args ...any) error {
	return failure{http.StatusBadRequest, fmt.Sprintf("ERR "+format, args...)}
}

func refuse(w http.ResponseWriter, err error) {
	f := failure{http.StatusInternalServerError, err.Error()}
	errors.As(err, &f)
	send(w, f.status, append(appendString([]byte(`{"ok":false,"error":`), f.text), "}\n"...))
}

func send(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(body) // who has gone needs no answer
}

// request is what one asks for.
type request struct {
	master int
	words  []string
}

// maxBody is more than any verb needs.
const maxBody = 1 << 20

func read(w http.ResponseWriter, r *http.Request, masters int) (q request, err error) {
	if err := admit(r); err != nil {
		return q, err
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return q, failure{http.StatusMethodNotAllowed, "ERR only POST is answered"}
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return q, failure{http.StatusRequestEntityTooLarge, fmt.Sprintf("ERR the body is longer than %d bytes, or broke off", maxBody)}
	}
	who, more, err := parseBody(body)
	if err != nil {
		return q, err
	}
	path, err := pathWords(r.URL)
	if err != nil {
		return q, err
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return q, bad("the query is malformed")
	}
	for name, values := range query {
		if name != "master" || len(values) > 1 {
			return q, bad("the query has one master and nothing else, not '%s'", r.URL.RawQuery)
		}
		if who != "" && who != values[0] {
			return q, bad("master is '%s' in the query and '%s' in the body", values[0], who)
		}
		who = values[0]
	}
	q.words = slices.Concat([]string{"LAB"}, path, more)
	if len(q.words) == 1 {
		return q, bad("which verb? POST /lab/VERB/..., or {\"args\": [\"VERB\", ...]}")
	}
	return q, q.address(who, masters)
}

// admit lets in who cannot be a page from elsewhere.
func admit(r *http.Request) error {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if !isLoopback(strings.Trim(host, "[]")) {
		return failure{http.StatusForbidden, fmt.Sprintf("ERR '%s' is no name of this machine", r.Host)}
	}
	for _, origin := range r.Header.Values("Origin") {
		if origin != "http://"+r.Host {
			return failure{http.StatusForbidden, "ERR pages of other sites may not use the lab"}
		}
	}
	return nil
}

// pathWords are the parts of the path behind /lab. A slash in a word is written %2F; a word
// without letters has to be in the body.
func pathWords(u *url.URL) ([]string, error) {
	parts := strings.Split(strings.TrimPrefix(u.EscapedPath(), "/"), "/")
	if parts[0] != "lab" {
		return nil, failure{http.StatusNotFound, "ERR there is only /lab here"}
	}
	var words []string
	for _, part := range parts[1:] {
		word, err := url.PathUnescape(part)
		if err != nil {
			return nil, bad("the path is malformed")
		}
		if word != "" {
			words = append(words, word)
		}
	}
	return words, nil
}

// parseBody reads {"master": ..., "args": [...]}; both may be left out, and so may the body.
func parseBody(body []byte) (master string, args []string, err error) {
	if len(strings.TrimSpace(string(body))) == 0 {
		return "", nil, nil
	}
	var b *struct { // nil for null
		Master any   `json:"master"`
		Args   []any `json:"args"`
	}
	d := json.NewDecoder(strings.NewReader(string(body)))
	d.UseNumber()
	d.DisallowUnknownFields()
	if err := d.Decode(&b); err != nil {
		return "", nil, bad("the body is not {\"master\": 1, \"args\": [...]}: %s", mistake(err))
	}
	if b == nil {
		return "", nil, bad("the body is not {\"master\": 1, \"args\": [...]}: it is null")
	}
	if _, err := d.Token(); err != io.EOF {
		return "", nil, bad("the body goes on behind its object")
	}
	if b.Master != nil {
		var ok bool
		if master, ok = word(b.Master); !ok {
			return "", nil, bad("master is a number or \"all\"")
		}
	}
	for i, arg := range b.Args {
		text, ok := word(arg)
		if !ok {
			return "", nil, bad("args[%d] is neither a string nor a number", i)
		}
		args = append(args, text)
	}
	return master, args, nil
}

// mistake says what is wrong with a body in the words of JSON, where package json would in
// those of Go.
func mistake(err error) string {
	var kind *json.UnmarshalTypeError
	switch field, unknown := strings.CutPrefix(err.Error(), "json: unknown field "); {
	case unknown:
		return field + " is neither of them"
	case !errors.As(err, &kind):
		return err.Error()
	case kind.Field == "":
		return "it is " + withArticle(kind.Value)
	default:
		return kind.Field + " is " + withArticle(kind.Value) + " and no array"
	}
}

// withArticle is the name of a kind of JSON as a sentence has it.
func withArticle(kind string) string {
	switch kind {
	case "array", "object":
		return "an " + kind
	case "bool":
		return "true or false"
	}
	return "a " + kind
}

func word(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	}
	return "", false
}

// address has the request go to a master, or to all of them by way of any.
func (q *request) address(who string, masters int) error {
	q.master = 1
	if who == "" {
		return nil
	}
	if strings.EqualFold(who, "all") {
		q.master, q.words = 0, slices.Concat([]string{"LAB", "ALL"}, q.words[1:])
		return nil
	}
	n, err := strconv.Atoi(who)
	if err != nil || n < 1 || n > masters {
		return bad("master is a number from 1 to %d or \"all\", not '%s'", masters, who)
	}
	q.master = n
	return nil
}
