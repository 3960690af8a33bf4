package doctor

import "testing"

// Most commands have nothing to do with a lock, and must cost nothing, also while there are locks.
func BenchmarkCommandsThatHaveNothingToDoWithLocks(b *testing.B) {
	d := New(nil, nil, 0)
	take := words("SET lock:a 0123456789abcdef NX PX 30000")
	d.Command(&Event{Client: 1, Command: "set", Args: take, Reply: encode("OK")})
	get, set := words("GET key"), words("SET key value")
	b.ReportAllocs()
	for b.Loop() {
		if d.Concerns("get", 0, get, "") || d.Concerns("set", 0, set, "") {
			b.Fatal("it is")
		}
	}
}
