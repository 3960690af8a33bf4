package store

type (
	Set  struct{}
	Hash struct{}
)

func (*Set) Len() int          { return 0 }
func (*Set) Encoding() string  { return "" }
func (*Set) size() int         { return 0 }
func (v *Set) clone() *Set     { return v }
func (*Hash) Len() int         { return 0 }
func (*Hash) Encoding() string { return "" }
func (*Hash) size() int        { return 0 }
func (v *Hash) clone() *Hash   { return v }
func NewSet(*Keyspace) *Set    { return &Set{} }
func NewHash(*Keyspace) *Hash  { return &Hash{} }
