package labhttp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/resp"
)

// echo replies with the request.
func echo(_ context.Context, master int, args []string) (resp.Value, error) {
	return resp.Value{Kind: '+', Str: fmt.Sprintf("%d: %s", master, strings.Join(args, "|"))}, nil
}

// post sends a request to three masters that echo, and returns the status and the reply.
func post(t *testing.T, target, body string, edit func(*http.Request)) (int, map[string]any) {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, target, strings.NewReader(body))
	r.Host = "127.0.0.1:7070"
	if edit != nil {
		edit(r)
	}
	w := httptest.NewRecorder()
	Access{}.Guard(Handler(3, echo)).ServeHTTP(w, r)
	require.Equal(t, "application/json", w.Header().Get("Content-Type"))
	var answer map[string]any
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &answer), w.Body.String())
	require.Equal(t, w.Code == http.StatusOK, answer["ok"])
	return w.Code, answer
}

func TestWordsComeFromThePathAndTheBody(t *testing.T) {
	for _, c := range []struct{ target, body, want string }{
		{"/lab/clock", "", "1: LAB|clock"},
		{"/lab/clock/advance/3000", "", "1: LAB|clock|advance|3000"},
		{"/lab/clock/advance/", `{"args": [3000]}`, "1: LAB|clock|advance|3000"},
		{"/lab", `{"master": 2, "args": ["FAULT", "ADD", "a b", "NTH", 1, "PROB", 0.5]}`,
			"2: LAB|FAULT|ADD|a b|NTH|1|PROB|0.5"},
		{"/lab/clock?master=3", "", "3: LAB|clock"},
		{"/lab/clock?master=3", `{"master": "3"}`, "3: LAB|clock"},
		{"/lab/clock?master=ALL", "", "0: LAB|ALL|clock"},
		{"/lab", `{"master": "all", "args": ["CLOCK"]}`, "0: LAB|ALL|CLOCK"},
		{"/lab/fault/del/a%2Fb%20c%25", " \n", "1: LAB|fault|del|a/b c%"},
		{"/lab/log/watch", `{"args": [""]}`, "1: LAB|log|watch|"},
	} {
		status, answer := post(t, c.target, c.body, nil)
		require.Equal(t, http.StatusOK, status, answer)
		require.Equal(t, c.want, answer["result"])
	}
}

func TestTheErrorOfAMalformedRequestSaysWhatIsWrong(t *testing.T) {
	const badBody = `ERR the body is not {"master": 1, "args": [...]}: `
	for _, c := range []struct {
		target, body string
		status       int
		want         string
	}{
		{"/", "", 404, "ERR there is only /lab here"},
		{"/lable/clock", "", 404, "ERR there is only /lab here"},
		{"/lab", "", 400, `ERR the verb is missing: POST /lab/VERB/..., or {"args": ["VERB", ...]}`},
		{"/lab", "FAULT LIST", 400, badBody + `invalid character 'F' looking for beginning of value`},
		{"/lab", `{"arg": []}`, 400, badBody + `"arg" is unknown`},
		{"/lab", `["CLOCK"]`, 400, badBody + `it is an array`},
		{"/lab", `"CLOCK"`, 400, badBody + `it is a string`},
		{"/lab", `7`, 400, badBody + `it is a number`},
		{"/lab", `true`, 400, badBody + `it is true or false`},
		{"/lab/clock", `null`, 400, badBody + `it is null`},
		{"/lab", `{"args": "CLOCK"}`, 400, badBody + `args is a string, not an array`},
		{"/lab", `{"args": {"verb": "CLOCK"}, "master": 1}`, 400, badBody + `args is an object, not an array`},
		{"/lab", `{"args": false}`, 400, badBody + `args is true or false, not an array`},
		{"/lab", `{"args": ["CLOCK"`, 400, badBody + `unexpected EOF`},
		{"/lab", `{"args": ["CLOCK"]} {}`, 400, "ERR the body has more than one object"},
		{"/lab", `{"args": ["CLOCK"]}}`, 400, "ERR the body has more than one object"},
		{"/lab", `{"args": ["CLOCK", true]}`, 400, "ERR args[1] is neither a string nor a number"},
		{"/lab/clock", `{"master": [1]}`, 400, `ERR master must be a number or "all"`},
		{"/lab/clock?master=4", "", 400, `ERR master must be a number from 1 to 3 or "all", not '4'`},
		{"/lab/clock?master=0", "", 400, `ERR master must be a number from 1 to 3 or "all", not '0'`},
		{"/lab/clock?master=one", "", 400, `ERR master must be a number from 1 to 3 or "all", not 'one'`},
		{"/lab/clock?master=1", `{"master": 2}`, 400, "ERR master is '1' in the query and '2' in the body"},
		{"/lab/clock?advance=1", "", 400, "ERR the query may only have one master, not 'advance=1'"},
		{"/lab/clock?master=1&master=2", "", 400, "ERR the query may only have one master, not 'master=1&master=2'"},
		{"/lab", strings.Repeat("x", maxBody+1), 413, "ERR the body is longer than 1048576 bytes, or incomplete"},
	} {
		status, answer := post(t, c.target, c.body, nil)
		require.Equal(t, c.status, status, c.target)
		require.Equal(t, c.want, answer["error"])
	}
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, "/lab/clock", nil)
	r.Host = "localhost"
	Handler(1, echo).ServeHTTP(w, r)
	require.Equal(t, http.StatusMethodNotAllowed, w.Code)
	require.Equal(t, http.MethodPost, w.Header().Get("Allow"))
}

