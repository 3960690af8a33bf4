package holders

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/lab"
)

func TestNamesThatDifferInNumbersAreOneClass(t *testing.T) {
	for name, want := range map[string]string{
		"lock:user:17":      "lock:user:#",
		"lock:user:1234567": "lock:user:#",
		"lock:9f86d081-884c-7d65-9a2f-eaa0c55ad015": "lock:*-#c-#d#-#a#f-*",
		"lock:order":                         "lock:order",
		"interop:ioredis 5.11.1:wakeup:2211": "interop:ioredis #.#.#:wakeup:#",
		"{user1}:lock":                       "{user#}:lock",
	} {
		require.Equal(t, want, Class(name), name)
	}
}

func TestNamesOfLocksAreKnownByTheirWords(t *testing.T) {
	for name, want := range map[string]bool{
		"lock": true, "myLock": true, "JOB_LOCK:17": true, "joblock:17": true, "{a}:dblock": true, "redlock:x": true,
		"locks/17": true, "mutex:a": true, "cron:leader": true, "lease:17": true, "block:lock": true, "release-lock": true,
		"block:17": false, "blockchain": false, "clock": false, "leaderboard": false, "release:1.2": false,
		"lockout:17": false, "stock:17": false, "cache:a": false, "": false,
		"please": false, "lockdown": false, "please:lockout:lock": true,
	} {
		require.Equal(t, want, SoundsLikeLock(name), name)
	}
}

func TestTokensLookRandomAndDataDoesNot(t *testing.T) {
	for value, want := range map[string]bool{
		"550e8400-e29b-41d4-a716-446655440000":                    true,
		"0123456789abcdef0123456789abcdef:88":                     true,
		"1234567890123456789":                                     true,
		"dGhpcyBpcyBhIHRva2VuMTIz":                                true,
		"\x01\xf3k\x99\x07\xe0\x1c\xbb\x02Q\xd1z\xfe\x88\x10\x7f": true,
		"ADDED:2026-11-21T13:20:18.000Z@host":                     true,
		"OjjJlH+WStWqxMDORSuDCQ==":                                true,
		"ThisIsTheNameOfAClassInJava":                             false,
		"short1":                                                  false,
		"justsomelettersandnothingelse":                           false,
		`{"id":17,"name":"somebody"}`:                             false,
		"[1,2,3,4,5,6,7,8,9,10]":                                  false,
		"the answer is 42, he said":                               false,
		"https://example.com/17":                                  false,
		"<p>17 pages are here</p>":                                false,
		"\x82\xa4name\xa5alice\xa2id\xcd\x01\x11":                 false,
		strings.Repeat("0123456789", 20):                          false,
	} {
		require.Equal(t, want, LooksRandom(value), "%q", value)
	}
}

func TestRandomBytesLookRandomInALog(t *testing.T) {
	chance := rand.New(rand.NewPCG(1, 2))
	for _, size := range []int{16, 20, 32, 64} {
		for range 20_000 {
			token := make([]byte, size)
			for i := range token {
				token[i] = byte(chance.Uint32())
			}
			require.True(t, LooksRandom(string(token)), "%q", token)
			require.True(t, LooksRandom(lab.Printable(string(token))), "%q", token)
		}
	}
	data := "\x82\xa4name\xa5alice\xa2id\xcd\x01\x11"
	require.False(t, LooksRandom(lab.Printable(data)))
}
