package luaeval

import (
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/miniredisd/miniredisd/luaeval/lualib"
	"github.com/miniredisd/miniredisd/resp"
)

// maxReplyDepth is how deep a returned table may nest. A table that contains itself ends here.
const maxReplyDepth = 1998

// writeReply appends v as the script's reply. It fails when that takes too much memory: tables that
// contain a few others several times can make an endless reply.
func (e *Engine) writeReply(w *resp.Writer, v lua.LValue) error {
	e.run.replied, e.run.cut = len(w.Buf), nil
	e.writeValue(w, v, 0)
	return e.run.cut
}

// cutReply counts units of work, and the bytes written since the last call. It reports whether the
// reply must end here.
func (e *Engine) cutReply(w *resp.Writer, units int) bool {
	r := &e.run
	if r.cut == nil {
		r.cut = e.limits.Tick(units)
	}
	if n := len(w.Buf) - r.replied; n > lualib.Portion && r.cut == nil {
		r.replied = len(w.Buf)
		r.cut = e.limits.Charge(n)
	}
	return r.cut != nil
}

func (e *Engine) writeValue(w *resp.Writer, v lua.LValue, depth int) {
	if e.cutReply(w, 1) {
		return
	}
	switch v := v.(type) {
	case lua.LString:
		w.BulkString(string(v))
	case lua.LNumber:
		w.Int(lualib.Truncate(float64(v)))
	case lua.LBool:
		switch {
		case e.run.proto == 3:
			w.Bool(bool(v))
		case bool(v):
			w.Int(1)
		default:
			w.Null()
		}
	case *lua.LTable:
		if depth > maxReplyDepth {
			w.Error("ERR reached lua stack limit")
			return
		}
		e.writeTable(w, v, depth+1)
	default:
		w.Null()
	}
}

func (e *Engine) writeTable(w *resp.Writer, t *lua.LTable, depth int) {
	if e.cutReply(w, lualib.NextWork) || e.writeTagged(w, t, depth) {
		return
	}
	n := 0
	for lualib.Element(t, n+1) != lua.LNil && !e.cutReply(w, 1) {
		n++
	}
	w.Array(n)
	for i := 1; i <= n; i++ {
		e.writeValue(w, lualib.Element(t, i), depth)
	}
}

// writeTagged writes a table that stands for one reply of a certain type, and reports whether it
// was one.
func (e *Engine) writeTagged(w *resp.Writer, t *lua.LTable, depth int) bool {
	// An empty table is an array: spare it seven look-ups.
	if k, _ := t.Next(lua.LNil); k == lua.LNil {
		return false
	}
	if text, ok := t.RawGetString("err").(lua.LString); ok {
		line := beforeZero(string(text))
		w.Error(line)
		if e.o.Failed != nil {
			e.o.Failed(line, isCounted(t))
		}
		return true
	}
	if text, ok := t.RawGetString("ok").(lua.LString); ok {
		w.Status(beforeZero(string(text)))
		return true
	}
	if n, ok := t.RawGetString("double").(lua.LNumber); ok {
		w.Double(float64(n))
		return true
	}
	if m, ok := t.RawGetString("map").(*lua.LTable); ok {
		e.writePairs(w, m, depth, true)
		return true
	}
	if m, ok := t.RawGetString("set").(*lua.LTable); ok {
		e.writePairs(w, m, depth, false)
		return true
	}
	if text, ok := t.RawGetString("big_number").(lua.LString); ok {
		w.BigNumber(oneLine(string(text)))
		return true
	}
	if m, ok := t.RawGetString("verbatim_string").(*lua.LTable); ok {
		text, isText := m.RawGetString("string").(lua.LString)
		format, isFormat := m.RawGetString("format").(lua.LString)
		if isText && isFormat {
			w.Verbatim(string(format), string(text))
			return true
		}
	}
	return false
}

// oneLine replaces line ends by spaces.
func oneLine(text string) string {
	return strings.Map(func(c rune) rune {
		if c == '\r' || c == '\n' {
			return ' '
		}
		return c
	}, text)
}

func (e *Engine) writePairs(w *resp.Writer, m *lua.LTable, depth int, values bool) {
	mark := w.Defer()
	n := 0
	for k, v := m.Next(lua.LNil); k != lua.LNil; k, v = m.Next(k) {
		e.writeValue(w, k, depth)
		if values {
			e.writeValue(w, v, depth)
		}
		n++
	}
	if values {
		w.EndMap(mark, n)
	} else {
		w.EndSet(mark, n)
	}
}

// beforeZero is text up to its first zero byte, where Redis ends the line of an error or a status.
func beforeZero(text string) string {
	line, _, _ := strings.Cut(text, "\x00")
	return line
}

// writeFailure appends the reply of a script that ended with an error.
func (e *Engine) writeFailure(w *resp.Writer, err error) {
	f := &e.run.fail
	if f.text == "" {
		f.text = "ERR unknown error"
		if failed, ok := err.(*lua.ApiError); ok {
			f.text, f.counted = e.errorText(failed.Object), isCounted(failed.Object)
		}
	}
	text := beforeZero(f.text)
	if f.source == "" {
		f.place(text)
	}
	if f.source != "" {
		name := e.run.name + ", "
		if e.o.Server.Anonymous {
			name = ""
		}
		text += " script: " + name + "on " + f.source + ":" + strconv.Itoa(f.line) + "."
	}
	w.Error(text)
	if e.o.Failed != nil {
		e.o.Failed(text, f.counted)
	}
}

// place reads the position from the text of an error. It is for errors that left no stack for the
// error handler.
func (f *failure) place(text string) {
	for _, chunk := range []string{chunkName, libraryChunk} {
		_, rest, found := strings.Cut(text, chunk+":")
		digits, _, ended := strings.Cut(rest, ":")
		if line, err := strconv.Atoi(digits); found && ended && err == nil {
			f.source, f.line = "@"+chunk, line
			return
		}
	}
}
