package luaeval

import (
	"fmt"

	lua "github.com/yuin/gopher-lua"
)

const (
	maxLocals   = 200 // of a function at a time (luaconf.h: LUAI_MAXVARS)
	maxUpvalues = 60  // of a function (luaconf.h: LUAI_MAXUPVALUES)
	maxTargets  = 199 // of one assignment (lparser.c: assignment)

	// maxLabels bounds the places to jump to in a function: until it knows where they are,
	// gopher-lua's compiler has their numbers in the instructions. There are up to four for each
	// `if`, loop, comparison, `and` and `or`.
	maxLabels = 1 << 17
	// maxFunctions bounds the functions of a text: gopher-lua's compiler takes 17 KB for each.
	maxFunctions = 10000
	// maxWork bounds the steps the compiler spends on finding names and constants, which it does by
	// walking lists.
	maxWork = 1 << 28
)

// variable is a local variable in scope.
type variable struct {
	name  string
	hides int // the index of the variable with this name around it, or -1
	in    *function
	block *block
}

// block is a block of the text: a function's body, a loop's or another.
type block struct {
	outer    *block
	in       *function
	loop     bool
	depth    int
	captured bool // a function uses one of its variables
	broken   bool // a break leaves it and the loop around it
	unclosed bool // of a loop: a block inside is captured and broken
}

// function is what the walk knows of the function it is in.
type function struct {
	outer    *function
	line     int
	active   int
	labels   int
	upvalues []int               // indexes of variables of functions around it
	index    map[lua.LValue]bool // constants left to the compiler
	methods  map[string]bool

	constants []lua.LValue // left to useMarks
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

// declare adds variables to the block.
func (w *rewriter) declare(line int, names ...string) {
	for _, name := range names {
		hides, ok := w.byName[name]
		if !ok {
			hides = -1
		}
		w.byName[name] = len(w.vars)
		w.vars = append(w.vars, variable{name, hides, w.fn, w.block})
		if w.fn.active++; w.fn.active > maxLocals {
			w.fail(line, fmt.Sprint(w.fn, " has more than ", maxLocals, " local variables"))
		}
	}
}

// enter begins a block and returns what leave needs.
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

// loop is the innermost loop around the walk, or nil.
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

// breaks notes the blocks that a break leaves.
func (w *rewriter) breaks() {
	if w.loop() == nil {
		return
	}
	for b := w.block; !b.loop; b = b.outer {
		b.broken = true
	}
}

// use notes that the walk has come to a local variable.
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

// labels counts places to jump to.
func (w *rewriter) labels(n int) {
	if w.fn.labels += n; w.fn.labels > maxLabels {
		w.fail(w.line, fmt.Sprint(w.fn, " has more than ", maxLabels, " jumps"))
	}
}

// spend counts steps of the compiler.
func (w *rewriter) spend(steps int) {
	if w.work += steps; w.work > maxWork {
		w.fail(w.line, "chunk has too many names and constants to be compiled")
	}
}
