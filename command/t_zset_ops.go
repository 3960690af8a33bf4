package command

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"github.com/miniredisd/miniredisd/store"
)

const (
	errWeight        store.Error = "ERR weight value is not a float"
	errNegativeLimit store.Error = "ERR LIMIT can't be negative"
)

// zinput is one input of a union, intersection or difference: a sorted set, or a set, whose
// members all have the score 1. Both are nil if the key does not exist.
type zinput struct {
	z      *store.ZSet
	s      *store.Set
	weight float64
}

func (in *zinput) len() int {
	switch {
	case in.z != nil:
		return in.z.Len()
	case in.s != nil:
		return in.s.Len()
	}
	return 0
}

// score returns the weighted score of member. It may be NaN (0 times infinity).
func (in *zinput) score(member []byte) (float64, bool) {
	score, ok := 1.0, false
	switch {
	case in.z != nil:
		score, ok = in.z.Score(member)
	case in.s != nil:
		ok = in.s.Has(member)
	}
	return score * in.weight, ok
}

// weigh multiplies score by the weight. 0 times infinity is 0.
func (in *zinput) weigh(score float64) float64 {
	if score *= in.weight; math.IsNaN(score) {
		return 0
	}
	return score
}

// all iterates over the members and their weighted scores. A member aliases the input.
func (in *zinput) all() iter.Seq2[[]byte, float64] {
	return func(yield func([]byte, float64) bool) {
		if in.z != nil {
			for it := in.z.Range(0, in.z.Len(), false); it.Next(); {
				if !yield(it.Member, in.weigh(it.Score)) {
					return
				}
			}
		}
		if in.s != nil {
			for member := range in.s.All() {
				if !yield(member, in.weigh(1)) {
					return
				}
			}
		}
	}
}

// zaggregate combines two scores of one member.
type zaggregate func(a, b float64) float64

func zsum(a, b float64) float64 {
	if sum := a + b; !math.IsNaN(sum) {
		return sum
	}
	return 0 // infinities of opposite signs
}

// zmin and zmax differ from Go's min and max for NaN and for zeros of different signs: a stays
// unless b is less (greater), as in Redis.
func zmin(a, b float64) float64 {
	if b < a {
		return b
	}
	return a
}

func zmax(a, b float64) float64 {
	if b > a {
		return b
	}
	return a
}

// zcombination holds the parsed arguments of a union, intersection or difference.
type zcombination struct {
	inputs     []zinput
	aggregate  zaggregate
	withScores bool
	limit      int // of ZINTERCARD, 0 for none
}

// zcombine computes the result of a combination.
type zcombine func(c *Call, q *zcombination) *store.ZSetBuilder

// zform says which options a command accepts.
type zform struct {
	weights, scores, card bool
}

// ZUNION numkeys key ... [WEIGHTS ...] [AGGREGATE ...] [WITHSCORES] (t_zset.c: zunionCommand)
func zunion(c *Call) error { return zreturn(c, zform{weights: true, scores: true}, zuniteInputs) }

// ZINTER numkeys key ... [WEIGHTS ...] [AGGREGATE ...] [WITHSCORES] (t_zset.c: zinterCommand)
func zinter(c *Call) error { return zreturn(c, zform{weights: true, scores: true}, zintersectInputs) }

// ZDIFF numkeys key ... [WITHSCORES] (t_zset.c: zdiffCommand)
func zdiff(c *Call) error { return zreturn(c, zform{scores: true}, zsubtractInputs) }

// ZUNIONSTORE destination numkeys key ... [WEIGHTS ...] ... (t_zset.c: zunionstoreCommand)
func zunionstore(c *Call) error {
	return zcombineStore(c, zform{weights: true}, zuniteInputs, "zunionstore")
}

// ZINTERSTORE destination numkeys key ... [WEIGHTS ...] ... (t_zset.c: zinterstoreCommand)
func zinterstore(c *Call) error {
	return zcombineStore(c, zform{weights: true}, zintersectInputs, "zinterstore")
}

// ZDIFFSTORE destination numkeys key ... (t_zset.c: zdiffstoreCommand)
func zdiffstore(c *Call) error {
	return zcombineStore(c, zform{}, zsubtractInputs, "zdiffstore")
}

func zreturn(c *Call, form zform, combine zcombine) error {
	q, err := parseZCombination(c, c.Args[1:], form)
	if err != nil {
		return err
	}
	b := combine(c, q)
	r := newZReply(c, b.Len(), q.withScores)
	for member, score := range b.Sorted() {
		r.add(member, score)
	}
	return nil
}

func zcombineStore(c *Call, form zform, combine zcombine, event string) error {
	q, err := parseZCombination(c, c.Args[2:], form)
	if err != nil {
		return err
	}
	zstore(c, c.Args[1], combine(c, q).Finish(), event)
	return nil
}

