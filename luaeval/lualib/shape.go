package lualib

import (
	"math"
	"math/bits"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// A shape is how Lua 5.1 would keep a table: the size of its array, and the nodes of its hash table with
// their keys (ltable.c). The length of a table with holes depends on it. The values are in the
// table itself; a shape only asks it which of them are nil.
//
// A table without a metatable has its shape in that place, where the virtual machine finds no metatable.
type shape struct {
	array int
	nodes []node
	free  int // nodes from here on are in use

	places map[lua.LValue]int // of keys that Lua places by their addresses
	placed int                // the newest of them

	seen int // while a shape is guessed: elements beyond are not there yet
}

type node struct {
	key  lua.LValue // nil for an unused node
	next int        // the next node of the chain, or -1
}

// String and Type make a shape a value of Lua, which scripts never see.
func (s *shape) String() string       { return "" }
func (s *shape) Type() lua.LValueType { return lua.LTNil }

const mostBits = 26 // of the size of an array (ltable.c: MAXBITS)

// newShape is the shape of a new table with room for n elements and fields.
func newShape(n, fields int) *shape {
	s := &shape{array: n, seen: math.MaxInt}
	s.setNodes(fields)
	return s
}

func (s *shape) setNodes(n int) {
	s.nodes, s.places, s.placed = nil, nil, 0
	if n > 0 {
		s.nodes = make([]node, 1<<bits.Len(uint(n-1)))
		for i := range s.nodes {
			s.nodes[i].next = -1
		}
	}
	s.free = len(s.nodes)
}

// index returns the index that a key is, or 0.
func index(key lua.LValue) int {
	if n, ok := key.(lua.LNumber); ok && n >= 1 && n <= math.MaxInt32 && n == lua.LNumber(int(n)) {
		return int(n)
	}
	return 0
}

// holds reports whether t has a value for a key.
func (s *shape) holds(t *lua.LTable, key lua.LValue) bool {
	i := index(key)
	return i <= s.seen && t.RawGet(key) != lua.LNil
}

func (s *shape) has(t *lua.LTable, i int) bool { return i <= s.seen && Element(t, i) != lua.LNil }

// main returns the node where a key belongs (ltable.c: mainposition).
func (s *shape) main(key lua.LValue) int {
	n := len(s.nodes)
	switch key := key.(type) {
	case lua.LNumber:
		if key == 0 {
			return 0
		}
		b := math.Float64bits(float64(key))
		return int((uint32(b) + uint32(b>>32)) % uint32((n-1)|1))
	case lua.LString:
		return int(hash(string(key))) & (n - 1)
	case lua.LBool:
		if key {
			return 1 & (n - 1)
		}
		return 0
	}
	return s.place(key) % ((n - 1) | 1)
}

// place numbers the tables and functions among the keys. Lua takes their addresses, which differ from run to run. With
// one place for all, a table of many such keys would take quadratic time.
func (s *shape) place(key lua.LValue) int {
	if s.places == nil {
		s.places = map[lua.LValue]int{}
	}
	if s.places[key] == 0 {
		s.placed++
		s.places[key] = s.placed
	}
	return s.places[key]
}

// hash is the hash of a string (lstring.c: luaS_newlstr).
func hash(text string) uint32 {
	h := uint32(len(text))
	for i := len(text) - 1; i >= 0; i-- {
		h ^= h<<5 + h>>2 + uint32(text[i])
	}
	return h
}

// insert makes room for a key, as an assignment to it does (ltable.c: luaH_set, newkey).
func (s *shape) insert(t *lua.LTable, key lua.LValue) {
	if i := index(key); i > 0 && i <= s.array {
		return
	}
	if len(s.nodes) == 0 {
		s.grow(t, key)
		return
	}
	at := s.main(key)
	for i := at; i >= 0; i = s.nodes[i].next {
		if s.nodes[i].key == key {
			return
		}
	}
	if s.nodes[at].key != nil && s.holds(t, s.nodes[at].key) {
		free := s.takeFree()
		if free < 0 {
			s.grow(t, key)
			return
		}
		at = s.makeWay(at, free)
	} else {
		delete(s.places, s.nodes[at].key) // a deleted key, if any
	}
	s.nodes[at].key = key
}

func (s *shape) takeFree() int {
	for s.free--; s.free >= 0; s.free-- {
		if s.nodes[s.free].key == nil {
			return s.free
		}
	}
	s.free = 0
	return -1
}

// makeWay returns the node for a key that belongs at a node in use. A key that does not belong there moves to
// the free node.
func (s *shape) makeWay(at, free int) int {
	nodes := s.nodes
	other := s.main(nodes[at].key)
	if other == at {
		nodes[free].next, nodes[at].next = nodes[at].next, free
		return free
	}
	for nodes[other].next != at {
		other = nodes[other].next
	}
	nodes[other].next = free
	nodes[free] = nodes[at]
	nodes[at].next = -1
	return at
}

// grow chooses new sizes that have room for one more key, and adds it (ltable.c: rehash).
func (s *shape) grow(t *lua.LTable, key lua.LValue) {
	var counts [mostBits + 1]int // of indexes up to 2^i
	elements, all := 0, 0
	count := func(i int) {
		if i > 0 && i <= 1<<mostBits {
			counts[bits.Len(uint(i-1))]++
			elements++
		}
	}
	for i := 1; i <= s.array; i++ {
		if s.has(t, i) {
			count(i)
			all++
		}
	}
	for _, n := range s.nodes {
		if n.key != nil && s.holds(t, n.key) {
			count(index(n.key))
			all++
		}
	}
	count(index(key))
	all++
	size, inArray, below := 0, 0, 0
	for i := 0; i <= mostBits && 1<<i/2 < elements; i++ {
		below += counts[i]
		if counts[i] > 0 && below > 1<<i/2 {
			size, inArray = 1<<i, below
		}
		if below == elements {
			break
		}
	}
	s.resize(t, size, all-inArray)
	s.insert(t, key)
}

// resize gives the array and the nodes other sizes (ltable.c: resize).
func (s *shape) resize(t *lua.LTable, array, fields int) {
	was, nodes := s.array, s.nodes
	s.array = array
	s.setNodes(fields)
	for i := array + 1; i <= was; i++ {
		if s.has(t, i) {
			s.insert(t, lua.LNumber(i))
		}
	}
	for i := len(nodes) - 1; i >= 0; i-- {
		if key := nodes[i].key; key != nil && s.holds(t, key) {
			s.insert(t, key)
		}
	}
}

// fit makes the array hold n elements (ltable.c: luaH_resizearray).
func (s *shape) fit(t *lua.LTable, n int) {
	if n > s.array {
		s.resize(t, n, len(s.nodes))
	}
}

// border is the length of t (ltable.c: luaH_getn).
func (s *shape) border(t *lua.LTable) int {
	below, above := 0, s.array
	if above == 0 || Element(t, above) != lua.LNil {
		if len(s.nodes) == 0 {
			return above
		}
		below, above = above, above+1
		for Element(t, above) != lua.LNil {
			if below, above = above, 2*above; above > math.MaxInt32 {
				for below = 1; Element(t, below) != lua.LNil; below++ {
				}
				return below - 1
			}
		}
	}
	for above-below > 1 {
		if middle := (below + above) / 2; Element(t, middle) == lua.LNil {
			above = middle
		} else {
			below = middle
		}
	}
	return below
}

// guessed is the shape of a table whose history is not known. Its elements were assigned in a row, the
// first one first; that is how functions of libraries make tables.
func guessed(t *lua.LTable) *shape {
	s, n := newShape(0, 0), t.MaxN()
	for i := 1; i <= n; i++ {
		s.seen = i - 1
		s.insert(t, lua.LNumber(i))
	}
	s.seen = math.MaxInt
	for k, _ := t.Next(lua.LNil); k != lua.LNil; k, _ = t.Next(k) {
		if i := index(k); i == 0 || i > n {
			s.insert(t, k)
		}
	}
	return s
}

// isMetamethod reports whether a field of a metatable is called by the virtual machine.
func isMetamethod(name string) bool {
	if !strings.HasPrefix(name, "__") {
		return false
	}
	switch name[2:] {
	case "index", "newindex", "add", "sub", "mul", "div", "unm", "eq", "lt", "le":
		return true
	}
	return false
}
