// Package words says in English or in Chinese what the pictures of the verdict say.
//
// The code has the English text. The Chinese one is found by it. So a reader of lab/verdict and lab/picture sees
// what a picture says. A text without a Chinese one stays English: a test of this package finds such texts.
//
// The package has no state. Any goroutine may call it.
package words

import "fmt"

// Language is the language of a picture. The zero value is English.
type Language string

// The languages, as the option --lang and the word LANG name them.
const (
	English Language = "en"
	Chinese Language = "zh"
)

// Known reports whether there are texts in l.
func (l Language) Known() bool { return l == English || l == Chinese }

// Say returns a text with its arguments, as fmt.Sprintf does.
func (l Language) Say(text string, args ...any) string {
	if l == Chinese {
		if chinese, found := texts()[text]; found {
			text = chinese
		}
	}
	if len(args) == 0 {
		return text
	}
	return fmt.Sprintf(text, args...)
}

// Many returns how many of something there are. Chinese has one form for all numbers.
func (l Language) Many(n int, one, many string) string {
	if n == 1 && l != Chinese {
		return one
	}
	return l.Say(many, n)
}

// Reason returns a sentence of lab/doctor, lab/holders or lab/verdict: why a lock is broken, or why that is undecided.
func (l Language) Reason(sentence string) string {
	if l != Chinese {
		return sentence
	}
	if chinese, found := Reasons()[sentence]; found {
		return chinese
	}
	for _, p := range Patterns() {
		if p.English.MatchString(sentence) {
			return inChinese(p.English.ReplaceAllString(sentence, p.Chinese))
		}
	}
	return sentence
}
