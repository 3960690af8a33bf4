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
// The most frequent colours stay as they are. Of the others, those that are alike become one.
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
	colours, index := choose(seen)
	to := image.NewPaletted(bounds, colours)
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			to.SetColorIndex(x, y, index[at(from, x, y)])
		}
	}
	var out bytes.Buffer
	e := png.Encoder{CompressionLevel: png.BestCompression}
	err = e.Encode(&out, to)
	return out.Bytes(), err
}

// choose returns a palette and the place of each colour in it.
func choose(seen map[color.RGBA]int) (color.Palette, map[color.RGBA]uint8) {
	order := slices.SortedFunc(maps.Keys(seen), func(a, b color.RGBA) int {
		return cmp.Or(seen[b]-seen[a], int(a.R)-int(b.R), int(a.G)-int(b.G), int(a.B)-int(b.B))
	})
	var colours color.Palette
	index := map[color.RGBA]uint8{}
	frequent := order[:min(len(order), 128)]
	for _, c := range frequent {
		index[c] = uint8(len(colours))
		colours = append(colours, c)
	}
	rest := order[len(frequent):]
	for bits := 1; ; bits++ {
		groups := map[color.RGBA]uint8{}
		chosen := colours
		for _, c := range rest { // the first of a group is its most frequent one
			key := color.RGBA{R: c.R >> bits, G: c.G >> bits, B: c.B >> bits}
			if _, ok := groups[key]; !ok {
				groups[key] = uint8(len(chosen))
				chosen = append(chosen, c)
			}
			index[c] = groups[key]
		}
		if len(chosen) <= 256 {
			return chosen, index
		}
	}
}

func at(m image.Image, x, y int) color.RGBA { return color.RGBAModel.Convert(m.At(x, y)).(color.RGBA) }
