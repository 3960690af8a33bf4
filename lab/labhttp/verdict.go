package labhttp

import (
	"net/http"
	"net/url"

	"github.com/miniredisd/miniredisd/resp"
)

// document is a view of the verdict that a browser shows.
type document struct {
	form, mime string
	policy     string // what the document may do; its texts come from clients
}

// documents has the views by their path.
func documents() map[string]document {
	return map[string]document{
		"/lab/verdict.svg": {"SVG", "image/svg+xml", "default-src 'none'; style-src 'unsafe-inline'"},
		// The page of porcupine has scripts. In a sandbox they cannot use the lab.
		"/lab/verdict.html": {"PAGE", "text/html; charset=utf-8",
			"sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'"},
	}
}

// show answers GET /lab/verdict.svg?glob=lock:*&lang=zh with the picture, and .html with the page.
func (d document) show(w http.ResponseWriter, r *http.Request, ask Ask) {
	words := []string{"LAB", "VERDICT", d.form}
	query, err := url.ParseQuery(r.URL.RawQuery)
	for name, values := range query {
		if name != "glob" && name != "lang" || len(values) > 1 {
			err = bad("the query may only have one glob and one lang, not '%s'", r.URL.RawQuery)
		}
	}
	if query.Has("lang") {
		words = append(words, "LANG", query.Get("lang"))
	}
	if query.Has("glob") {
		words = append(words, query.Get("glob"))
	}
	var v resp.Value
	if err == nil {
		v, err = ask(r.Context(), 0, words)
		if err != nil {
			err = failure{http.StatusBadRequest, err.Error()}
		}
	}
	if err != nil {
		refuse(w, err)
		return
	}
	w.Header().Set("Content-Type", d.mime)
	w.Header().Set("Content-Security-Policy", d.policy)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write([]byte(v.Str)) // the client may have left
}
