package picture

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/miniredisd/miniredisd/lab/words"
)

// mostSentences bounds the description, which a screen reader reads from the beginning to the end.
const mostSentences = 60

// Describe says in sentences what the picture shows. They are its description for people who do not
// see it.
func Describe(p Picture) []string {
	all := append([]string{}, p.Text...)
	for _, l := range p.Locks {
		all = append(all, l.Title+".")
		all = append(all, l.Text...)
		for _, g := range l.Groups {
			for _, r := range g.Rows {
				for _, b := range r.Bars {
					all = append(all, sentence(p.Language, g, b))
				}
			}
		}
	}
	if len(all) > mostSentences {
		all = append(all[:mostSentences], p.Language.Say("%d more sentences are left out.", len(all)-mostSentences))
	}
	return all
}

func sentence(l words.Language, g Group, b Bar) string {
	s := b.Title
	if g.Name != "" {
		s = l.Say("%s: %s", g.Name, s)
	}
	if len(b.Both) > 0 {
		s += l.Say(" Another client held the lock at the same time.")
	}
	return s
}

// shorten returns at most n columns of s, with an ellipsis if something is missing.
func shorten(s string, n int) string {
	if columns(s) <= n {
		return s
	}
	var b strings.Builder
	left := n - 1
	for _, r := range s {
		if left -= wide(r); left < 0 {
			break
		}
		b.WriteRune(r)
	}
	return b.String() + "…"
}

// columns returns how many columns s takes in a font with characters of one width.
func columns(s string) (n int) {
	for _, r := range s {
		n += wide(r)
	}
	return n
}

// wide returns the columns of a character: 2 for Chinese, Japanese and Korean ones.
func wide(r rune) int {
	if r >= 0x1100 && r != '…' && (r < 0x2000 || r > 0x2e7f) {
		return 2
	}
	return 1
}

// widthOf returns about how many pixels s takes.
func widthOf(s string, char float64) int { return int(float64(columns(s)) * char) }

// wrap breaks a line at spaces into parts of at most n columns. A longer word is shortened, but a sentence of
// wide characters has no spaces, and is broken anywhere.
func wrap(line string, n int) (parts []string) {
	part := ""
	all := strings.Fields(line)
	for i := 0; i < len(all); i++ {
		word := all[i]
		begin := strings.TrimSuffix(shorten(word, n-2), "…")
		if begin != word && utf8.RuneCountInString(word) < columns(word) {
			all = slices.Insert(all, i+1, word[len(begin):])
			word = begin
		}
		word = shorten(word, n-2)
		if part != "" && columns(part)+1+columns(word) > n {
			parts = append(parts, part)
			part = "  "
		}
		part = strings.TrimPrefix(part+" "+word, " ")
	}
	return append(parts, part)
}