func TestOnlyThisMachineAndItsOwnPagesAreAdmitted(t *testing.T) {
	for _, c := range []struct {
		host, origin string
		allowed      bool
	}{
		{"127.0.0.1:7070", "", true},
		{"127.1.2.3", "", true},
		{"localhost:7070", "", true},
		{"LOCALHOST", "", true},
		{"[::1]:7070", "", true},
		{"127.0.0.1:7070", "http://127.0.0.1:7070", true},
		{"evil.example", "", false},
		{"127.0.0.1.evil.example:7070", "", false},
		{"localhost.evil.example", "", false},
		{"10.0.0.1:7070", "", false},
		{"", "", false},
		{"127.0.0.1:7070", "http://evil.example", false},
		{"127.0.0.1:7070", "http://127.0.0.1:8080", false},
		{"127.0.0.1:7070", "https://127.0.0.1:7070", false},
		{"127.0.0.1:7070", "null", false},
	} {
		status, answer := post(t, "/lab/clock", "", func(r *http.Request) {
			r.Host = c.host
			if c.origin != "" {
				r.Header.Set("Origin", c.origin)
			}
		})
		if c.allowed {
			require.Equal(t, http.StatusOK, status, c)
		} else {
			require.Equal(t, http.StatusForbidden, status, c)
			require.Contains(t, answer["error"], "ERR ")
		}
	}
	for addr, why := range map[string]string{
		"0.0.0.0:0":    "lab-http is for this machine only without a lab-token, and '0.0.0.0' is not a loopback address",
		":0":           "lab-http is for this machine only without a lab-token, and '' is not a loopback address",
		"a.example:80": "lab-http is for this machine only without a lab-token, and 'a.example' is not a loopback address",
		"7070":         "lab-http expects an address such as 127.0.0.1:0, not '7070'",
		"127.0.0.1:x":  "lab-http: listen tcp: lookup tcp/x: unknown port",
	} {
		_, err := Access{}.Listen("lab-http", addr)
		require.EqualError(t, err, why)
	}
}

func TestARequestThatAPageOfAnotherSiteHidesIsRefused(t *testing.T) {
	for _, c := range []struct {
		site, mode string
		allowed    bool
	}{
		{"same-origin", "cors", true},
		{"none", "navigate", true},
		{"cross-site", "navigate", true}, // a link
		{"cross-site", "no-cors", false}, // an image
		{"same-site", "no-cors", false},  // another port of this machine
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Host = "127.0.0.1:7070"
		r.Header.Set("Sec-Fetch-Site", c.site)
		r.Header.Set("Sec-Fetch-Mode", c.mode)
		w := httptest.NewRecorder()
		Access{}.Guard(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})).ServeHTTP(w, r)
		require.Equal(t, c.allowed, w.Code == http.StatusOK, c)
	}
}

func TestErrorsOfTheServerAreErrors(t *testing.T) {
	r := httptest.NewRequest(http.MethodPost, "/lab/x", nil)
	r.Host = "localhost"
	w := httptest.NewRecorder()
	Handler(1, func(context.Context, int, []string) (resp.Value, error) {
		return resp.Value{}, errors.New("ERR \"no\"")
	}).ServeHTTP(w, r)
	require.Equal(t, http.StatusBadRequest, w.Code)
	require.Equal(t, `{"ok":false,"error":"ERR \"no\""}`+"\n", w.Body.String())
}

func TestRepliesAsJSON(t *testing.T) {
	text := func(s string) resp.Value { return resp.Value{Kind: '$', Str: s} }
	number := func(n int64) resp.Value { return resp.Value{Kind: ':', Int: n} }
	for want, v := range map[string]resp.Value{
		`"OK"`:                  {Kind: '+', Str: "OK"},
		`-7`:                    number(-7),
		`"a\"b<c>&\u2028\n"`:    text("a\"b<c>&\u2028\n"),
		`{"base64":"/wA="}`:     text("\xff\x00"),
		`null`:                  {Kind: '_', Null: true},
		`true`:                  {Kind: '#', Int: 1},
		`0.5`:                   {Kind: ',', Str: "0.5"},
		`"inf"`:                 {Kind: ',', Str: "inf"},
		`123456789012345678901`: {Kind: '(', Str: "123456789012345678901"},
		`"words"`:               {Kind: '=', Str: "txt:words"},
		`[1,{"error":"ERR x"}]`: {Kind: '*', Elems: []resp.Value{number(1), {Kind: '-', Str: "ERR x"}}},
		`{"z":1,"a":["b"],"3":4}`: {Kind: '%', Elems: []resp.Value{
			text("z"), number(1), text("a"), {Kind: '~', Elems: []resp.Value{text("b")}}, number(3), number(4),
		}},
		`[]`:     {Kind: '*'},
		`{}`:     {Kind: '%'},
		`"last"`: {Kind: '|', Elems: []resp.Value{text("k"), number(1), text("last")}},
	} {
		got := string(AppendJSON(nil, v))
		require.Equal(t, want, got)
		require.True(t, json.Valid([]byte(got)))
	}
}
