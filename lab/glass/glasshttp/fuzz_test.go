package glasshttp

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// Any query gets an answer: a stream or an error that names what is wrong.
func FuzzQueriesOfAStream(f *testing.F) {
	for _, seed := range []string{"from=1", "from=-1", "from=9999999999999999999", "from=1&from=2", "master=1", "%zz",
		"from=%00", ";"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, query string) {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.URL.RawQuery = query
		for _, most := range []int64{1, 1 << 53} {
			n, err := number(r, "from", 1, most)
			require.True(t, err != nil || n >= 1 && n <= most, query)
		}
	})
}

// Whatever a page posts, the answer is a JSON object with ok in it.
func FuzzBodiesOfThePage(f *testing.F) {
	for _, seed := range []string{`{"do":"open","name":"A"}`, `{"do":"send","name":"A","data":"\u0000"}`, `{"stop":true}`,
		`{"clients":-1}`, `{"n":1e99}`, `[]`, `null`, `{`, ``} {
		f.Add([]byte(seed))
	}
	h := New(Options{}).Handler()
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, path := range []string{"/watch/clients", "/watch/load"} {
			r := httptest.NewRequest(http.MethodPost, path, bytes.NewReader(body))
			r.Host = here
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			var reply struct{ OK *bool }
			require.NoError(t, json.Unmarshal(w.Body.Bytes(), &reply))
			require.Equal(t, w.Code == http.StatusOK, *reply.OK)
		}
	})
}

// The bytes that a client receives reach the page as one line of JSON, from which they can be read back.
func FuzzBytesForAClient(f *testing.F) {
	for _, seed := range []string{"+OK\r\n", "\n\ndata: x\n\n", "\"\\\x00\xff\a\b\u2028", ""} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, got []byte) {
		c := clients{streams: map[*stream]bool{}, open: map[string]*client{}}
		s, err := c.join()
		require.NoError(t, err)
		c.tell(&client{name: "A"}, got, "")
		text := c.take(s)
		line, ok := bytes.CutPrefix(text, []byte("event: cl\ndata: "))
		require.True(t, ok, "%q", text)
		line, ok = bytes.CutSuffix(line, []byte("\n\n"))
		require.True(t, ok, "%q", text)
		require.NotContains(t, string(line), "\n")
		var n news
		require.NoError(t, json.Unmarshal(line, &n))
		back, err := strconv.Unquote(`"` + n.Got + `"`)
		require.NoError(t, err)
		require.Equal(t, string(last(got)), back)
	})
}
