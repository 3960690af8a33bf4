package picture

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/miniredisd/miniredisd/lab/words"
)

// Sizes in pixels.
const (
	margin     = 24
	gutter     = 190 // for the names of the rows
	plotWidth  = 1000
	leastWidth = 26 // of a column
	mostWidth  = 200
	lineHeight = 18
	barHeight  = 20
	rowHeight  = 56  // of a row with marks
	barsHeight = 34  // of a row without
	glyphSize  = 6   // half of the size of a mark
	smallWidth = 6.4 // of a character of a label
)

// How many characters fit into the gutter and into a line of text.
const (
	mostName = 24
	mostLine = 160
)

// drawing is the SVG while it is written. y is where the next part begins.
type drawing struct {
	b     bytes.Buffer
	y     int
	width int // of the whole picture
	cell  int // width of a column of the lock that is drawn
	right int // where its plot ends
	used  map[Kind]bool
	words words.Language

	belief, both bool // some bar has such a part
}

// Draw writes p as SVG.
func Draw(w io.Writer, p Picture) error {
	d := &drawing{y: margin, width: 2*margin + gutter + plotWidth, used: map[Kind]bool{}, words: p.Language}
	for _, l := range p.Locks {
		d.width = max(d.width, 2*margin+gutter+l.Columns*cellOf(l))
	}
	d.y += 20
	d.text(margin, d.y, "title", p.Title)
	d.y += 10
	d.lines(p.Text)
	for _, l := range p.Locks {
		d.lock(l)
	}
	d.legend()
	d.y += margin

	var head bytes.Buffer
	fmt.Fprintf(&head, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" `+
		`role="img" aria-labelledby="title desc">`+"\n", d.width, d.y, d.width, d.y)
	fmt.Fprintf(&head, "<title id=\"title\">%s</title>\n<desc id=\"desc\">%s</desc>\n", escape(p.Title),
		escape(strings.Join(Describe(p), " ")))
	head.WriteString(style)
	fmt.Fprintf(&head, "<rect class=\"page\" width=\"%d\" height=\"%d\"/>\n", d.width, d.y)
	for _, part := range [][]byte{head.Bytes(), d.b.Bytes(), []byte("</svg>\n")} {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// cellOf returns the width of a column of l.
func cellOf(l Lock) int { return min(max(plotWidth/max(l.Columns, 1), leastWidth), mostWidth) }

// x returns the middle of a column, or the end of the plot behind the last column.
func (d *drawing) x(column int) int { return min(margin+gutter+column*d.cell+d.cell/2, d.right) }

func (d *drawing) lock(l Lock) {
	d.cell = cellOf(l)
	d.right = margin + gutter + l.Columns*d.cell
	d.y += 30
	fmt.Fprintf(&d.b, "<rect class=\"badge %s\" x=\"%d\" y=\"%d\" width=\"6\" height=\"20\"/>\n", l.State, margin, d.y-15)
	d.text(margin+14, d.y, "lock", l.Title)
	d.y += 8
	d.lines(l.Text)
	for _, g := range l.Groups {
		d.group(g)
	}
}

// group draws a group: its name, its clock, its own marks, and its rows.
func (d *drawing) group(g Group) {
	d.y += 12
	top := d.y
	d.y += lineHeight
	d.text(margin, d.y, "group", shorten(g.Name, mostName))
	d.times(g.Times)
	if len(g.Marks) > 0 {
		d.y += 20
		d.marks(g.Marks, d.y-4, false)
	}
	d.y += 8
	bottom := d.y
	for _, r := range g.Rows {
		bottom += heightOf(r)
	}
	fmt.Fprintf(&d.b, "<rect class=\"plot\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n",
		margin+gutter, d.y, d.right-margin-gutter, bottom-d.y)
	for _, s := range g.Both {
		fmt.Fprintf(&d.b, "<rect class=\"both\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n",
			d.x(s.From), d.y, d.x(s.To)-d.x(s.From), bottom-d.y)
	}
	for _, m := range g.Marks {
		if m.Kind == Crash || m.Kind == Clock || m.Kind == Role {
			fmt.Fprintf(&d.b, "<line class=\"cut\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>\n",
				d.x(m.At), top+lineHeight, d.x(m.At), bottom)
		}
	}
	for _, r := range g.Rows {
		d.row(r)
	}
}

// heightOf returns the height of a row.
func heightOf(r Row) int {
	if len(r.Marks) > 0 {
		return rowHeight
	}
	return barsHeight
}

// times writes the labels of a clock. A label that would cover the one before it is left out.
func (d *drawing) times(times []Time) {
	free := 0
	for _, t := range times {
		x := d.x(t.At)
		text, width := x+3, widthOf(t.Text, smallWidth)
		if text+width > d.right {
			text = x - 3 - width
		}
		if text < free {
			continue
		}
		fmt.Fprintf(&d.b, "<line class=\"tick\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>\n", x, d.y-10, x, d.y+2)
		d.text(text, d.y, "time", t.Text)
		free = max(x, text+width) + 8
	}
}

// row draws a client: its bars, and below them its marks.
func (d *drawing) row(r Row) {
	d.text(margin, d.y+barHeight-1, "name", shorten(r.Name, mostName))
	fmt.Fprintf(&d.b, "<line class=\"lane\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>\n",
		margin+gutter, d.y+heightOf(r), d.right, d.y+heightOf(r))
	for _, b := range r.Bars {
		d.bar(b)
	}
	y := d.y + barHeight + 16
	for _, s := range r.Waits {
		fmt.Fprintf(&d.b, "<line class=\"wait\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>\n",
			d.x(s.From)+glyphSize, y, d.x(s.To)-glyphSize, y)
	}
	d.marks(r.Marks, y, true)
	d.y += heightOf(r)
}

// bar draws a lease. What the client only believes is hatched, and what two clients held is striped.
func (d *drawing) bar(b Bar) {
	y := d.y + 5
	from, to, end := d.x(b.From), d.x(b.To), d.x(max(b.Belief, b.To))
	fmt.Fprintf(&d.b, "<g><title>%s</title>", escape(b.Title))
	d.both = d.both || len(b.Both) > 0
	if end > to {
		d.belief = true
		fmt.Fprintf(&d.b, "<rect class=\"belief\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>", to, y, end-to, barHeight)
	}
	fmt.Fprintf(&d.b, "<rect class=\"bar\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"3\"/>",
		from, y, max(to-from, 3), barHeight)
	for _, s := range b.Both {
		fmt.Fprintf(&d.b, "<rect class=\"red\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>",
			d.x(s.From), y, max(d.x(s.To)-d.x(s.From), 3), barHeight)
	}
	if n := int(float64(to-from-10) / smallWidth); n >= 4 {
		d.text(from+6, y+14, "label lease", shorten(b.Label, n))
	}
	d.b.WriteString("</g>\n")
}

// lines writes lines of text, each wrapped to the width of a screen.
func (d *drawing) lines(text []string) {
	for _, line := range text {
		for _, part := range wrap(line, mostLine) {
			d.y += lineHeight
			d.text(margin, d.y, "words", part)
		}
	}
}

func (d *drawing) text(x, y int, class, s string) {
	fmt.Fprintf(&d.b, "<text class=\"%s\" x=\"%d\" y=\"%d\">%s</text>\n", class, x, y, escape(s))
}

// escape makes s the text of an element. It replaces characters that XML does not allow.
func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // never fails for a Builder
	return b.String()
}
