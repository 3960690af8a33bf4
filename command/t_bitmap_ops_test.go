package command

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/amount"
)

// bitAt is the simple model that all functions of this file are compared with.
func bitAt(b []byte, i int64) uint64 {
	if i>>3 >= int64(len(b)) {
		return 0
	}
	return uint64(b[i>>3]>>(7-i&7)) & 1
}

// randomBits returns up to n bytes, most of them all zeros or all ones, so that words are skipped.
func randomBits(r *rand.Rand, n int) []byte {
	b := make([]byte, r.IntN(n+1))
	fill := byte(-r.IntN(2))
	for i := range b {
		b[i] = fill
		if r.IntN(20) == 0 {
			b[i] = byte(r.Uint32())
		}
	}
	return b
}

func TestBitsAreReadAndWrittenAtAnyPlaceAndWidth(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range amount.Count(4000, 20_000) {
		b := randomBits(r, 20)
		offset, width := r.Int64N(170), 1+r.Int64N(64)
		want := uint64(0)
		for i := range width {
			want = want<<1 | bitAt(b, offset+i)
		}
		require.Equal(t, want, getBits(b, offset, width), "%x at %d width %d", b, offset, width)

		if offset+width > int64(len(b))*8 {
			continue
		}
		v, before := r.Uint64(), append([]byte(nil), b...)
		setBits(b, offset, width, v)
		require.Equal(t, v&(^uint64(0)>>(64-width)), getBits(b, offset, width))
		for i := range int64(len(b)) * 8 {
			if i < offset || i >= offset+width {
				require.Equal(t, bitAt(before, i), bitAt(b, i), "bit %d, written %d bits at %d", i, width, offset)
			}
		}
	}
}

func TestBitsAreCountedAndFoundInAnyPart(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 20_000 {
		b := randomBits(r, 100)
		total := int64(len(b)) * 8
		from := r.Int64N(total + 1)
		to := from + r.Int64N(total-from+1)
		count, first := int64(0), [2]int64{-1, -1}
		for i := from; i < to; i++ {
			bit := bitAt(b, i)
			count += int64(bit)
			if first[bit] < 0 {
				first[bit] = i
			}
		}
		require.Equal(t, count, countBits(b, from, to), "%x from %d to %d", b, from, to)
		require.Equal(t, first[0], findBit(b, 0, from, to), "%x from %d to %d", b, from, to)
		require.Equal(t, first[1], findBit(b, 1, from, to), "%x from %d to %d", b, from, to)
	}
}

func TestBitsOfDifferentLengthsAreCombinedAsIfFilledUpWithZeros(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	ops := map[bitOp]func(x, y uint64) uint64{
		bitAnd: func(x, y uint64) uint64 { return x & y },
		bitOr:  func(x, y uint64) uint64 { return x | y },
		bitXor: func(x, y uint64) uint64 { return x ^ y },
		bitNot: func(x, _ uint64) uint64 { return 1 - x },
	}
	for i := range 200 {
		size := 50
		if i%20 == 0 {
			size = 10_000
		}
		for op, one := range ops {
			sources := [][]byte{randomBits(r, size), randomBits(r, size), randomBits(r, size)}
			longest := max(len(sources[0]), len(sources[1]), len(sources[2]))
			if op == bitNot {
				sources, longest = sources[:1], len(sources[0])
			}
			want := make([]byte, longest)
			for bit := range int64(longest) * 8 {
				v := bitAt(sources[0], bit)
				for _, source := range sources[1:] {
					v = one(v, bitAt(source, bit))
				}
				if op == bitNot {
					v = one(v, 0)
				}
				setBits(want, bit, 1, v)
			}
			got := make([]byte, longest)
			combineBits(op, got, sources)
			require.Equal(t, want, got, "op %d of %x", op, sources)
			for _, dst := range sources {
				if len(dst) == longest { // the result overwrites a source
					combineBits(op, dst, sources)
					require.Equal(t, want, dst, "op %d", op)
					break
				}
			}
		}
	}
}

func TestFieldsOverflowByTheTrueSum(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for range 50_000 {
		f := field{signed: r.IntN(2) == 0}
		f.bits = 1 + r.Int64N(63)
		if f.signed {
			f.bits += r.Int64N(2)
		}
		low, high := f.limits()
		old := f.wrap(r.Uint64())
		op := fieldOp{kind: fieldIncr, field: f, arg: int64(r.Uint64()) >> r.IntN(64)}

		sum := new(big.Int).Add(big.NewInt(old), big.NewInt(op.arg))
		over, under := sum.Cmp(big.NewInt(high)) > 0, sum.Cmp(big.NewInt(low)) < 0
		wrapped, fits := op.result(old)
		require.Equal(t, !over && !under, fits, "%+v: %d + %d", f, old, op.arg)
		require.Equal(t, f.wrap(uint64(old)+uint64(op.arg)), wrapped)

		op.overflow = overflowSaturate
		saturated, _ := op.result(old)
		switch {
		case over:
			require.Equal(t, high, saturated)
		case under:
			require.Equal(t, low, saturated)
		default:
			require.Equal(t, sum.Int64(), saturated)
		}
	}
}
