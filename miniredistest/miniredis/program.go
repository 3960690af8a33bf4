package miniredis

import (
	"fmt"
	"testing"
)

// program stands for the test of a Miniredis that Run or Start has started: there is none.
type program struct {
	testing.TB // nil: package miniredistest calls only the methods below
	failed     bool
	cleanups   []func()
}

func (p *program) Helper()             {}
func (p *program) Failed() bool        { return p.failed }
func (p *program) Logf(string, ...any) {}
func (p *program) Cleanup(end func())  { p.cleanups = append(p.cleanups, end) }

func (p *program) Errorf(format string, args ...any) { p.Fatalf(format, args...) }

func (p *program) Fatalf(format string, args ...any) {
	p.failed = true
	panic(failure{fmt.Errorf(format, args...)})
}

// failure is the panic of Fatalf.
type failure struct{ error }

// recover turns a failure into an error.
func (p *program) recover(err *error) {
	switch r := recover().(type) {
	case nil:
	case failure:
		*err = r.error
	default:
		panic(r)
	}
}

// end calls the cleanups, the last one first.
func (p *program) end() {
	for i := len(p.cleanups) - 1; i >= 0; i-- {
		p.cleanups[i]()
	}
	p.cleanups = nil
}
