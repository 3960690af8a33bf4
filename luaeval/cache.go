package luaeval

import (
	"container/list"
	"crypto/sha1"
	"encoding/hex"
	"slices"

	"github.com/miniredisd/miniredisd/luaeval/lualib"
)

// cache keeps the text of every script, as Redis does. It keeps the compiled form of the scripts
// used last; an older script is compiled again when it returns.
type cache struct {
	texts        map[[sha1.Size]byte]string
	size         int // of the texts
	bySHA, byTxt map[string]*Script
	used         list.List // compiled scripts, the one used last in front
	weight       int       // bytes of the compiled scripts, estimated
}

const (
	mostCompiled  = 500
	mostWeight    = 16 << 20
	scriptWeight  = 1280 // bytes of a short compiled script: measured
	weightPerByte = 4    // bytes that a compiled script takes for each byte of its text
	textOverhead  = 80   // bytes beside a text: its place in the map, and rounding
)

func (c *cache) flush() {
	*c = cache{texts: map[[sha1.Size]byte]string{}, bySHA: map[string]*Script{}, byTxt: map[string]*Script{}}
}

// use moves s to the front.
func (c *cache) use(s *Script) *Script {
	if c.used.Front() != s.place {
		c.used.MoveToFront(s.place)
	}
	return s
}

// add keeps s, which was just compiled. It drops the compiled forms that were not used for longest.
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

// sum reads a SHA1 of 40 hexadecimal digits, in either case.
func sum(text []byte) (sum [sha1.Size]byte, ok bool) {
	if len(text) != 2*sha1.Size {
		return sum, false
	}
	_, err := hex.Decode(sum[:], text)
	return sum, err == nil
}

// Find returns the script with this SHA1, or nil. The SHA1 is hexadecimal, in either case.
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
		return nil // cannot happen: the text was compiled before
	}
	return s
}

// Has reports whether there is a script with this SHA1, as for Find.
func (e *Engine) Has(sha []byte) bool {
	sum, ok := sum(sha)
	_, known := e.scripts.texts[sum]
	return ok && known
}

// Load returns the script with this body, compiled and kept. The text of an error is the error
// reply without '-'.
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

// mostUnwatched is how many instructions may run without a context. Single ones take long:
// comparing two long strings, or finding one in a table.
const mostUnwatched = 256

// Flush forgets all scripts and their cjson settings.
func (e *Engine) Flush() {
	e.json.scripts = lualib.DefaultJSON()
	e.lib.ForgetWords()
	e.scripts.flush()
}

// Renew makes the engine as new: it is Flush, and forgets the cjson settings of functions too.
func (e *Engine) Renew() {
	e.Flush()
	e.json.functions = lualib.DefaultJSON()
}

// Bodies returns the texts of all scripts, sorted.
func (e *Engine) Bodies() []string {
	bodies := make([]string, 0, len(e.scripts.texts))
	for _, text := range e.scripts.texts {
		bodies = append(bodies, text)
	}
	slices.Sort(bodies)
	return bodies
}

// Len returns the number of scripts.
func (e *Engine) Len() int { return len(e.scripts.texts) }

// Mem estimates the bytes of the scripts' texts (eval.c: evalScriptsMemory).
func (e *Engine) Mem() int { return e.scripts.size + len(e.scripts.texts)*textOverhead }

// Bytes of a state, measured because Go cannot attribute memory. stateMem is a state without
// scripts and without stacks. wordsMem is added by the first error in Lua's words, scopeMem by the
// first library.
const (
	stateMem = 90 << 10
	wordsMem = 48 << 10
	scopeMem = 21 << 10
)

// LibraryStateMem estimates the bytes that the interpreter takes for libraries, beside
// [Libraries.Mem] (functions.c: functionsMemory).
func (e *Engine) LibraryStateMem() int {
	if e.libraryScope.library {
		return scopeMem
	}
	return 0
}

// StateMem estimates the bytes of the interpreter and of compiled scripts (eval.c: evalMemory).
func (e *Engine) StateMem() int {
	n := stateMem + e.scripts.weight
	if e.lib.KnowsWords() {
		n += wordsMem
	}
	return n
}
