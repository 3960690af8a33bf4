package report

import (
	"encoding/base64"
	"fmt"
	"html"
	"html/template"
	"regexp"
	"strconv"
	"strings"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/explore"
	"github.com/miniredisd/miniredisd/lab/explore/report/clean"
	"github.com/miniredisd/miniredisd/lab/explore/report/paste"
)

// mistake makes a mistake with its findings. n counts the findings of all mistakes.
func (p *writer) mistake(n *int, m mistake) viewMistake {
	v := viewMistake{
		Mark: word(m.mark), Word: p.say("mark." + word(m.mark)), Reason: p.translated(m.reason), Fix: p.translated(m.fix),
		Title: p.both(func(l language) string { return l.title(m) }),
		Shown: p.both(func(l language) string { return l.shown(m) }),
	}
	for _, f := range m.facts[:min(len(m.facts), mostFindings-*n)] {
		*n++
		v.Findings = append(v.Findings, p.finding(*n, f))
	}
	return v
}

func (p *writer) finding(n int, f fact) viewFinding {
	again, left := commands(f.Finding)
	for i, line := range again {
		again[i] = clean.Line(line)
	}
	output, before := clean.Lines(f.Output)
	v := viewFinding{
		Number: n, Mark: word(f.mark), File: fmt.Sprintf("explored-%d", n), Commands: strings.Join(again, "\n"),
		CommandsLeft: p.count("again.left", left), Masters: p.r.Masters > 1, Output: strings.Join(output, "\n"),
		OutputLeft: p.count("output.left", before),
		Strikes: p.both(func(l language) string {
			if s := l.strikes(p.r, f.Strikes); s != "" {
				return s + l.say("end")
			}
			return ""
		}),
	}
	v.Sentence = p.both(func(l language) string { return l.sentence(p.r, f.Finding) })
	v.Sentence.Foreign = true // if it is the same in both languages
	v.With = p.both(func(l language) string { return l.with(f.Finding) })
	p.attach(&v, f.Finding)
	var err error
	if v.Tests, err = tests(p.r, f.Finding); err != nil {
		v.NoTest = p.both(func(l language) string { return l.say("test.none", "why", err) })
	}
	v.History, v.HistoryLeft = p.history(f.History)
	return v
}

// tests writes a finding as tests to paste.
func tests(r *explore.Report, f *explore.Finding) ([]paste.Test, error) {
	l, err := languageOf("en")
	if err != nil {
		return nil, err
	}
	return paste.Tests(r, f, wrap(l.sentence(r, f), 96))
}

// attach puts the picture and the recording into the page, as long as there is room.
func (p *writer) attach(v *viewFinding, f *explore.Finding) {
	tooBig := func(bytes, most int) both {
		if bytes <= min(most, p.budget) {
			p.budget -= bytes
			return both{}
		}
		size := fmt.Sprintf("%.1f", float64(bytes)/(1<<20))
		return p.both(func(l language) string { return l.say("too-big", "size", size) })
	}
	svg := func(l language) []byte { return f.SVG[l.code] }
	here, there := svg(p.here), svg(p.there)
	switch v.NoPicture = tooBig(len(here)+len(there), 2*mostPicture); {
	case len(here) == 0:
		v.NoPicture = p.say("picture.none")
	case v.NoPicture.Here == "":
		v.Picture, v.OtherPicture = dataURL("image/svg+xml", here), dataURL("image/svg+xml", there)
		v.Alt = p.both(func(l language) string { return l.say("picture.alt", "text", description(svg(l))) })
	}
	if len(f.Loop) == 0 {
		return
	}
	if v.NoLoop = tooBig(len(f.Loop), mostLoop); v.NoLoop.Here == "" {
		v.Loop = dataURL("application/gzip", f.Loop)
		v.LoopHow = p.both(func(l language) string { return l.say("loop.how", "file", v.File+".loop.gz") })
	}
}

func dataURL(kind string, b []byte) template.URL {
	return template.URL("data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(b))
}

// description returns what a picture says about itself.
func description(svg []byte) string {
	found := regexp.MustCompile(`(?s)<desc[^>]*>(.*?)</desc>`).FindSubmatch(svg)
	if found == nil {
		return ""
	}
	return clean.Text(html.UnescapeString(string(found[1])), mostAlt)
}

// history makes the rows of a finding's history.
func (p *writer) history(all []lab.History) (rows []viewEntry, left both) {
	n := 0
	for _, h := range all {
		start := int64(0)
		if len(h.Entries) > 0 {
			start = h.Entries[0].Time
		}
		n += len(h.Entries)
		for _, e := range hideHistory(lab.History{Entries: h.Entries[:min(len(h.Entries), mostEntries-len(rows))]}).Entries {
			row := viewEntry{
				Master: h.Master, Time: fmt.Sprintf("+%s s", strconv.FormatFloat(float64(e.Time-start)/1000, 'f', -1, 64)),
				Client: clean.Name(e.Name), Request: clean.Line(lab.Line(e.Cmd)),
				Reply: clean.Line(e.Reply), Outcome: string(e.Outcome),
				Struck: e.Event != lab.EventCommand && e.Client != 0,
			}
			if row.Client == "" && e.Client != 0 {
				row.Client = fmt.Sprintf("client %d", e.Client)
			}
			if len(e.Cmd) == 0 {
				row.Request = clean.Line(strings.TrimSpace(e.Event + " " + e.Key))
			}
			if e.Event == lab.EventClock {
				row.Request = fmt.Sprintf("clock %+d ms", e.To-e.From)
			}
			if row.Struck {
				row.Outcome += " (" + clean.Name(e.Event) + ")"
			}
			rows = append(rows, row)
		}
	}
	return rows, p.count("history.left", n-len(rows))
}
