package labhttp

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// Access says who may use the lab over HTTP.
//
// Without a token, only programs on this machine may: the server listens on a loopback address, and
// the Host of a request must be a name of this machine. That stops DNS rebinding.
//
// With a token, the server may listen anywhere, as in a container. Each request has to show the token:
//
//	Authorization: Bearer TOKEN     programs
//	GET /?token=TOKEN               a browser, once; it gets a cookie
//
// A page that DNS rebinding has led here does not have the cookie, so the Host may be any.
//
// In both cases a page of another site may not use the lab: see foreign.
type Access struct {
	Token string // "" for none
}

const leastToken = 8 // characters

// check refuses a token that is easy to guess, or that no header can carry.
func (a Access) check() error {
	odd := strings.ContainsFunc(a.Token, func(r rune) bool { return r <= ' ' || r > '~' })
	if a.Token != "" && (len(a.Token) < leastToken || odd) {
		return fmt.Errorf("lab-token expects at least %d printable ASCII characters without spaces", leastToken)
	}
	return nil
}

// Listen opens the port at addr. Without a token addr must be a loopback address. Errors name the
// directive that addr comes from.
func (a Access) Listen(directive, addr string) (net.Listener, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	host, _, err := net.SplitHostPort(addr)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s expects an address such as 127.0.0.1:0, not '%s'", directive, addr)
	case a.Token == "" && !isLoopback(host):
		return nil, fmt.Errorf("%s is for this machine only without a lab-token, and '%s' is not a loopback address",
			directive, host)
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", directive, err)
	}
	return l, nil
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.IsLoopback()
}

// Guard returns a handler that serves h to those who have access.
func (a Access) Guard(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := a.admit(r)
		if err == nil && a.Token != "" {
			err = a.identify(w, r)
		}
		if err != nil {
			refuse(w, err)
			return
		}
		if a.Token != "" && r.URL.Query().Has("token") {
			hideToken(r)
			if r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html") {
				// The token leaves the address bar. A path that begins with // would name another site.
				http.Redirect(w, r, "/"+strings.TrimLeft(r.URL.RequestURI(), "/"), http.StatusSeeOther)
				return
			}
		}
		h.ServeHTTP(w, r)
	})
}

// admit refuses requests that may come from a web page of another site.
func (a Access) admit(r *http.Request) error {
	if a.Token == "" && !isLoopback(hostOf(r)) {
		return failure{http.StatusForbidden, fmt.Sprintf("ERR '%s' is not a name of this machine", r.Host)}
	}
	if a.foreign(r) {
		return failure{http.StatusForbidden, "ERR pages of other sites may not use the lab"}
	}
	return nil
}

// hostOf returns the Host of a request without its port.
func hostOf(r *http.Request) string {
	if name, _, err := net.SplitHostPort(r.Host); err == nil {
		return name
	}
	return strings.Trim(r.Host, "[]")
}

// foreign reports whether a page of another site has sent a request. Browsers add no Origin to some
// requests, such as those for an image. A link is no such request: its page sees nothing of the reply.
func (a Access) foreign(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	if site != "" && site != "same-origin" && site != "none" && r.Header.Get("Sec-Fetch-Mode") != "navigate" {
		return true
	}
	for _, origin := range r.Header.Values("Origin") {
		same := origin == "http://"+r.Host || a.Token != "" && origin == "https://"+r.Host // behind a proxy
		if !same {
			return true
		}
	}
	return false
}

// identify refuses a request that does not show the token. A browser that shows it in the query gets a
// cookie.
func (a Access) identify(w http.ResponseWriter, r *http.Request) error {
	if shown, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok && equal(shown, a.Token) {
		return nil
	}
	name := cookieName(r)
	if c, err := r.Cookie(name); err == nil && equal(c.Value, a.cookie()) {
		return nil
	}
	if r.Method == http.MethodGet && equal(r.URL.Query().Get("token"), a.Token) {
		http.SetCookie(w, &http.Cookie{Name: name, Value: a.cookie(), Path: "/", HttpOnly: true,
			SameSite: http.SameSiteStrictMode})
		return nil
	}
	w.Header().Set("WWW-Authenticate", "Bearer")
	return failure{http.StatusUnauthorized, "ERR the lab needs its token: send Authorization: Bearer TOKEN, " +
		"or open the page with ?token=TOKEN"}
}

// cookieName returns the name of the cookie. It has the port, because servers on several ports of one
// host share their cookies.
func cookieName(r *http.Request) string {
	_, port, _ := net.SplitHostPort(r.Host)
	return "miniredisd-lab-" + port
}

// cookie returns the value of the cookie, which does not show the token.
func (a Access) cookie() string {
	sum := sha256.Sum256([]byte("cookie of the lab: " + a.Token))
	return hex.EncodeToString(sum[:])
}

// equal compares two secrets. Its time does not depend on where they differ.
func equal(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// hideToken removes the token from the query of a request.
func hideToken(r *http.Request) {
	q := r.URL.Query()
	q.Del("token")
	r.URL.RawQuery = q.Encode()
}