// parseZCombination parses "numkeys key ..." and the options, and looks up the keys
// (t_zset.c: zunionInterDiffGenericCommand).
func parseZCombination(c *Call, args [][]byte, form zform) (*zcombination, error) {
	numKeys, err := parseInt(args[0])
	switch {
	case err != nil:
		return nil, err
	case numKeys < 1:
		return nil, errorf("ERR at least 1 input key is needed for '%s' command", c.Cmd.Name)
	case numKeys > int64(len(args)-1):
		return nil, errSyntax
	}
	q := &zcombination{aggregate: zsum, inputs: make([]zinput, numKeys)}
	for i := range q.inputs {
		if err := q.inputs[i].fetch(c, args[1+i]); err != nil {
			return nil, err
		}
	}
	return q, q.parseOptions(args[1+numKeys:], form)
}

func (in *zinput) fetch(c *Call, key []byte) (err error) {
	in.weight = 1
	found := c.DB.Lookup(key, store.LookupNone)
	if found.Exists() && found.Type() == store.TypeSet {
		in.s, err = store.ReadAt[*store.Set](found)
	} else {
		in.z, err = store.ReadAt[*store.ZSet](found)
	}
	return err
}

func (q *zcombination) parseOptions(args [][]byte, form zform) error {
	for i := 0; i < len(args); i++ {
		a, rest := args[i], args[i+1:]
		switch {
		case form.weights && is(a, "weights") && len(rest) >= len(q.inputs):
			for j := range q.inputs {
				weight, err := parseFloat(rest[j])
				if err != nil {
					return errWeight
				}
				q.inputs[j].weight = weight
			}
			i += len(q.inputs)
		case form.weights && is(a, "aggregate") && len(rest) >= 1:
			switch {
			case is(rest[0], "sum"):
				q.aggregate = zsum
			case is(rest[0], "min"):
				q.aggregate = zmin
			case is(rest[0], "max"):
				q.aggregate = zmax
			default:
				return errSyntax
			}
			i++
		case form.scores && is(a, "withscores"):
			q.withScores = true
		case form.card && is(a, "limit") && len(rest) >= 1:
			limit, err := parseIndex(rest[0])
			if err != nil || limit < 0 {
				return errNegativeLimit
			}
			q.limit = limit
			i++
		default:
			return errSyntax
		}
	}
	return nil
}

// smallestFirst sorts the inputs by size. An intersection then walks the smallest one, and scores
// are added up in Redis's order.
func (q *zcombination) smallestFirst() {
	slices.SortStableFunc(q.inputs, func(a, b zinput) int { return cmp.Compare(a.len(), b.len()) })
}

func zuniteInputs(c *Call, q *zcombination) *store.ZSetBuilder {
	q.smallestFirst()
	b := store.NewZSetBuilder(c.KS)
	for i := range q.inputs {
		for member, score := range q.inputs[i].all() {
			if slot, added := b.Slot(member); added {
				*slot = score
			} else {
				*slot = q.aggregate(*slot, score)
			}
		}
	}
	return b
}

func zintersectInputs(c *Call, q *zcombination) *store.ZSetBuilder {
	b := store.NewZSetBuilder(c.KS)
	for member, score := range q.common() {
		slot, _ := b.Slot(member)
		*slot = score
	}
	return b
}

// common iterates over the members that all inputs have, with their combined scores.
func (q *zcombination) common() iter.Seq2[[]byte, float64] {
	q.smallestFirst()
	first := q.inputs[0]
	plain := first
	plain.weight = 1
	return func(yield func([]byte, float64) bool) {
	members:
		for member, unweighed := range plain.all() {
			sum := first.weigh(unweighed)
			for i := range q.inputs[1:] {
				in := &q.inputs[1+i]
				score, ok := unweighed*in.weight, true
				if in.z != first.z || in.s != first.s {
					score, ok = in.score(member)
				}
				if !ok {
					continue members
				}
				sum = q.aggregate(sum, score)
			}
			if !yield(member, sum) {
				return
			}
		}
	}
}

func zsubtractInputs(c *Call, q *zcombination) *store.ZSetBuilder {
	b := store.NewZSetBuilder(c.KS)
members:
	for member, score := range q.inputs[0].all() {
		for i := range q.inputs[1:] {
			if _, ok := q.inputs[1+i].score(member); ok {
				continue members
			}
		}
		slot, _ := b.Slot(member)
		*slot = score
	}
	return b
}

// ZINTERCARD numkeys key ... [LIMIT limit] (t_zset.c: zinterCardCommand)
func zintercard(c *Call) error {
	q, err := parseZCombination(c, c.Args[1:], zform{card: true})
	if err != nil {
		return err
	}
	n := 0
	for range q.common() {
		n++
		if n == q.limit {
			break
		}
	}
	c.Int(int64(n))
	return nil
}
