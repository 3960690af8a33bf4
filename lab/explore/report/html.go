package report

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"os"
	"path/filepath"

	"github.com/miniredisd/miniredisd/lab/explore"
)

//go:embed html
var files embed.FS

// signature begins each report, so that WriteHTML knows its own files.
const signature = "<!doctype html>\n<!-- a report of miniredisd explore -->\n"

// HTML writes a report as one page that needs nothing else. It opens in the language lang, en or zh, and
// has the other one inside.
func HTML(w io.Writer, r *explore.Report, lang string) error {
	l, err := languageOf(lang)
	if err != nil {
		return err
	}
	p := &writer{r: r, mistakes: mistakes(r), here: l, there: l.other(), budget: mostPage}
	p.facts = factsOf(p.mistakes)
	v := p.view()
	css, js := file("report.css"), file("report.js")
	v.CSS, v.JS = template.CSS(css), template.JS(js)
	v.Policy = fmt.Sprintf("default-src 'none'; img-src data:; style-src '%s'; script-src '%s'; "+
		"base-uri 'none'; form-action 'none'", digest(css), digest(js))
	t, err := template.New("page").Funcs(template.FuncMap{"say": p.say}).Parse(file("report.html"))
	if err != nil {
		return err
	}
	if _, err := io.WriteString(w, signature); err != nil {
		return err
	}
	return t.Execute(w, v)
}

// digest names a text in a content security policy.
func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

func file(name string) string {
	b, err := files.ReadFile("html/" + name)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(b)
}

// WriteHTML writes a report to a file that only its owner may read. It replaces an older report, and
// refuses to replace any other file.
func WriteHTML(path string, r *explore.Report, lang string) error {
	var text bytes.Buffer
	if err := HTML(&text, r, lang); err != nil {
		return err
	}
	return replace(path, signature, text.Bytes())
}

// replace writes a file that only its owner may read. A file that is there has to begin with the signature.
func replace(path, signature string, text []byte) error {
	mine, err := reserve(path, signature)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".explore-*") // mode 0600
	if err == nil {
		_, err = f.Write(text)
		if closed := f.Close(); err == nil {
			err = closed
		}
		if err == nil {
			err = os.Rename(f.Name(), path)
		}
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}
	if err != nil && mine {
		_ = os.Remove(path)
	}
	return err
}

// reserve creates the file if there is none, and reports whether it did. Else the file has to be a report.
func reserve(path, signature string) (created bool, err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		return true, f.Close()
	}
	if !os.IsExist(err) {
		return false, err
	}
	info, err := os.Lstat(path)
	if err != nil {
		return false, err
	}
	if !info.Mode().IsRegular() {
		return false, fmt.Errorf("%s exists and is not a file: the report does not replace it", path)
	}
	if f, err = os.Open(path); err != nil {
		return false, err
	}
	defer f.Close()
	head := make([]byte, len(signature))
	if _, err := io.ReadFull(f, head); err != nil || string(head) != signature {
		return false, fmt.Errorf("%s exists and is no report of miniredisd explore: the report does not replace it", path)
	}
	return false, nil
}
