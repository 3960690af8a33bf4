package grade

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/miniredisd/miniredisd/course/labs"
)

// Lab is one of the thirteen labs.
type Lab struct {
	ID string // L01 to L13

	masters  int  // servers to start for each test, 0 in a lab about servers
	explored bool // a lab about clients whose tests start servers again and again
	tests    []test
}

// test is one row of the grade. Its points are given whole or not at all.
type test struct {
	name   say
	points int
	play   func(*story)
	bare   bool // its recording has no snapshots, because it has too many events
}

// say is a text in both languages, for fmt.
type say struct{ en, zh string }

func (t say) in(lang string, args ...any) string {
	format := t.en
	if lang == "zh" {
		format = t.zh
	}
	if len(args) == 0 {
		return format
	}
	return fmt.Sprintf(format, args...)
}

// List returns the labs in order.
func List() []*Lab {
	return []*Lab{
		{ID: "L01", tests: respTests()},
		{ID: "L02", tests: slowTests()},
		{ID: "L03", tests: raceTests()},
		{ID: "L04", tests: reactorTests()},
		{ID: "L05", masters: 1, tests: scanTests()},
		{ID: "L06", masters: 1, tests: crashTests()},
		{ID: "L07", masters: 1, tests: deleteTests()},
		{ID: "L08", masters: 1, tests: resendTests()},
		{ID: "L09", masters: 1, tests: watchdogTests()},
		{ID: "L10", masters: 1, tests: wakeupTests()},
		{ID: "L11", masters: 5, tests: redlockTests()},
		{ID: "L12", tests: threadTests()},
		{ID: "L13", explored: true, tests: exploreTests()},
	}
}

// Find returns a lab by its name: L04, L4, l4 or 4.
func Find(name string) (*Lab, error) {
	n, err := strconv.Atoi(strings.TrimLeft(name, "Ll"))
	if err == nil {
		for _, l := range List() {
			if l.ID == fmt.Sprintf("L%02d", n) {
				return l, nil
			}
		}
	}
	return nil, fmt.Errorf("there is no lab '%s': miniredisd grade list shows all", name)
}

func (l *Lab) folder() string { return labs.Folder(l.ID) }

// Text returns the text of the lab. lang is en or zh.
func (l *Lab) Text(lang string) (labs.Text, error) { return labs.Read(l.folder(), lang) }

// WriteTemplate writes the skeleton of the lab into dir, and returns the names of its files.
func (l *Lab) WriteTemplate(language, dir string) ([]string, error) {
	return labs.WriteTemplate(l.folder(), language, dir, l.masters > 0 || l.explored)
}

// Points returns the points of all tests.
func (l *Lab) Points() (sum int) {
	for _, t := range l.tests {
		sum += t.points
	}
	return sum
}
