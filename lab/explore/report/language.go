package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/miniredisd/miniredisd/lab/explore"
	"github.com/miniredisd/miniredisd/lab/explore/report/clean"
)

// language has all texts of a report in one language. A text has variables, such as {n}.
type language struct {
	code  string
	texts map[string]string

	// What other packages write in English. All are nil in English.
	known    map[string]string
	patterns []pattern
	faults   map[string]name
}

// languageOf returns the language of a code: en or zh.
func languageOf(code string) (language, error) {
	switch code {
	case "en":
		return language{code: "en", texts: english()}, nil
	case "zh":
		return language{"zh", chinese(), chineseOf(), patterns(), faultsOf()}, nil
	}
	return language{}, fmt.Errorf("there is no report in the language %q, only en and zh", clean.Name(code))
}

// other returns the language that a reader can switch to.
func (l language) other() language {
	code := "zh"
	if l.code == "zh" {
		code = "en"
	}
	o, _ := languageOf(code) // both exist
	return o
}

// say returns a text with its variables: say("points.n", "n", 5).
func (l language) say(key string, namesAndValues ...any) string {
	text, found := l.texts[key]
	if !found {
		panic("no text " + key) // a mistake in this package
	}
	var pairs []string
	for i := 0; i < len(namesAndValues); i += 2 {
		pairs = append(pairs, "{"+namesAndValues[i].(string)+"}", fmt.Sprint(namesAndValues[i+1]))
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// count says how many of something there are: key.1 is its text for one, key.n for all other numbers.
func (l language) count(key string, n int) string {
	if n == 1 {
		return l.say(key+".1", "n", n)
	}
	return l.say(key+".n", "n", n)
}

// nth returns "2nd" in English, and "第 2 " in Chinese.
func (l language) nth(n int) string {
	if l.code == "zh" {
		return "第 " + strconv.Itoa(n) + " "
	}
	end := "th"
	ends := map[int]string{1: "st", 2: "nd", 3: "rd"}
	if ends[n%10] != "" && n%100/10 != 1 {
		end = ends[n%10]
	}
	return strconv.Itoa(n) + end
}

// translate returns a sentence of another package in this language, or as it is. same is false if it is
// still in English although the report is not.
func (l language) translate(s string) (text string, same bool) {
	if l.known == nil || s == "" {
		return s, true
	}
	if text, found := l.known[s]; found {
		return text, true
	}
	for _, p := range l.patterns {
		if m := p.english.FindStringSubmatchIndex(s); m != nil {
			text := p.english.ReplaceAllString(s, p.chinese)
			if part, found := l.known[s[m[2]:m[3]]]; found {
				text = strings.Replace(text, s[m[2]:m[3]], part, 1)
			}
			return text, true
		}
	}
	return s, false
}

// word returns the word of a mark in JSON. It is a part of the keys of its texts, too.
func word(m explore.Mark) string {
	words := [...]string{
		explore.NotTried: "not-tried", explore.Fine: "fine", explore.Noticed: "noticed",
		explore.Stopped: "stopped", explore.NotReached: "not-reached", explore.NotJudged: "not-judged",
		explore.LeftBehind: "left-behind", explore.Undecided: "undecided", explore.Hangs: "hangs",
		explore.ByItself: "by-itself", explore.Broken: "broken",
	}
	if int(m) < len(words) {
		return words[m]
	}
	return "undecided"
}

// glyph returns the mark of a cell on a terminal: a character of one column in every font.
func glyph(m explore.Mark) string {
	return map[string]string{
		"not-tried": "-", "fine": ".", "noticed": "n", "stopped": "s", "left-behind": "l", "not-reached": "o",
		"not-judged": "j", "undecided": "?", "hangs": "h",
		"by-itself": "i", "broken": "X",
	}[word(m)]
}

// marks returns all marks, the worst first.
func marks() []explore.Mark {
	return []explore.Mark{explore.Broken, explore.ByItself, explore.Hangs, explore.Undecided, explore.NotJudged,
		explore.LeftBehind, explore.Stopped, explore.Noticed, explore.Fine, explore.NotReached, explore.NotTried}
}

// harm returns the word of a harm in JSON.
func harm(h explore.Harm) string {
	words := [...]string{
		explore.OtherHarm: "other", explore.TwoHolders: "two-holders", explore.NoLegalOrder: "no-legal-order",
		explore.ForEver: "for-ever", explore.NeverWakes: "never-wakes", explore.CheckFails: "check-fails",
		explore.NeverEnds: "never-ends",
	}
	if int(h) < len(words) {
		return words[h]
	}
	return "other"
}
