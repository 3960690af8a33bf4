package doctor

import "testing"

// Most commands have nothing to do with a lock, and must cost nothing.
func BenchmarkCommandsThatHaveNothingToDoWithLocks(b *testing.B) {
	d := New(nil, nil, 0)
	get := [][]byte{[]byte("GET"), []byte("key")}
	set := [][]byte{[]byte("SET"), []byte("key"), []byte("value")}
	b.ReportAllocs()
	for b.Loop() {
		if d.Concerns("get", 0, get, "") || d.Concerns("set", 0, set, "") {
			b.Fatal("it is")
		}
	}
}
