package double

import (
	"math"
	"math/bits"
)

// maxDigits bounds the digits of grisu. 17 digits are enough for every float64.
const maxDigits = 18

// float is frac * 2^exp.
type float struct {
	frac uint64
	exp  int
}

// times is the product, rounded to 64 bits.
func (a float) times(b float) float {
	hi, lo := bits.Mul64(a.frac, b.frac)
	return float{hi + lo>>63, a.exp + b.exp + 64}
}

// grisu appends the digits of f, which is positive and finite: f is the digits * 10^scale. It is Grisu2
// of Florian Loitsch, "Printing Floating-Point Numbers Quickly and Accurately with Integers", 2010.
//
// strconv always finds the fewest digits. Grisu2 finds one more for about one number in a thousand. Redis
// uses Grisu2, and its digits are in replies and digests, so here they must be the same.
//
// All numbers between low and high read back as f. Grisu2 multiplies the three by a power of ten, so that
// their exponents are in a small range. Then it takes digits from high until the rest is less than the
// distance from low to high.
func grisu(dst []byte, f float64) (digits []byte, scale int) {
	low, mid, high := neighbourhood(f)
	power, k := tenToThe(high.exp)
	low, mid, high = low.times(power), mid.times(power), high.times(power)
	low.frac++ // each product may be wrong by one
	high.frac--
	digits, kappa := digitsBetween(dst, low.frac, mid.frac, high.frac, -high.exp)
	return digits, kappa - k
}

// neighbourhood returns f and the middles between f and the numbers beside it, all with the same exponent.
// The highest bit of mid and high is set.
func neighbourhood(f float64) (low, mid, high float) {
	const hidden = 1 << 52
	b := math.Float64bits(f)
	frac, exp := b&(hidden-1), int(b>>52)
	if exp != 0 {
		frac += hidden
		exp--
	}
	exp -= 1074
	shift := bits.LeadingZeros64(frac)
	exp -= shift
	mid = float{frac << shift, exp}
	half := uint64(1) << (shift - 1)
	high = float{mid.frac + half, exp}
	if frac == hidden {
		half /= 2 // below a power of two, numbers are closer
	}
	return float{mid.frac - half, exp}, mid, high
}

// digitsBetween appends the digits of a number between low and high, near mid. The three are fixed-point
// numbers with point bits after the point, and 4 to 32 before it. The result is the digits * 10^kappa.
func digitsBetween(dst []byte, low, mid, high uint64, point int) (digits []byte, kappa int) {
	one := uint64(1) << point
	above, delta := high-mid, high-low
	whole, rest := uint32(high>>point), high&(one-1)
	div := uint32(1e9)
	for kappa = 10; div > whole; kappa-- {
		div /= 10
	}
	for ; kappa > 0; div /= 10 {
		dst = append(dst, '0'+byte(whole/div))
		whole %= div
		kappa--
		if left := uint64(whole)<<point + rest; left <= delta {
			lower(dst, delta, left, uint64(div)<<point, above)
			return dst, kappa
		}
	}
	for unit := uint64(10); ; unit *= 10 {
		rest *= 10
		delta *= 10
		dst = append(dst, '0'+byte(rest>>point))
		rest &= one - 1
		kappa--
		if rest < delta {
			lower(dst, delta, rest, one, above*unit)
			return dst, kappa
		}
	}
}

// lower decreases the last digit as long as that comes closer to mid. left is the distance of the digits
// from high, above is the distance of mid from high, and step is what the last digit counts.
func lower(digits []byte, delta, left, step, above uint64) {
	for left < above && delta-left >= step && (left+step < above || above-left > left+step-above) {
		digits[len(digits)-1]--
		left += step
	}
}

