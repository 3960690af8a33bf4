package hll

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSelfTestFindsNoFault(t *testing.T) { require.Empty(t, SelfTest()) }

// The hash decides which bytes a value has: these are the registers a real redis-server sets.
func TestElementsSetTheRegistersThatRedisSets(t *testing.T) {
	for element, want := range map[string]string{
		"": "Z:5938 v:2,1 Z:10445", "a": "Z:12711 v:2,1 Z:3672", "abcdefgh": "Z:1383 v:1,1 Z:15000",
		"abcdefghi": "Z:6903 v:1,1 Z:9480", "123456789012345678901234567890": "Z:2104 v:3,1 Z:14279",
	} {
		s := New()
		s.Add([]byte(element), 3000)
		require.Equal(t, want, s.Decode(), "%q", element)
	}
}

func registersOf(t *testing.T, s Sketch) Union {
	t.Helper()
	var u Union
	require.True(t, u.Take(s))
	return u
}

func TestBothFormsHoldTheSameRegistersAtAnyLengthOfTheSparseOne(t *testing.T) {
	for _, sparseMax := range []int{0, 20, 100, 3000, math.MaxInt} {
		s, twin := New(), New()
		require.True(t, twin.Densify())
		for i := range 3000 {
			element := strconv.AppendInt(nil, int64(i*i), 10)
			changed, sound := s.Add(element, sparseMax)
			again, _ := twin.Add(element, sparseMax)
			require.True(t, sound)
			require.Equal(t, again, changed)
			require.True(t, s.Dense() || len(s) <= max(sparseMax, headerSize+2))
			if i%100 == 0 {
				require.Equal(t, registersOf(t, twin), registersOf(t, s))
				count, sound := s.Count()
				same, _ := twin.Count()
				require.True(t, sound)
				require.Equal(t, same, count)
			}
		}
	}
}

func TestCountIsWithinThreePercentFromOneToAMillion(t *testing.T) {
	s := New()
	for n := 1; n <= 1_000_000; n++ {
		s.Add(strconv.AppendInt(nil, int64(n), 16), 3000)
		if n&(n-1) == 0 {
			count, _ := s.Count()
			require.InEpsilon(t, n, count, 0.03)
		}
	}
}

func TestAMergedSketchIsThatOfAllElements(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	all, parts := New(), []Sketch{New(), New(), New()}
	for range 5000 {
		element := strconv.AppendUint(nil, r.Uint64N(3000), 10)
		all.Add(element, 3000)
		parts[r.IntN(3)].Add(element, 3000)
	}
	require.True(t, parts[1].Densify())
	var u Union
	for _, p := range parts {
		require.True(t, u.Take(p))
	}
	require.Equal(t, registersOf(t, all), u)
	count, _ := all.Count()
	require.Equal(t, count, u.Count())
	for _, sparseMax := range []int{100, math.MaxInt} {
		merged := New()
		merged.Merge(&u, sparseMax)
		require.Equal(t, u, registersOf(t, merged))
	}
}

func TestTheCachedCountIsStaleAfterAChange(t *testing.T) {
	s := New()
	count, fresh := s.Cached()
	require.True(t, fresh)
	require.Zero(t, count)
	s.Add([]byte("a"), 3000)
	_, fresh = s.Cached()
	require.False(t, fresh)
	s.Cache(12345)
	count, fresh = s.Cached()
	require.True(t, fresh)
	require.Equal(t, uint64(12345), count)
}

func TestCountingElementsInAllocatesNothing(t *testing.T) {
	for _, sparseMax := range []int{0, 3000} {
		s := New()
		for i := range 500 {
			s.Add([]byte(fmt.Sprint(i)), sparseMax)
		}
		element := []byte("one that comes again and again")
		s.Add(element, sparseMax)
		require.Zero(t, testing.AllocsPerRun(100, func() { s.Add(element, sparseMax) }))
		require.Zero(t, testing.AllocsPerRun(10, func() { s.Count() }))
	}
}

// Values come from clients, byte by byte as they like.
func FuzzAnyBytesAreRefusedOrCounted(f *testing.F) {
	f.Add([]byte(New()), []byte("a"))
	f.Add([]byte("HYLL\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80\x7f"), []byte("b"))
	f.Add([]byte("HYLL\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80\x88\x88\x7f\xfd"), []byte("c"))
	f.Add([]byte("HYLL\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80\x7f\xff\xff"), []byte("d"))
	f.Fuzz(func(t *testing.T, value, element []byte) {
		if !Valid(value) {
			return
		}
		s := Sketch(value)
		_, sound := s.Count()
		var u Union
		mergeable := u.Take(s)
		require.True(t, mergeable || !sound, "what can be counted can be merged")
		s.Decode()
		twin := Sketch(bytes.Clone(value))
		require.Equal(t, mergeable, twin.Densify())
		_, added := s.Add(element, 3000)
		require.True(t, added || !sound, "what can be counted can be added to")
	})
}

func TestEightRegistersAreReadAndMergedAtOnce(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 10 {
		packed, others := make([]byte, registers*registerBits/8), Union{}
		for i := range others {
			setDense(packed, i, uint8(random.IntN(registerMax+1)))
			others[i] = uint8(random.IntN(registerMax + 1))
		}
		got := others
		got.takeDense(packed)
		for i := range got {
			if want := max(others[i], denseRegister(packed, i)); got[i] != want {
				require.Equal(t, want, got[i], "register %d", i)
			}
		}
	}
}
