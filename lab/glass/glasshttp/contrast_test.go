package glasshttp

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// colour is red, green and blue, from 0 to 255.
type colour [3]float64

// mixed is a part of c over d, as color-mix(in srgb, c part, d).
func (c colour) mixed(d colour, part float64) (m colour) {
	for i := range c {
		m[i] = c[i]*part + d[i]*(1-part)
	}
	return m
}

// light is the relative luminance of WCAG.
func (c colour) light() float64 {
	var l [3]float64
	for i, v := range c {
		if v /= 255; v <= 0.04045 {
			l[i] = v / 12.92
		} else {
			l[i] = math.Pow((v+0.055)/1.055, 2.4)
		}
	}
	return 0.2126*l[0] + 0.7152*l[1] + 0.0722*l[2]
}

func contrast(a, b colour) float64 {
	high, low := max(a.light(), b.light()), min(a.light(), b.light())
	return (high + 0.05) / (low + 0.05)
}

// palette reads the colours of a theme, and how much of a kind's colour a box has: at rest, and active.
func palette(t *testing.T, css string, selectors ...string) (colours map[string]colour, rest, active float64) {
	t.Helper()
	colours = map[string]colour{}
	for _, selector := range selectors {
		block := regexp.MustCompile(`(?s)\n` + regexp.QuoteMeta(selector) + ` \{\n(.*?)\n\}`).FindStringSubmatch(css)
		require.NotNil(t, block, selector)
		for _, v := range regexp.MustCompile(`--(\w+): #(\w\w)(\w\w)(\w\w);`).FindAllStringSubmatch(block[1], -1) {
			var c colour
			for i := range c {
				n, err := strconv.ParseUint(v[2+i], 16, 8)
				require.NoError(t, err)
				c[i] = float64(n)
			}
			colours[v[1]] = c
		}
		tint := regexp.MustCompile(`--tint: (\d+)%;`).FindStringSubmatch(block[1])
		rest, _ = strconv.ParseFloat(tint[1], 64)
	}
	more := regexp.MustCompile(`calc\(var\(--tint\) \* ([\d.]+)\)`).FindStringSubmatch(css)
	factor, err := strconv.ParseFloat(more[1], 64)
	require.NoError(t, err)
	return colours, rest / 100, rest / 100 * factor
}

// Every text of the page has a contrast of 4.5 to what is behind it, in both themes.
func TestLettersHaveContrastInBothThemes(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("page", "style.css"))
	require.NoError(t, err)
	for theme, selectors := range map[string][]string{"light": {":root"}, "dark": {":root", `:root[data-theme="dark"]`}} {
		c, rest, active := palette(t, string(text), selectors...)
		check := func(what string, letters, behind colour) {
			ratio := contrast(letters, behind)
			require.GreaterOrEqual(t, ratio, 4.5, "%s: %s", theme, what)
		}
		for _, ground := range []string{"bg", "panel"} {
			for _, name := range []string{"ink", "dim", "warn", "read", "write", "accept", "parse", "execute"} {
				check(name+" on "+ground, c[name], c[ground])
			}
			check("a key on "+ground, c["dim"], c["ink"].mixed(c[ground], 0.09))
			check(ground+" on ink", c[ground], c["ink"])
		}
		check("a button that is on", c["bg"], c["warn"])
		kinds := []string{"accept", "read", "parse", "execute", "write", "expire", "wait", "sleep", "key"}
		for i := range 8 {
			kinds = append(kinds, fmt.Sprintf("c%d", i))
		}
		for _, kind := range kinds {
			check("letters on "+kind, c["on"], c[kind])
			check("the name of "+kind+" in a list", c[kind].mixed(c["ink"], 0.75), c["panel"])
			for _, part := range []float64{rest, active} {
				box := c[kind].mixed(c["panel"], part)
				check("ink in a box of "+kind, c["ink"], box)
				check("dim in a box of "+kind, c["dim"], box)
				check("the title of a box of "+kind, c[kind].mixed(c["ink"], 0.6), box)
			}
			check("an event of "+kind, c["ink"], c[kind].mixed(c["panel"], 0.45))
		}
		check("what is not sent yet", c["warn"], c["execute"].mixed(c["panel"], active))
	}
}
