package browser

import (
	"bytes"
	"cmp"
	"image"
	"image/color"
	"image/png"
	"maps"
	"slices"
)

// Palette returns a PNG with at most 256 colours, which takes a fifth of the bytes of a screenshot.
// Colours that are alike become the most frequent one of them.
func Palette(shot []byte) ([]byte, error) {
	from, err := png.Decode(bytes.NewReader(shot))
	if err != nil {
		return nil, err
	}
	bounds := from.Bounds()
	seen := map[color.RGBA]int{}
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			seen[at(from, x, y)]++
		}
	}
	bits, alike := 0, groups(seen, 0)
	for len(alike) > 256 {
		bits++
		alike = groups(seen, bits)
	}
	var colours color.Palette
	index := map[color.RGBA]uint8{}
	order := slices.SortedFunc(maps.Keys(alike), compare) // the same bytes for the same picture
	for i, key := range order {
		index[key] = uint8(i)
		colours = append(colours, alike[key])
	}
	to := image.NewPaletted(bounds, colours)
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			to.SetColorIndex(x, y, index[group(at(from, x, y), bits)])
		}
	}
	var out bytes.Buffer
	e := png.Encoder{CompressionLevel: png.BestCompression}
	err = e.Encode(&out, to)
	return out.Bytes(), err
}

func at(m image.Image, x, y int) color.RGBA { return color.RGBAModel.Convert(m.At(x, y)).(color.RGBA) }

// group returns a colour without its lowest bits.
func group(c color.RGBA, bits int) color.RGBA {
	return color.RGBA{R: c.R >> bits, G: c.G >> bits, B: c.B >> bits}
}

// groups returns the most frequent colour of each group.
func groups(seen map[color.RGBA]int, bits int) map[color.RGBA]color.RGBA {
	first := map[color.RGBA]color.RGBA{}
	for c, n := range seen {
		key := group(c, bits)
		known, ok := first[key]
		if !ok || cmp.Or(n-seen[known], compare(known, c)) > 0 {
			first[key] = c
		}
	}
	return first
}

func compare(a, b color.RGBA) int {
	return cmp.Or(int(a.R)-int(b.R), int(a.G)-int(b.G), int(a.B)-int(b.B))
}
