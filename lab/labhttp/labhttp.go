// Package labhttp serves the verbs of LAB over HTTP, for shells and for languages without a client
// at hand:
//
//	curl -X POST 127.0.0.1:7070/lab/clock/advance/3000?master=all
//	curl -d '{"master": 2, "args": ["FAULT", "ADD", "lost", "CMD", "SET", "ACTION", "DROP-REPLY"]}' 127.0.0.1:7070/lab
//
// The words of a request are the parts of its path after /lab, then args of its body. master is a
// number from 1, which is the default, or "all". It stands in the query or in the body.
//
// The reply is {"ok": true, "result": ...}, or {"ok": false, "error": "ERR ..."} with a status of
// 400 or more. In a result, maps are objects in the order of the reply, errors of single masters
// are {"error": ...}, and bytes that are not text are {"base64": ...}.
//
// GET /lab/verdict.svg and /lab/verdict.html show the verdict. Access says who may use all of this.
//
// The goroutines of net/http serve the requests. They reach the servers only through Ask.
package labhttp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/miniredisd/miniredisd/resp"
)

// Ask executes a request on a master, counted from 1. Master 0 means any running master. It returns
// the reply, or an error for an error reply or for the end of ctx. The handler ends ctx when its
// client leaves.
type Ask func(ctx context.Context, master int, args []string) (resp.Value, error)

// Handler serves LAB for a number of masters to everyone. Access.Guard keeps strangers away from it.
func Handler(masters int, ask Ask) http.Handler {
	views := documents()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if d, ok := views[r.URL.Path]; ok && r.Method == http.MethodGet {
			d.show(w, r, ask)
			return
		}
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
		send(w, http.StatusOK, append(AppendJSON([]byte(`{"ok":true,"result":`), v), "}\n"...))
	})
}

// failure is a reply with another status than 200.
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
	_, _ = w.Write(body) // the client may have left
}

// request is a LAB command and its master.
type request struct {
	master int
	words  []string
}

// maxBody is more bytes than any verb needs.
const maxBody = 1 << 20

func read(w http.ResponseWriter, r *http.Request, masters int) (q request, err error) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return q, failure{http.StatusMethodNotAllowed, "ERR only POST is answered"}
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		why := fmt.Sprintf("ERR the body is longer than %d bytes, or incomplete", maxBody)
		return q, failure{http.StatusRequestEntityTooLarge, why}
	}
	master, more, err := parseBody(body)
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
			return q, bad("the query may only have one master, not '%s'", r.URL.RawQuery)
		}
		if master != "" && master != values[0] {
			return q, bad("master is '%s' in the query and '%s' in the body", values[0], master)
		}
		master = values[0]
	}
	q.words = slices.Concat([]string{"LAB"}, path, more)
	if len(q.words) == 1 {
		return q, bad("the verb is missing: POST /lab/VERB/..., or {\"args\": [\"VERB\", ...]}")
	}
	return q, q.address(master, masters)
}

// pathWords returns the parts of the path after /lab. A slash inside a word is written %2F. An
// empty word must be in the body.
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

// parseBody reads {"master": ..., "args": [...]}. Both are optional, and so is the body.
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
		return "", nil, bad("the body has more than one object")
	}
	if b.Master != nil {
		var ok bool
		if master, ok = word(b.Master); !ok {
			return "", nil, bad("master must be a number or \"all\"")
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

// mistake says what is wrong with a body in words of JSON. Package json speaks of Go types.
func mistake(err error) string {
	var kind *json.UnmarshalTypeError
	switch field, unknown := strings.CutPrefix(err.Error(), "json: unknown field "); {
	case unknown:
		return field + " is unknown"
	case !errors.As(err, &kind):
		return err.Error()
	case kind.Field == "":
		return "it is " + withArticle(kind.Value)
	default:
		return kind.Field + " is " + withArticle(kind.Value) + ", not an array"
	}
}

// withArticle returns the name of a kind of JSON for a sentence.
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

// address directs the request to a master. A request for all goes to any master, as LAB ALL.
func (q *request) address(master string, masters int) error {
	q.master = 1
	if master == "" {
		return nil
	}
	if strings.EqualFold(master, "all") {
		q.master, q.words = 0, slices.Concat([]string{"LAB", "ALL"}, q.words[1:])
		return nil
	}
	n, err := strconv.Atoi(master)
	if err != nil || n < 1 || n > masters {
		return bad("master must be a number from 1 to %d or \"all\", not '%s'", masters, master)
	}
	q.master = n
	return nil
}
