package chart

import (
	"bytes"
	"fmt"
	"html"
	"math"
	"os"
)

// Span is a period of time, in microseconds.
type Span struct {
	Kind, Name string
	Begin, End float64
	Inside     bool // part of another span, and drawn below it
}

// Row has the spans of one thread.
type Row struct {
	Name  string
	Spans []Span
}

// Timeline shows what several threads did in the same period, with a row for each.
type Timeline struct {
	Title      string
	Begin, End float64 // microseconds
	Rows       []Row
	Kinds      []string // in the order of the legend
}

// Sizes of a timeline, in pixels.
const (
	timelineWidth = 960
	timelineLeft  = 60
	timelineTop   = 56
	laneHeight    = 20
	rowHeight     = 2*laneHeight + 12
	letterWidth   = 6.2
)

// Write draws t.
func (t *Timeline) Write(path string) error {
	var b bytes.Buffer
	height := timelineTop + len(t.Rows)*rowHeight + 30
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" `+
		`font-family="sans-serif" font-size="11">`+"\n", timelineWidth, height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#ffffff"/>`+"\n", timelineWidth, height)
	text(&b, 8, 18, t.Title)
	t.legend(&b)
	t.axis(&b, height)
	for i, row := range t.Rows {
		top := float64(timelineTop + i*rowHeight)
		text(&b, 8, top+laneHeight, row.Name)
		for _, s := range row.Spans {
			t.span(&b, top, s)
		}
	}
	b.WriteString("</svg>\n")
	return os.WriteFile(path, b.Bytes(), 0o644)
}

func text(b *bytes.Buffer, x, y float64, s string) {
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" fill="#222222">%s</text>`+"\n", x, y, html.EscapeString(s))
}

func (t *Timeline) legend(b *bytes.Buffer) {
	x := float64(timelineLeft)
	for _, kind := range t.Kinds {
		fmt.Fprintf(b, `<rect x="%.1f" y="28" width="12" height="12" fill="%s"/>`+"\n", x, colorOf(kind))
		text(b, x+16, 38, kind)
		x += 30 + letterWidth*float64(len(kind))
	}
}

// colorOf returns the colour of a kind of span. It is the same in every drawing.
func colorOf(kind string) string {
	switch kind {
	case "sleep":
		return "#e8e8e8"
	case "accept":
		return "#c7b9e2"
	case "gather":
		return "#f4d9c6"
	case "read phase":
		return "#cfe3f5"
	case "read":
		return "#7db4e6"
	case "parse":
		return "#8fd0c0"
	case "execute":
		return "#f0a05a"
	case "expire":
		return "#d98ba8"
	case "write phase":
		return "#dcecc4"
	case "write":
		return "#a2cb5e"
	case "wait":
		return "#f0e6a8"
	}
	return "#bbbbbb"
}

// axis draws a line and a number at every round step.
func (t *Timeline) axis(b *bytes.Buffer, height int) {
	step := math.Pow(10, math.Floor(math.Log10(t.End-t.Begin)))
	switch n := (t.End - t.Begin) / step; {
	case n < 2:
		step /= 5
	case n < 5:
		step /= 2
	}
	for at := 0.0; t.Begin+at <= t.End; at += step {
		x := t.x(t.Begin + at)
		fmt.Fprintf(b, `<path d="M%.1f %dV%d" stroke="#e4e4e4"/>`+"\n", x, timelineTop-8, height-24)
		if x < timelineWidth-50 {
			text(b, x-4, float64(height-10), fmt.Sprintf("%g µs", at))
		}
	}
}

func (t *Timeline) x(at float64) float64 {
	return timelineLeft + (at-t.Begin)/(t.End-t.Begin)*(timelineWidth-timelineLeft-12)
}

func (t *Timeline) span(b *bytes.Buffer, top float64, s Span) {
	from, to := t.x(max(s.Begin, t.Begin)), t.x(min(s.End, t.End))
	y := top
	if s.Inside {
		y += laneHeight + 1
	}
	fmt.Fprintf(b, `<rect x="%.2f" y="%.1f" width="%.2f" height="%d" fill="%s"><title>%s, %.1f µs</title></rect>`+"\n",
		from, y, max(to-from, 0.6), laneHeight, colorOf(s.Kind), html.EscapeString(s.Name), s.End-s.Begin)
	if to-from > letterWidth*float64(len(s.Name))+4 {
		text(b, from+3, y+14, s.Name)
	}
}
