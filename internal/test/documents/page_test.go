package documents

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A page is a document. Its blocks are one session: they run in order, in one folder.
type page struct {
	name   string // relative to the top, with slashes
	blocks []block
}

// A block is a fence that a reader types into a terminal: sh or console.
type block struct {
	line     int // of the fence
	language string
	lines    []string
	marks    []mark
}

// A mark is a comment before a block, such as <!-- run: server --lab yes -->.
type mark struct {
	verb, words string
	reason      string // of a skip
}

// verbs has every verb of a mark, and whether words have to follow it.
func verbs() map[string]bool {
	return map[string]bool{"skip": false, "server": false, "new session": false, "before each": false,
		"in": true, "first": true, "then": true, "any": true}
}

// read finds the blocks of a page. An error names the line.
func read(name, text string) (page, error) {
	p := page{name: name}
	lines := strings.Split(text, "\n")
	var marks []mark
	for i := 0; i < len(lines); i++ {
		line, at := strings.TrimSpace(lines[i]), fmt.Sprintf("%s:%d", name, i+1)
		switch {
		case strings.HasPrefix(line, "<!-- run:"):
			end := slices.IndexFunc(lines[i:], func(s string) bool { return strings.HasSuffix(s, "-->") })
			if end < 0 {
				return p, fmt.Errorf("%s: the comment has no end", at)
			}
			m, err := readMark(strings.Join(lines[i:i+end+1], "\n"))
			if err != nil {
				return p, fmt.Errorf("%s: %w", at, err)
			}
			marks, i = append(marks, m), i+end
		case strings.HasPrefix(line, "```"):
			b, err := readBlock(lines, i, marks)
			if err != nil {
				return p, fmt.Errorf("%s: %w", at, err)
			}
			if marks = nil; b.language != "" {
				p.blocks = append(p.blocks, b)
			}
			i += len(b.lines) + 1
		case line != "" && len(marks) > 0:
			return p, fmt.Errorf("%s: a mark has to stand directly before a block", at)
		}
	}
	if len(marks) > 0 {
		return p, fmt.Errorf("%s: no block follows the last mark", name)
	}
	return p, nil
}

// readMark reads a whole comment.
func readMark(comment string) (mark, error) {
	text := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(comment), "<!-- run:"), "-->")
	text = strings.TrimSpace(text)
	for verb, needsWords := range verbs() {
		words, found := strings.CutPrefix(text, verb)
		if !found || words != "" && !strings.ContainsAny(words[:1], " ,\n") {
			continue
		}
		m := mark{verb: verb, words: strings.TrimSpace(words)}
		if verb == "skip" {
			m.words, m.reason, _ = strings.Cut(words, ", because ")
			m.words = strings.Trim(strings.TrimSpace(m.words), `"`)
			if len(strings.Fields(m.reason)) < 3 {
				return m, fmt.Errorf("the mark %q has no reason: skip, because ...", text)
			}
		}
		if needsWords == (m.words == "") && (needsWords || verb == "new session" || verb == "before each") {
			return m, fmt.Errorf("the mark %q has too few or too many words", text)
		}
		return m, nil
	}
	return mark{}, fmt.Errorf("the mark %q has no verb of %v", text, verbs())
}

// readBlock reads the block whose fence is line i. Its language is empty if nobody types it.
func readBlock(lines []string, i int, marks []mark) (block, error) {
	fence := strings.TrimSpace(lines[i])
	indent := lines[i][:strings.Index(lines[i], "`")]
	b := block{line: i + 1, language: strings.TrimLeft(fence, "`"), marks: marks}
	closing := strings.Repeat("`", len(fence)-len(b.language))
	end := slices.IndexFunc(lines[i+1:], func(s string) bool { return strings.TrimSpace(s) == closing })
	if end < 0 {
		return b, fmt.Errorf("the block has no end")
	}
	for _, line := range lines[i+1 : i+1+end] {
		b.lines = append(b.lines, strings.TrimPrefix(line, indent))
	}
	switch b.language {
	case "sh":
	case "console":
		if _, err := b.steps(); err != nil {
			return b, err
		}
	case "bash", "shell", "zsh", "terminal", "sh-session", "shell-session", "shellsession", "powershell":
		return b, fmt.Errorf("the language of a block is sh or console, not %s", b.language)
	default:
		if slices.ContainsFunc(b.lines, func(s string) bool { return strings.HasPrefix(s, "$ ") }) {
			return b, fmt.Errorf("a block with the prompt $ is a console block")
		}
		if b.language = ""; len(marks) > 0 {
			return b, fmt.Errorf("a mark stands before a block that nobody runs")
		}
	}
	return b, b.checkSkips()
}

// checkSkips returns an error if a line that is to be skipped is not there.
func (b block) checkSkips() error {
	for _, m := range b.marks {
		isThere := slices.ContainsFunc(b.lines, func(line string) bool { return bare(line) == m.words })
		if m.verb == "skip" && m.words != "" && !isThere {
			return fmt.Errorf("the block has no line %q to skip", m.words)
		}
	}
	return nil
}

// bare returns a line of a shell without its prompt and without the comment at its end.
func bare(line string) string {
	line = strings.TrimPrefix(line, "$ ")
	if at := regexp.MustCompile(`(^|\s)#`).FindStringIndex(line); at != nil {
		line = line[:at[0]]
	}
	return strings.TrimSpace(line)
}

// words returns the words of the marks with a verb.
func (b block) words(verb string) (all []string) {
	for _, m := range b.marks {
		if m.verb == verb {
			all = append(all, m.words)
		}
	}
	return all
}

func (b block) has(verb string) bool { return len(b.words(verb)) > 0 }

// optsOut returns the reasons why the block, or a line of it, does not run.
func (b block) optsOut() (reasons []string) {
	for _, m := range b.marks {
		if m.verb == "skip" {
			reasons = append(reasons, m.reason)
		}
	}
	return reasons
}

// skips reports whether a line does not run.
func (b block) skips(line string) bool {
	return slices.ContainsFunc(b.words("skip"), func(s string) bool { return s == "" || s == bare(line) })
}

// A step is a line of a console block and what the page shows behind it.
type step struct {
	line   int
	prompt string // "$", or that of a redis-cli: "A", "127.0.0.1:6379"
	later  bool   // the line is a reply to an earlier command of that redis-cli
	text   string
	want   []string
}

// client returns the name of the redis-cli, or "$". Inside a transaction it has a longer prompt.
func (s step) client() string { return strings.TrimSuffix(s.prompt, "(TX)") }

// steps takes a console block apart.
func (b block) steps() (steps []step, err error) {
	prompts := regexp.MustCompile(`^(\$|[A-Z]>|[A-Z]:|[\w.-]+:\d+(?:\(TX\))?>) (.*)$`)
	for i, line := range b.lines {
		m := prompts.FindStringSubmatch(line)
		switch {
		case m != nil:
			steps = append(steps, step{line: b.line + 1 + i, prompt: strings.TrimRight(m[1], ">:"),
				later: strings.HasSuffix(m[1], ":"), text: m[2]})
		case len(steps) == 0:
			return nil, fmt.Errorf("the first line of a console block has a prompt: $, A> or 127.0.0.1:6379>")
		default:
			last := &steps[len(steps)-1]
			last.want = append(last.want, line)
		}
	}
	for i := range steps {
		if steps[i].later {
			steps[i].want, steps[i].text = append([]string{steps[i].text}, steps[i].want...), ""
		}
	}
	return steps, nil
}
