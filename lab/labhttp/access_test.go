package labhttp

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/resp"
)

const token = "correct-horse"

// sendTo sends a request to a lab that needs the token, from another machine.
func sendTo(t *testing.T, method, target string, edit func(*http.Request)) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(method, target, nil)
	r.Host = "lab.example:7070"
	if edit != nil {
		edit(r)
	}
	w := httptest.NewRecorder()
	Access{Token: token}.Guard(Handler(3, echo)).ServeHTTP(w, r)
	return w
}

func bearer(value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("Authorization", value) }
}

func TestWithATokenEveryRequestNeedsIt(t *testing.T) {
	for value, want := range map[string]int{
		"":                       401,
		"Bearer":                 401,
		"Bearer ":                401,
		"Bearer correct-hors":    401,
		"Bearer correct-horse2":  401,
		"Bearer CORRECT-HORSE":   401,
		"Basic " + token:         401,
		token:                    401,
		"Bearer " + token:        200,
		"Bearer " + token + "\n": 401,
	} {
		w := sendTo(t, http.MethodPost, "/lab/clock", bearer(value))
		require.Equal(t, want, w.Code, "%q", value)
		if want == http.StatusUnauthorized {
			require.Equal(t, "Bearer", w.Header().Get("WWW-Authenticate"))
			require.Contains(t, w.Body.String(), `{"ok":false,"error":"ERR the lab needs its token`)
			require.NotContains(t, w.Body.String(), token)
		}
	}
	local := sendTo(t, http.MethodPost, "/lab/clock", func(r *http.Request) { r.Host = "127.0.0.1:7070" })
	require.Equal(t, http.StatusUnauthorized, local.Code, "on this machine, too")
	require.Equal(t, 401, sendTo(t, http.MethodPost, "/lab/clock?token="+token, nil).Code, "only GET sets the cookie")
}

func TestABrowserShowsTheTokenOnceAndGetsACookie(t *testing.T) {
	w := sendTo(t, http.MethodGet, "/?x=1&token="+token, func(r *http.Request) { r.Header.Set("Accept", "text/html,*/*") })
	require.Equal(t, http.StatusSeeOther, w.Code)
	require.Equal(t, "/?x=1", w.Header().Get("Location"), "the token leaves the address bar")
	away := sendTo(t, http.MethodGet, "//example.com/x?token="+token, func(r *http.Request) {
		r.Header.Set("Accept", "text/html")
	})
	require.Equal(t, "/example.com/x", away.Header().Get("Location"), "the browser stays here")
	cookies := w.Result().Cookies()
	require.Len(t, cookies, 1)
	c := cookies[0]
	require.Equal(t, "miniredisd-lab-7070", c.Name)
	require.True(t, c.HttpOnly)
	require.Equal(t, http.SameSiteStrictMode, c.SameSite)
	require.NotContains(t, c.Value, token)

	require.Equal(t, 200, sendTo(t, http.MethodPost, "/lab/clock", func(r *http.Request) { r.AddCookie(c) }).Code)
	require.Equal(t, 401, sendTo(t, http.MethodPost, "/lab/clock", func(r *http.Request) {
		r.AddCookie(&http.Cookie{Name: c.Name, Value: c.Value + "0"})
	}).Code)
	require.Equal(t, 401, sendTo(t, http.MethodPost, "/lab/clock", func(r *http.Request) {
		r.Host = "lab.example:7071" // another server of the same host
		r.AddCookie(c)
	}).Code)
	require.Equal(t, 401, sendTo(t, http.MethodGet, "/?token=wrong", nil).Code)
	require.Equal(t, 200, sendTo(t, http.MethodGet, "/lab/verdict.svg?token="+token, nil).Code, "no browser")
}

func TestWithATokenPagesOfOtherSitesAreStillRefused(t *testing.T) {
	for origin, want := range map[string]int{
		"http://lab.example:7070":  200,
		"https://lab.example:7070": 200, // a proxy with TLS is in between
		"http://lab.example":       403,
		"http://evil.example":      403,
		"null":                     403,
	} {
		w := sendTo(t, http.MethodPost, "/lab/clock", func(r *http.Request) {
			r.Header.Set("Authorization", "Bearer "+token)
			r.Header.Set("Origin", origin)
		})
		require.Equal(t, want, w.Code, origin)
	}
}

func TestATokenOpensOtherAddressesIfItIsHardToGuess(t *testing.T) {
	l, err := Access{Token: token}.Listen("lab-http", "0.0.0.0:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	for _, weak := range []string{"short", "has a space", "ключ-ключ", "tab\tulator"} {
		_, err := Access{Token: weak}.Listen("lab-http", "127.0.0.1:0")
		require.EqualError(t, err, "lab-token expects at least 8 printable ASCII characters without spaces", weak)
	}
}

func TestTheVerdictIsShownInABrowser(t *testing.T) {
	show := func(method, target string, ask Ask) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, target, nil)
		r.Host = "localhost:7070"
		w := httptest.NewRecorder()
		Access{}.Guard(Handler(3, ask)).ServeHTTP(w, r)
		return w
	}
	svg := show(http.MethodGet, "/lab/verdict.svg?glob=lock:*", echo)
	require.Equal(t, "0: LAB|VERDICT|SVG|lock:*", svg.Body.String())
	require.Equal(t, "image/svg+xml", svg.Header().Get("Content-Type"))
	svg = show(http.MethodGet, "/lab/verdict.svg?glob=lock:*&lang=zh", echo)
	require.Equal(t, "0: LAB|VERDICT|SVG|LANG|zh|lock:*", svg.Body.String())
	page := show(http.MethodGet, "/lab/verdict.html", echo)
	require.Equal(t, "0: LAB|VERDICT|PAGE", page.Body.String())
	require.True(t, strings.HasPrefix(page.Header().Get("Content-Security-Policy"), "sandbox allow-scripts;"))

	require.Equal(t, 400, show(http.MethodGet, "/lab/verdict.svg?lock=a", echo).Code)
	require.Equal(t, 400, show(http.MethodGet, "/lab/verdict.svg?glob=a&glob=b", echo).Code)
	require.Equal(t, 405, show(http.MethodGet, "/lab/verdict", echo).Code)
	require.Equal(t, 403, statusAt(t, "evil.example", "/lab/verdict.svg"))
	w := show(http.MethodGet, "/lab/verdict.svg", func(context.Context, int, []string) (resp.Value, error) {
		return resp.Value{}, errors.New("ERR no")
	})
	require.Equal(t, 400, w.Code)
	require.Equal(t, `{"ok":false,"error":"ERR no"}`+"\n", w.Body.String())
}

// statusAt returns the status of a GET for another name of the server.
func statusAt(t *testing.T, host, target string) int {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, target, nil)
	r.Host = host
	w := httptest.NewRecorder()
	Access{}.Guard(Handler(3, echo)).ServeHTTP(w, r)
	return w.Code
}
