package command

import "math/bits"

// Histogram counts durations in buckets whose width is a thirty-second of their value. Redis uses an HDR
// histogram of two digits (latency.c).
type Histogram struct {
	Count   int64
	buckets [32 * 28]int64
}

// largest is the longest duration with a bucket of its own, in ns: about two seconds.
const largest = 1<<31 - 1

// add counts a call of that many ns (server.c: updateCommandLatencyHistogram).
func (h *Histogram) add(nanos int64) {
	h.Count++
	h.buckets[bucket(nanos)]++
}

func bucket(nanos int64) int {
	n := uint64(max(min(nanos, largest), 0))
	shift := max(bits.Len64(n)-6, 0)
	return shift<<5 + int(n>>shift)
}

// upper returns the largest duration of bucket i.
func upper(i int) int64 {
	if i < 64 {
		return int64(i)
	}
	shift := i>>5 - 1
	return int64(i-shift<<5+1)<<shift - 1
}

// Percentile returns the duration in nanoseconds that p percent of the calls did not exceed.
func (h *Histogram) Percentile(p float64) int64 {
	rank := max(int64(p/100*float64(h.Count)+0.5), 1)
	for i, n := range h.buckets {
		if rank -= n; rank <= 0 {
			return upper(i)
		}
	}
	return largest
}

// cumulative calls fn with the number of calls that took at most 1, 2, 4 ... microseconds, wherever the
// number changes. The limits are those of Redis's histogram, a little above powers of two: 33, 66, 132.
func (h *Histogram) cumulative(fn func(micros, calls int64)) {
	seen, i := int64(0), 0
	for limit := int64(1024); seen < h.Count; limit *= 2 {
		before, bound := seen, limit+limit/128
		for ; i < len(h.buckets) && (upper(i) < bound || bound > largest); i++ {
			seen += h.buckets[i]
		}
		if seen > before {
			fn((bound-1)/1000, seen)
		}
	}
}
