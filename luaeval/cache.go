package luaeval

import (
	"container/list"
	"crypto/sha1"
	"encoding/hex"
	"slices"

	"github.com/miniredisd/miniredisd/luaeval/lualib"
)

// cache keeps the text of every script, as Redis does, and the compiled form of those used last: a
// script that comes again later is compiled again.
type cache struct {
	texts        map[[sha1.Size]byte]string
	size         int // of the texts
	bySHA, byTxt map[string]*Script
	used         list.List // of the compiled ones, the one used last in front
	weight       int       // what they take
}

const (
	mostCompiled  = 500
	mostWeight    = 16 << 20
	scriptWeight  = 6 << 10 // what a short script takes when it is compiled: measured
	weightPerByte = 4       // and a long one for each byte of its text
	textOverhead  = 80      // what a text takes beside its bytes: its place in the map, and what its size is rounded up to
)

func (c *cache) flush() {
	*c = cache{texts: map[[sha1.Size]byte]string{}, bySHA: map[string]*Script{}, byTxt: map[string]*Script{}}
}

// use makes s the script that was used last.
func (c *cache) use(s *Script) *Script {
	if c.used.Front() != s.place {
		c.used.MoveToFront(s.place)
	}
	return s
}

// add keeps s, which was just compiled, and gives up the compiled forms that were not used for
// longest.
func (c *cache) add(sum [sha1.Size]byte, s *Script) {
	if _, known := c.texts[sum]; !known {
		c.texts[sum] = s.Body
		c.size += len(s.Body)
	}
	c.bySHA[s.SHA], c.byTxt[s.Body] = s, s
	s.place = c.used.PushFront(s)
	c.weight += s.weight()
	for c.used.Len() > 1 && (c.used.Len() > mostCompiled || c.weight > mostWeight) {
		old := c.used.Remove(c.used.Back()).(*Script)
		delete(c.bySHA, old.SHA)
		delete(c.byTxt, old.Body)
		c.weight -= old.weight()
	}
}

func (s *Script) weight() int { return scriptWeight + weightPerByte*len(s.Body) }

// sum reads the SHA1 that is written as 40 hexadecimal digits, in any case.
func sum(text []byte) (sum [sha1.Size]byte, ok bool) {
	if len(text) != 2*sha1.Size {
		return sum, false
	}
	_, err := hex.Decode(sum[:], text)
	return sum, err == nil
}

// Find returns the script with this SHA1 in hexadecimal, in any case, or nil.
func (e *Engine) Find(sha []byte) *Script {
	if s := e.scripts.bySHA[string(sha)]; s != nil {
		return e.scripts.use(s)
	}
	sum, ok := sum(sha)
	if !ok {
		return nil
	}
	if s := e.scripts.bySHA[hex.EncodeToString(sum[:])]; s != nil {
		return e.scripts.use(s)
	}
	text, known := e.scripts.texts[sum]
	if !known {
		return nil
	}
	s, err := e.load(sum, text)
	if err != nil {
		return nil // it could be compiled before, and nothing has changed
	}
	return s
}

// Has reports whether there is a script with this SHA1 in hexadecimal, in any case.
func (e *Engine) Has(sha []byte) bool {
	sum, ok := sum(sha)
	_, known := e.scripts.texts[sum]
	return ok && known
}

// Load returns the script with this body, compiled and kept. The text of the error is the reply,
// without '-'.
func (e *Engine) Load(body []byte) (*Script, error) {
	if s := e.scripts.byTxt[string(body)]; s != nil {
		return e.scripts.use(s), nil
	}
	sum := sha1.Sum(body)
	text, known := e.scripts.texts[sum]
	if !known {
		text = string(body)
	}
	return e.load(sum, text)
}

func (e *Engine) load(sum [sha1.Size]byte, body string) (*Script, error) {
	s := &Script{SHA: hex.EncodeToString(sum[:]), Body: body}
	header, code, err := parseHeader(s.Body)
	if err != nil {
		return nil, err
	}
	s.Header = header
	defer e.make()()
	if err := e.compile(s, code); err != nil {
		return nil, err
	}
	s.long = s.long || len(s.fn.Proto.Code) > mostUnwatched
	e.scripts.add(sum, s)
	return s, nil
}

// mostUnwatched is how many instructions run without a context. A few take long: to compare two
// long strings, or to look one up.
const mostUnwatched = 256

// Flush forgets all scripts, and what they have set.
func (e *Engine) Flush() {
	e.json.scripts = lualib.DefaultJSON()
	e.lib.ForgetWords()
	e.scripts.flush()
}

// Renew is Flush for an engine that is to be as new: it forgets what functions have set, too.
func (e *Engine) Renew() {
	e.Flush()
	e.json.functions = lualib.DefaultJSON()
}

// Bodies are the scripts kept, sorted.
func (e *Engine) Bodies() []string {
	bodies := make([]string, 0, len(e.scripts.texts))
	for _, text := range e.scripts.texts {
		bodies = append(bodies, text)
	}
	slices.Sort(bodies)
	return bodies
}

// Len is the number of scripts kept.
func (e *Engine) Len() int { return len(e.scripts.texts) }

// Mem is about what the texts take that are kept (eval.c: evalScriptsMemory).
func (e *Engine) Mem() int { return e.scripts.size + len(e.scripts.texts)*textOverhead }

// stateMem is what a state without scripts takes, without the stacks, whose pages are taken as
// scripts go deep. wordsMem comes with the first error that is said in Lua's words, scopeMem with
// the first library. All are measured: Go does not tell whose memory is whose.
const (
	stateMem = 90 << 10
	wordsMem = 48 << 10
	scopeMem = 21 << 10
)

// LibraryStateMem is about what the interpreter takes for libraries of functions, beside
// [Libraries.Mem] (functions.c: functionsMemory).
func (e *Engine) LibraryStateMem() int {
	if e.libraryScope.library {
		return scopeMem
	}
	return 0
}

// StateMem is about what the interpreter takes and what it has compiled (eval.c: evalMemory).
func (e *Engine) StateMem() int {
	n := stateMem + e.scripts.weight
	if e.lib.KnowsWords() {
		n += wordsMem
	}
	return n
}
