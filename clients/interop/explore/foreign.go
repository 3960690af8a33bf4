package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/miniredisd/miniredisd/lab/explore"
)

// shown is what another server has shown, of the cells that do not vary.
type shown struct {
	Server string  `json:"server"` // its program and version
	Cells  int     `json:"cells"`  // that were tried
	Others []other `json:"others"` // those with another mark
}

// other is a cell whose mark is another one there.
type other struct {
	Fault string `json:"fault"`
	At    point  `json:"at"`
	Mark  string `json:"mark"`
}

// foreign returns the command of the other server, "" for none.
func (o options) foreign() string {
	if o.server == "" {
		return ""
	}
	return o.server + ` --port {port} --bind 127.0.0.1 --save "" --appendonly no`
}

// plays reports whether a failure can be played at the server.
func (o options) plays(fault string) bool {
	return o.server == "" || (&explore.Options{Foreign: o.server}).Lacks(fault) == ""
}

// note records what another server has shown. Identity is its name and version, and now has the marks that differ.
func (p plan) note(program, identity string, now map[cell]string) error {
	r, err := read(p.path())
	if err != nil {
		return err
	}
	version := identity[strings.LastIndexByte(identity, ' ')+1:]
	r.Shown = &shown{Server: filepath.Base(program) + " " + version, Cells: len(p.cells)}
	for c, mark := range now {
		r.Shown.Others = append(r.Shown.Others, other{c.fault, c.point, cmp.Or(mark, "not tried")})
	}
	slices.SortFunc(r.Shown.Others, func(a, b other) int {
		return cmp.Or(strings.Compare(a.Fault, b.Fault), strings.Compare(a.At.String(), b.At.String()))
	})
	return p.save(r)
}

// has reports whether the other server has shown a finding, too.
func (s *shown) has(f finding) bool {
	differs := func(o other) bool { return o.Fault == f.Fault && o.At == f.At }
	if s == nil || slices.ContainsFunc(s.Others, differs) {
		return false
	}
	return options{server: s.Server}.plays(f.Fault)
}

// steadied returns what another server has shown, of the cells that do not vary now. Marks may be newer than that.
func (r record) steadied() *shown {
	if r.Shown == nil {
		return nil
	}
	s := shown{Server: r.Shown.Server}
	for _, at := range r.steady() {
		if (options{server: s.Server}).plays(at.fault) {
			s.Cells++
		}
	}
	s.Cells = min(s.Cells, r.Shown.Cells)
	for _, o := range r.Shown.Others {
		if mark := r.at(o.At)[o.Fault]; mark != varies && differ(o.Fault, mark, o.Mark) {
			s.Others = append(s.Others, o)
		}
	}
	return &s
}

// number is how many of the marks are the same at the other server.
func (s *shown) number() string {
	if s == nil {
		return "–"
	}
	return fmt.Sprintf("%d of %d", s.Cells-len(s.Others), s.Cells)
}

// lines say what the other server has shown.
func (s *shown) lines() (lines []string) {
	if s == nil {
		return nil
	}
	lines = []string{"", fmt.Sprintf("On %s, %s of the marks are the same.", s.Server, s.number())}
	if len(s.Others) > 0 {
		lines = append(lines, "")
	}
	for _, o := range s.Others {
		lines = append(lines, fmt.Sprintf("* %s at %s: %s on %s", o.Fault, o.At.title(), o.Mark, s.Server))
	}
	return lines
}
