package store

import (
	"encoding/binary"
	"math/bits"
)

// Seed is the key of the hash function of every table of a Keyspace. A secret seed keeps clients
// from choosing keys that collide. A fixed seed fixes every iteration order.
type Seed struct{ k0, k1 uint64 }

// NewSeed derives the two halves of a hash key from n.
func NewSeed(n uint64) *Seed {
	return &Seed{mix(n), mix(n + 1)}
}

// mix is the finalizer of SplitMix64. Neighbouring seeds give unrelated keys.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// tableHash is the hash in the node of a key.
func (s *Seed) tableHash(key []byte) uint32 { return uint32(s.hash(key)) | liveBit }

// hash is SipHash-1-3. Redis uses SipHash-1-2 (siphash.c) for the same reason: an attacker who does
// not know the key cannot choose collisions, and short names are cheap to hash.
func (s *Seed) hash(p []byte) uint64 {
	v0 := s.k0 ^ 0x736f6d6570736575
	v1 := s.k1 ^ 0x646f72616e646f6d
	v2 := s.k0 ^ 0x6c7967656e657261
	v3 := s.k1 ^ 0x7465646279746573
	last := uint64(len(p)) << 56
	for len(p) >= 8 {
		m := binary.LittleEndian.Uint64(p)
		v3 ^= m
		v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
		v0 ^= m
		p = p[8:]
	}
	for i, c := range p {
		last |= uint64(c) << (8 * i)
	}
	v3 ^= last
	v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
	v0 ^= last
	v2 ^= 0xff
	v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
	v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
	v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
	return v0 ^ v1 ^ v2 ^ v3
}

func sipRound(v0, v1, v2, v3 uint64) (uint64, uint64, uint64, uint64) {
	v0 += v1
	v2 += v3
	v1 = bits.RotateLeft64(v1, 13) ^ v0
	v3 = bits.RotateLeft64(v3, 16) ^ v2
	v0 = bits.RotateLeft64(v0, 32)
	v2 += v1
	v0 += v3
	v1 = bits.RotateLeft64(v1, 17) ^ v2
	v3 = bits.RotateLeft64(v3, 21) ^ v0
	v2 = bits.RotateLeft64(v2, 32)
	return v0, v1, v2, v3
}
