package luaeval

import (
	"fmt"

	lua "github.com/yuin/gopher-lua"
)

const (
	maxLocals   = 200 // local variables of a function at a time (luaconf.h: LUAI_MAXVARS)
	maxUpvalues = 60  // upvalues of a function (luaconf.h: LUAI_MAXUPVALUES)
	maxTargets  = 199 // targets of one assignment (lparser.c: assignment)

	// maxLabels bounds the jump targets of a function. gopher-lua's compiler first writes their
	// numbers into the jumps. There are up to four for each if, loop, comparison, `and` and `or`.
	maxLabels = 1 << 17
	// maxFunctions bounds the functions of a text. gopher-lua's compiler takes 17 KB for each.
	maxFunctions = 10000
	// maxWork bounds the steps that the compiler spends on finding names and constants in lists.
	maxWork = 1 << 28
)

// variable is a local variable in scope.
type variable struct {
	name  string
	hides int // index of the outer variable with the same name, or -1
	in    *function
	block *block

	counts  bool // a loop sets it, to numbers up to largest
	largest float64
}

// block is a block of the text, such as the body of a function or a loop.
type block struct {
	outer    *block
	in       *function
	loop     bool
	depth    int
	captured bool // a function uses one of its variables
	broken   bool // a break leaves the block and the loop around it
	unclosed bool // of a loop: it has a block that is captured and broken
}

// function is what the walk knows of a function that it is in.
type function struct {
	outer    *function
	line     int
	active   int
	labels   int
	upvalues []int               // indexes of variables of outer functions
	index    map[lua.LValue]bool // constants that the compiler looks for
	methods  map[string]bool

	constants []lua.LValue // constants that useMarks adds
	numbers   map[lua.LValue]int32
}

func (f *function) String() string {
	if f.outer == nil {
		return "main function"
	}
	return fmt.Sprint("function at line ", f.line)
}

func (w *rewriter) isLocal(name string) bool {
	_, ok := w.byName[name]
	return ok
}

// declare adds variables to the current block.
func (w *rewriter) declare(line int, names ...string) {
	for _, name := range names {
		hides, ok := w.byName[name]
		if !ok {
			hides = -1
		}
		w.byName[name] = len(w.vars)
		w.vars = append(w.vars, variable{name: name, hides: hides, in: w.fn, block: w.block})
		if w.fn.active++; w.fn.active > maxLocals {
			w.fail(line, fmt.Sprint(w.fn, " has more than ", maxLocals, " local variables"))
		}
	}
}

// enter begins a block. It returns the argument for leave.
func (w *rewriter) enter(loop bool) (from int) {
	b := &block{outer: w.block, in: w.fn, loop: loop}
	if w.block != nil {
		b.depth = w.block.depth + 1
	}
	w.block = b
	return len(w.vars)
}

func (w *rewriter) leave(from int) {
	b := w.block
	for i := len(w.vars) - 1; i >= from; i-- {
		v := w.vars[i]
		if v.hides < 0 {
			delete(w.byName, v.name)
		} else {
			w.byName[v.name] = v.hides
		}
	}
	w.fn.active -= len(w.vars) - from
	w.vars = w.vars[:from]
	w.block = b.outer
	w.spend(b.depth)
	if b.captured && b.broken {
		w.loop().unclosed = true
	}
}

// loop returns the innermost loop of the current function, or nil.
func (w *rewriter) loop() *block {
	b := w.block
	for b != nil && b.in == w.fn && !b.loop {
		b = b.outer
	}
	if b == nil || b.in != w.fn {
		return nil
	}
	return b
}

// breaks notes which blocks a break leaves.
func (w *rewriter) breaks() {
	if w.loop() == nil {
		return
	}
	for b := w.block; !b.loop; b = b.outer {
		b.broken = true
	}
}

// use notes a use of a local variable.
func (w *rewriter) use(name string, line int) {
	i := w.byName[name]
	v := w.vars[i]
	w.spend(len(w.vars) - i + w.block.depth - v.block.depth)
	for f := w.fn; f != v.in; f = f.outer {
		v.block.captured = true
		known := false
		for _, up := range f.upvalues {
			known = known || up == i
		}
		if known {
			return
		}
		if f.upvalues = append(f.upvalues, i); len(f.upvalues) > maxUpvalues {
			w.fail(line, fmt.Sprint(f, " has more than ", maxUpvalues, " upvalues"))
			return
		}
	}
}

// labels counts jump targets.
func (w *rewriter) labels(n int) {
	if w.fn.labels += n; w.fn.labels > maxLabels {
		w.fail(w.line, fmt.Sprint(w.fn, " has more than ", maxLabels, " jumps"))
	}
}

// spend counts steps that the compiler will take.
func (w *rewriter) spend(steps int) {
	if w.work += steps; w.work > maxWork {
		w.fail(w.line, "chunk has too many names and constants to be compiled")
	}
}
