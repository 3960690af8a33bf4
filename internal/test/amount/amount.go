// Package amount says how much of a test runs, and how many tests run side by side.
//
// A person who waits for the tests gets a part of the cases of a test that has many. With CI=true all of them run,
// but not under the race detector: it looks at goroutines that meet, and they meet in a part of the cases, too.
package amount

import (
	"flag"
	"hash/fnv"
	"os"
	"strconv"
	"testing"
)

// Whole reports whether the tests run all of their cases: with CI=true, without the race detector.
func Whole() bool { return os.Getenv("CI") == "true" && !raceDetector }

// Count returns how many cases run: all of them if Whole, and otherwise few.
func Count(few, all int) int {
	if Whole() {
		return all
	}
	return few
}

// Picked reports whether the case with a name runs: about one of n, always the same ones, or all if Whole.
func Picked(name string, n uint32) bool {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(name)) // never fails
	return Whole() || sum.Sum32()%n == 0
}

// Large skips a test that takes long and shows what others show in small, unless the tests run all of their cases.
func Large(t testing.TB) {
	t.Helper()
	if !Whole() {
		t.Skip("CI=true runs it, because it takes long")
	}
}

// SideBySide lets n tests with t.Parallel run at once, unless the command line says how many. It is for packages
// whose tests mostly wait. TestMain calls it before m.Run.
func SideBySide(n int) {
	flag.Parse()
	asked := false
	flag.Visit(func(f *flag.Flag) { asked = asked || f.Name == "test.parallel" })
	if asked {
		return
	}
	if err := flag.Set("test.parallel", strconv.Itoa(n)); err != nil {
		panic(err) // not a test
	}
}
