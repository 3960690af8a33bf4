package aof_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/persist/aof"
)

// sample is a file with everything that Redis writes.
func sample() string {
	return "#TS:1700000000\r\n" + request("SELECT", "0") + request("SET", "k", "a\r\n*1\r\n") + "#TS:1700000001\r\n" +
		request("MULTI") + request("RPUSH", "l", "", "b") + request("PEXPIREAT", "l", "1700000000000") + request("EXEC") +
		request("DEL", "k")
}

// requireSound reads bytes that may be anything. They take no more memory than their length allows, and what the error
// calls whole is whole.
func requireSound(t testing.TB, b []byte) {
	var before, after runtime.MemStats
	var p replay
	runtime.ReadMemStats(&before)
	err := p.loading().Read(bytes.NewReader(b), int64(len(b)), "f")
	runtime.ReadMemStats(&after)
	require.LessOrEqual(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20+50*len(b)))
	var damage *aof.DamageError
	if err == nil || bytes.HasPrefix(b, []byte("REDIS")) || bytes.HasPrefix(b, []byte("VALKEY")) {
		return
	}
	require.ErrorAs(t, err, &damage)
	require.LessOrEqual(t, damage.Whole, damage.Offset)
	require.LessOrEqual(t, damage.Offset, int64(len(b)))
	var again replay
	require.NoError(t, again.loading().Read(bytes.NewReader(b), damage.Whole, "f"))
	require.Equal(t, strings.Join(again.steps, "\n"), strings.Join(p.steps[:len(again.steps)], "\n"))
}

// FuzzRead takes any bytes for a part.
func FuzzRead(f *testing.F) {
	f.Add([]byte(sample()))
	f.Add([]byte("REDIS0011\xff" + sample()))
	f.Add([]byte("*9223372036854775807\r\n$9223372036854775807\r\n"))
	f.Fuzz(func(t *testing.T, b []byte) { requireSound(t, b) })
}

// FuzzManifest takes any bytes for a manifest. What is read can be written and read again.
func FuzzManifest(f *testing.F) {
	f.Add("file a.1.base.rdb seq 1 type b\nfile a.1.incr.aof seq 1 type i\n")
	for text := range badManifests() {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := manifest(t, text)
		if err != nil {
			require.ErrorAs(t, err, new(*aof.DamageError))
			return
		}
		all := append(m.Parts(), m.History...)
		require.LessOrEqual(t, len(all), strings.Count(text, "\n"))
		var again strings.Builder
		for _, p := range all {
			require.NotContains(t, p.Name, "/")
			fmt.Fprintf(&again, "file %q seq %d type %c\n", p.Name, p.Seq, p.Type)
		}
		if len(all) == 0 || strings.ContainsFunc(again.String(), unwritable) {
			return
		}
		same, err := manifest(t, again.String())
		require.NoError(t, err, again.String())
		require.Equal(t, m, same)
	})
}

// unwritable are characters that %q writes otherwise than Redis reads them, and a type that is no letter.
func unwritable(r rune) bool { return r != '\n' && (r < ' ' || r > '~') || r == '\\' }

func TestRandomDamageIsRefusedOrHarmless(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		b := []byte(sample())
		for range 1 + r.IntN(3) {
			switch at := r.IntN(len(b)); r.IntN(3) {
			case 0:
				b[at] ^= 1 << r.IntN(8)
			case 1:
				b = append(b[:at], b[min(len(b), at+r.IntN(8)):]...)
			case 2:
				b = append(b[:at:at], append([]byte("$5\r\n*0-#")[r.IntN(8):], b[at:]...)...)
			}
			if len(b) == 0 {
				break
			}
		}
		requireSound(t, b)
	}
}

func TestALengthCannotClaimMemory(t *testing.T) {
	for _, text := range []string{
		"*1\r\n$9223372036854775807\r\n", "*1\r\n$9223372036854775800\r\nabc", "*9223372036854775807\r\n$0\r\n\r\n",
		"*1\r\n$1000000000\r\n" + strings.Repeat("x", 1000), strings.Repeat("*1000000000\r\n$0\r\n\r\n", 2),
		"*100000\r\n" + strings.Repeat("$0\r\n\r\n", 50_000),
	} {
		requireSound(t, []byte(text))
	}
}