// tenToThe returns a power of ten and its exponent k. The product with a number that has the exponent exp
// has an exponent from -60 to -32. Often two powers do, and this is the one that Redis takes.
func tenToThe(exp int) (power float, k int) {
	const log10of2 = 0.30102999566398114
	approx := int(-float64(exp+len(tenPowers)) * log10of2)
	for i := (approx + 348) / 8; ; {
		k = 8*i - 348
		power = float{tenPowers[i], k*217706>>16 - 63}
		switch e := exp + power.exp + 64; {
		case e < -60:
			i++
		case e > -32:
			i--
		default:
			return power, k
		}
	}
}

// tenPowers has the first 64 bits of 10^-348, 10^-340, and so on to 10^340, rounded.
var tenPowers = [...]uint64{
	0xfa8fd5a0081c0288, 0xbaaee17fa23ebf76, 0x8b16fb203055ac76, 0xcf42894a5dce35ea, 0x9a6bb0aa55653b2d,
	0xe61acf033d1a45df, 0xab70fe17c79ac6ca, 0xff77b1fcbebcdc4f, 0xbe5691ef416bd60c, 0x8dd01fad907ffc3c,
	0xd3515c2831559a83, 0x9d71ac8fada6c9b5, 0xea9c227723ee8bcb, 0xaecc49914078536d, 0x823c12795db6ce57,
	0xc21094364dfb5637, 0x9096ea6f3848984f, 0xd77485cb25823ac7, 0xa086cfcd97bf97f4, 0xef340a98172aace5,
	0xb23867fb2a35b28e, 0x84c8d4dfd2c63f3b, 0xc5dd44271ad3cdba, 0x936b9fcebb25c996, 0xdbac6c247d62a584,
	0xa3ab66580d5fdaf6, 0xf3e2f893dec3f126, 0xb5b5ada8aaff80b8, 0x87625f056c7c4a8b, 0xc9bcff6034c13053,
	0x964e858c91ba2655, 0xdff9772470297ebd, 0xa6dfbd9fb8e5b88f, 0xf8a95fcf88747d94, 0xb94470938fa89bcf,
	0x8a08f0f8bf0f156b, 0xcdb02555653131b6, 0x993fe2c6d07b7fac, 0xe45c10c42a2b3b06, 0xaa242499697392d3,
	0xfd87b5f28300ca0e, 0xbce5086492111aeb, 0x8cbccc096f5088cc, 0xd1b71758e219652c, 0x9c40000000000000,
	0xe8d4a51000000000, 0xad78ebc5ac620000, 0x813f3978f8940984, 0xc097ce7bc90715b3, 0x8f7e32ce7bea5c70,
	0xd5d238a4abe98068, 0x9f4f2726179a2245, 0xed63a231d4c4fb27, 0xb0de65388cc8ada8, 0x83c7088e1aab65db,
	0xc45d1df942711d9a, 0x924d692ca61be758, 0xda01ee641a708dea, 0xa26da3999aef774a, 0xf209787bb47d6b85,
	0xb454e4a179dd1877, 0x865b86925b9bc5c2, 0xc83553c5c8965d3d, 0x952ab45cfa97a0b3, 0xde469fbd99a05fe3,
	0xa59bc234db398c25, 0xf6c69a72a3989f5c, 0xb7dcbf5354e9bece, 0x88fcf317f22241e2, 0xcc20ce9bd35c78a5,
	0x98165af37b2153df, 0xe2a0b5dc971f303a, 0xa8d9d1535ce3b396, 0xfb9b7cd9a4a7443c, 0xbb764c4ca7a44410,
	0x8bab8eefb6409c1a, 0xd01fef10a657842c, 0x9b10a4e5e9913129, 0xe7109bfba19c0c9d, 0xac2820d9623bf429,
	0x80444b5e7aa7cf85, 0xbf21e44003acdd2d, 0x8e679c2f5e44ff8f, 0xd433179d9c8cb841, 0x9e19db92b4e31ba9,
	0xeb96bf6ebadf77d9, 0xaf87023b9bf0ee6b}
