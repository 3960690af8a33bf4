package picture

import (
	"fmt"

	"github.com/miniredisd/miniredisd/lab/words"
)

// marks draws marks at y. The label is on the right, or below if there is room for it. A label that
// would cover another one is left out.
func (d *drawing) marks(marks []Mark, y int, below bool) {
	free := 0
	for i, m := range marks {
		d.used[m.Kind] = true
		x := d.x(m.At)
		fmt.Fprintf(&d.b, "<g><title>%s</title>%s</g>\n", escape(m.Title), glyph(m.Kind, x, y))
		end := x + glyphSize + 3 + widthOf(m.Label, smallWidth)
		next := d.right
		if i+1 < len(marks) {
			next = d.x(marks[i+1].At) - glyphSize
		}
		switch half := widthOf(m.Label, smallWidth) / 2; {
		case end <= next && x >= free:
			d.text(x+glyphSize+3, y+4, "label event", m.Label)
			free = end
		case below && x-half >= free && half < d.cell/2 && x+half <= d.right:
			fmt.Fprintf(&d.b, "<text class=\"label event\" text-anchor=\"middle\" x=\"%d\" y=\"%d\">%s</text>\n",
				x, y+glyphSize+11, escape(m.Label))
		}
	}
}

// glyph returns the shape of a kind of mark, with its middle at x and y.
func glyph(k Kind, x, y int) string {
	const s = glyphSize
	switch k {
	case Refused:
		return fmt.Sprintf(`<circle class="hollow" cx="%d" cy="%d" r="%d"/>`, x, y, s-1)
	case Released:
		return fmt.Sprintf(`<path class="good" d="M%d %dl%d %dl%d %d"/>`, x-s+1, y, s-2, s-2, s+1, -2*s+3)
	case Expired: // an hourglass
		return fmt.Sprintf(`<path class="solid" d="M%d %dh%dl%d %dh%dz"/>`, x-s, y-s, 2*s, -2*s, 2*s, 2*s)
	case Stranger:
		return fmt.Sprintf(`<path class="bad" d="M%d %dl%d %dm0 %dl%d %d"/>`, x-s, y-s, 2*s, 2*s, -2*s, -2*s, 2*s)
	case Held: // two bars, as on a pause button
		return fmt.Sprintf(`<path class="fault" d="M%d %dv%dM%d %dv%d"/>`, x-3, y-s, 2*s, x+3, y-s, 2*s)
	case Lost: // an envelope that is crossed out
		return fmt.Sprintf(`<path class="fault thin" d="M%d %dh%dv%dh%dzM%d %dl%d %d"/>`,
			x-s, y-s+2, 2*s, 2*s-4, -2*s, x-s-2, y+s, 2*s+4, -2*s)
	case Error:
		return fmt.Sprintf(`<path class="fault thin" d="M%d %dl%d %dh%dzM%d %dv4m0 2v1"/>`,
			x, y-s, s, 2*s-1, -2*s, x, y-2)
	case Clock: // an arrow to the right
		return fmt.Sprintf(`<path class="fault" d="M%d %dh%dm%d %dl%d %dl%d %d"/>`,
			x-s, y, 2*s, -s+1, -s+1, s-1, s-1, -s+1, s-1)
	case Crash: // a flash
		return fmt.Sprintf(`<path class="flash" d="M%d %dl%d %dh%dl%d %dl%d %dh%dz"/>`,
			x+2, y-s-2, -s-2, s+3, 4, -2, s+1, s+2, -s-3, -4)
	case Role: // a flag
		return fmt.Sprintf(`<path class="fault" d="M%d %dv%dh%dl%d %dl%d %dh%d"/>`,
			x-s+1, y+s+1, -2*s-1, 2*s-1, -3, s-2, 3, s-2, -2*s+1)
	}
	return fmt.Sprintf(`<circle class="solid" cx="%d" cy="%d" r="3"/>`, x, y)
}

// words says what a kind of mark means.
func (k Kind) words(l words.Language) string {
	return l.Say([...]string{
		Command: "command", Refused: "refused", Released: "released by its holder", Expired: "lease ended",
		Stranger: "taken away by another client", Held: "held back", Lost: "reply or message lost",
		Error: "dropped, or error", Clock: "clock moved", Crash: "keys lost or replaced",
		Role: "another role, or its link",
	}[k])
}

// legend explains the bars, and the marks that the picture has.
func (d *drawing) legend() {
	d.y += 34
	x := margin
	entry := func(words string, shape func(x int) string) {
		w := 24 + widthOf(words, smallWidth)
		if x+w > d.width-margin {
			x = margin
			d.y += 22
		}
		d.b.WriteString(shape(x) + "\n")
		d.text(x+24, d.y+4, "label", words)
		x += w + 20
	}
	sample := func(class string) func(int) string {
		return func(x int) string {
			return fmt.Sprintf(`<rect class="%s" x="%d" y="%d" width="18" height="12"/>`, class, x, d.y-6)
		}
	}
	entry(d.words.Say("lease on the server"), sample("bar"))
	if d.belief {
		entry(d.words.Say("ended there, and the client does not know"), sample("belief"))
	}
	if d.both {
		entry(d.words.Say("two clients hold the lock"), sample("red"))
	}
	for k := Command; k <= Role; k++ {
		if d.used[k] {
			entry(k.words(d.words), func(x int) string { return glyph(k, x+9, d.y) })
		}
	}
}
