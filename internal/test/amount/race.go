//go:build race

package amount

const raceDetector = true
