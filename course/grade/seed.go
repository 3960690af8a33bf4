package grade

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"strconv"
)

// SeedOf derives the seed of a student in a lab. Without a secret, students can compute their own and grade
// themselves as their teacher does. Nobody can without the secret of a teacher who has one.
func SeedOf(lab, student, secret string) uint64 {
	sum := hmac.New(sha256.New, []byte(secret))
	sum.Write([]byte(lab + "\x00" + student))
	return binary.BigEndian.Uint64(sum.Sum(nil)) >> 11 // 53 bits: every program that reads JSON can keep them
}

// serverSeed is the seed of the servers. INFO shows it to everybody, and it says nothing about the seed of the tests.
func serverSeed(seed uint64) uint64 {
	return SeedOf("servers", "", strconv.FormatUint(seed, 10))
}
