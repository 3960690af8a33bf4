// Package chart draws the figures of bench as SVG files: curves in a grid of panels, stacked bars, and
// timelines of threads. It does not know what the figures mean. gonum/plot draws curves and bars.
package chart

import (
	"bytes"
	"image/color"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Line is one curve, with a value for each tick of the x axis. Lines that belong together have the same
// Color and differ in Dash.
type Line struct {
	Name  string
	Color int
	Dash  int
	Y     []float64
}

// Panel is one of several plots with the same axes.
type Panel struct {
	Title string
	Lines []Line
}

// Grid is rows of panels with curves and one legend for all. The y axes are logarithmic, because the
// curves may be far apart. Values of 0 and below are left out.
type Grid struct {
	Title, X, Y string
	Ticks       []string // the labels of the x axis
	Rows        [][]Panel
}

// Bar is a stacked bar with a name.
type Bar struct {
	Name  string
	Parts []float64
}

// Bars is a column of horizontal bars, from top to bottom. Each bar has its figures beside its name. A
// bar that is many times longer than the others is cut at the edge, and two white strokes mark the cut.
type Bars struct {
	Title, X string
	Parts    []string
	Bars     []Bar
}

const (
	panelWidth  = 7.5 * vg.Centimeter
	panelHeight = 6 * vg.Centimeter
	legendWidth = 5 * vg.Centimeter
	titleHeight = 1 * vg.Centimeter
	barHeight   = 0.8 * vg.Centimeter
	barsWidth   = 22 * vg.Centimeter
	pad         = 3 * vg.Millimeter
)

// palette has colours that colour-blind people can distinguish (Okabe and Ito).
func palette(i int) color.Color {
	colors := []color.RGBA{
		{0, 0, 0, 255}, {0, 114, 178, 255}, {213, 94, 0, 255}, {0, 158, 115, 255},
		{204, 121, 167, 255}, {230, 159, 0, 255}, {86, 180, 233, 255},
	}
	return colors[i%len(colors)]
}

func dashes(i int) []vg.Length {
	kinds := [][]vg.Length{nil, {5, 3}, {1.5, 2}}
	return kinds[i%len(kinds)]
}

// Write draws the grid into a file.
func (g Grid) Write(path string) error {
	cols := 0
	for _, row := range g.Rows {
		cols = max(cols, len(row))
	}
	width := panelWidth*vg.Length(cols) + legendWidth
	height := panelHeight*vg.Length(len(g.Rows)) + titleHeight
	svg, canvas := sheet(width, height)

	plots := make([][]*plot.Plot, len(g.Rows))
	for i, row := range g.Rows {
		plots[i] = make([]*plot.Plot, cols)
		for j, panel := range row {
			p, err := g.panel(panel)
			if err != nil {
				return err
			}
			plots[i][j] = p
		}
	}
	caption(canvas, g.Title)
	legend, err := g.legend()
	if err != nil {
		return err
	}
	legend.Draw(draw.Crop(canvas, width-legendWidth, 0, 0, -titleHeight))
	field := draw.Crop(canvas, 0, -legendWidth, 0, -titleHeight)
	tiles := draw.Tiles{Rows: len(g.Rows), Cols: cols, PadX: pad, PadY: pad, PadTop: pad, PadBottom: pad,
		PadLeft: pad, PadRight: pad}
	for i, row := range plot.Align(plots, tiles, field) {
		for j, c := range row {
			if plots[i][j] != nil {
				plots[i][j].Draw(c)
			}
		}
	}
	return save(path, svg)
}

func (g Grid) panel(panel Panel) (*plot.Plot, error) {
	p := newPlot(panel.Title)
	p.X.Label.Text, p.Y.Label.Text = g.X, g.Y
	p.X.Min, p.X.Max = -0.2, float64(len(g.Ticks))-0.8
	p.NominalX(g.Ticks...)
	p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	p.Add(plotter.NewGrid())
	for _, l := range panel.Lines {
		line, points, err := curve(l)
		if err != nil {
			return nil, err
		}
		if points.Len() > 0 {
			p.Add(line, points)
		}
	}
	decades(&p.Y)
	return p, nil
}

// decades widens a logarithmic axis to whole powers of ten, so that both ends have ticks.
func decades(a *plot.Axis) {
	if a.Min > a.Max { // no curve at all
		a.Min, a.Max = 1, 10
	}
	a.Min = math.Pow(10, math.Floor(math.Log10(a.Min)))
	a.Max = math.Pow(10, math.Ceil(math.Log10(a.Max)))
	if a.Min == a.Max {
		a.Max *= 10
	}
}

func curve(l Line) (*plotter.Line, *plotter.Scatter, error) {
	var xys plotter.XYs
	for i, y := range l.Y {
		if y > 0 {
			xys = append(xys, plotter.XY{X: float64(i), Y: y})
		}
	}
	if len(xys) == 0 {
		return &plotter.Line{}, &plotter.Scatter{}, nil
	}
	line, points, err := plotter.NewLinePoints(xys)
	if err != nil {
		return nil, nil, err
	}
	line.Color, line.Width, line.Dashes = palette(l.Color), vg.Points(1.4), dashes(l.Dash)
	points.Color, points.Radius, points.Shape = palette(l.Color), vg.Points(2), draw.CircleGlyph{}
	return line, points, nil
}

// legend names each line once, although it is in every panel.
func (g Grid) legend() (plot.Legend, error) {
	legend := newPlot("").Legend
	legend.Top, legend.Left = true, true
	legend.TextStyle.Font.Size = vg.Points(10)
	legend.Padding = vg.Points(3)
	legend.ThumbnailWidth = vg.Points(28)
	seen := map[string]bool{}
	for _, row := range g.Rows {
		for _, panel := range row {
			for _, l := range panel.Lines {
				if seen[l.Name] {
					continue
				}
				seen[l.Name] = true
				line, points, err := curve(l)
				if err != nil {
					return legend, err
				}
				legend.Add(l.Name, line, points)
			}
		}
	}
	return legend, nil
}

// Write draws the bars into a file.
func (b Bars) Write(path string) error {
	height := barHeight*vg.Length(len(b.Bars)) + 4*titleHeight
	svg, canvas := sheet(barsWidth, height)
	p := newPlot("")
	p.X.Label.Text = b.X
	legend := p.Legend
	legend.Top, legend.Left = true, true
	names := make([]string, len(b.Bars))
	var below *plotter.BarChart
	for part, name := range b.Parts {
		values := make(plotter.Values, len(b.Bars))
		for i, bar := range b.Bars {
			at := len(b.Bars) - 1 - i // the axis counts from the bottom
			values[at], names[at] = bar.Parts[part], bar.label()
		}
		chart, err := plotter.NewBarChart(values, barHeight*0.6)
		if err != nil {
			return err
		}
		chart.Horizontal, chart.Color, chart.LineStyle.Width = true, palette(1+part*4), 0
		if below != nil {
			chart.StackOn(below)
		}
		below = chart
		p.Add(chart)
		legend.Add(name, chart)
	}
	p.NominalY(names...)
	p.X.Min = 0
	p.X.Max = min(p.X.Max, b.edge())
	caption(canvas, b.Title)
	legend.Draw(draw.Crop(canvas, pad, 0, 0, -titleHeight))
	field := draw.Crop(canvas, pad, -pad, pad, -2.5*titleHeight)
	p.Draw(field)
	b.markCuts(p, field)
	return save(path, svg)
}

// markCuts draws two white strokes across the end of every bar that is longer than the axis.
func (b Bars) markCuts(p *plot.Plot, field draw.Canvas) {
	data := p.DataCanvas(field)
	_, y := p.Transforms(&data)
	stroke := draw.LineStyle{Color: color.White, Width: vg.Points(2)}
	for i, bar := range b.Bars {
		if bar.length() <= p.X.Max {
			continue
		}
		middle := y(float64(len(b.Bars) - 1 - i))
		for _, fromEdge := range []vg.Length{vg.Points(14), vg.Points(20)} {
			x := data.Max.X - fromEdge
			data.StrokeLine2(stroke, x-vg.Points(3), middle-barHeight*0.35, x+vg.Points(3), middle+barHeight*0.35)
		}
	}
}

// length is the sum of the parts.
func (b Bar) length() float64 {
	sum := 0.0
	for _, part := range b.Parts {
		sum += part
	}
	return sum
}

// label returns the name and the figures.
func (b Bar) label() string {
	var figures []string
	for _, part := range b.Parts {
		figures = append(figures, strconv.FormatFloat(part, 'f', 1, 64))
	}
	return b.Name + "  " + strings.Join(figures, " + ") + margin
}

// margin separates the names from the bars in viewers whose font is wider than the measured font.
const margin = "      "

// edge is the end of the axis if bars are too long: three times the median.
func (b Bars) edge() float64 {
	var lengths []float64
	for _, bar := range b.Bars {
		lengths = append(lengths, bar.length())
	}
	slices.Sort(lengths)
	return 3 * lengths[len(lengths)/2]
}

// sheet is an empty white drawing.
func sheet(width, height vg.Length) (*vgsvg.Canvas, draw.Canvas) {
	svg := vgsvg.New(width, height)
	canvas := draw.New(svg)
	canvas.FillPolygon(color.White, []vg.Point{{}, {X: width}, {X: width, Y: height}, {Y: height}})
	return svg, canvas
}

func caption(c draw.Canvas, title string) {
	style := newPlot("").Title.TextStyle
	style.Font.Size = vg.Points(13)
	style.XAlign, style.YAlign = draw.XLeft, draw.YTop
	c.FillText(style, vg.Point{X: c.Min.X + pad, Y: c.Max.Y - pad}, title)
}

// newPlot makes a plot of gonum without serifs.
func newPlot(title string) *plot.Plot {
	p := plot.New()
	p.Title.Text = title
	for _, f := range []*font.Font{
		&p.Title.TextStyle.Font, &p.Legend.TextStyle.Font,
		&p.X.Label.TextStyle.Font, &p.X.Tick.Label.Font, &p.Y.Label.TextStyle.Font, &p.Y.Tick.Label.Font,
	} {
		f.Variant = "Sans"
	}
	return p
}

// save adds fonts of the same width after the font that the drawing was measured with. Liberation Sans
// has the widths of Arial. Viewers without any of these fonts would show serifs.
func save(path string, svg *vgsvg.Canvas) error {
	var drawn bytes.Buffer
	if _, err := svg.WriteTo(&drawn); err != nil {
		return err
	}
	const font = "font-family:Liberation Sans"
	text := strings.ReplaceAll(drawn.String(), font, font+", Arial, Helvetica, sans-serif")
	return os.WriteFile(path, []byte(text), 0o644)
}
