package command

import (
	"cmp"
	"slices"

	"github.com/miniredisd/miniredisd/internal/geo"
	"github.com/miniredisd/miniredisd/store"
)

const (
	errNoPlace        store.Error = "ERR could not decode requested zset member"
	errNeedRadius     store.Error = "ERR need numeric radius"
	errNegativeRadius store.Error = "ERR radius cannot be negative"
	errNeedWidth      store.Error = "ERR need numeric width"
	errNeedHeight     store.Error = "ERR need numeric height"
	errNegativeBox    store.Error = "ERR height or width cannot be negative"
	errGeoCount       store.Error = "ERR COUNT must be > 0"
	errAnyAlone       store.Error = "ERR the ANY argument requires COUNT argument"
)

// geoQuery holds the parsed arguments of a search (geo.c: georadiusGeneric).
type geoQuery struct {
	z     *store.ZSet // the set to search, nil if the key does not exist
	shape geo.Shape

	// The parts of GEOSEARCH's shape that were given. FROMMEMBER counts as given if the key does not
	// exist: the result is empty then.
	byMember, byPlace, byRadius, byBox bool

	withCoord, withDist, withHash bool

	count int // 0 for no limit
	any   bool
	order int // 1 for nearest first, -1 for farthest first

	dest      []byte // the key to store the result in, nil to reply with it
	storeDist bool   // store distances, not places

	// The result.
	area  *geo.Search
	found []found  // in the order of their cells
	ranks []uint32 // the indexes of found that the reply shows, in its order
}

// found is one place in the result.
type found struct {
	geo.Hit
	member []byte // aliases the set
	score  float64
}

// geoForm says which of the optional groups of options a command accepts.
type geoForm struct {
	shape   bool // FROMMEMBER, FROMLONLAT, BYRADIUS, BYBOX
	store   bool // STORE key, STOREDIST key
	storing bool // STOREDIST without a key: GEOSEARCHSTORE always stores
}

// GEOSEARCH key (FROMMEMBER ... | ...) (BYRADIUS ... | BYBOX ...) ... (geo.c: geosearchCommand)
func geoSearch(c *Call) error {
	q, err := newGeoQuery(c, 1)
	if err != nil {
		return err
	}
	return q.run(c, c.Args[2:], geoForm{shape: true}, "")
}

// GEOSEARCHSTORE destination source (FROMMEMBER ... | ...) ... (geo.c: geosearchstoreCommand)
func geoSearchStore(c *Call) error {
	q, err := newGeoQuery(c, 2)
	if err != nil {
		return err
	}
	q.dest = c.Args[1]
	return q.run(c, c.Args[3:], geoForm{shape: true, storing: true}, "geosearchstore")
}

// GEORADIUS key longitude latitude radius (M | KM | FT | MI) ... (geo.c: georadiusCommand)
// GEORADIUS_RO key longitude latitude radius (M | KM | FT | MI) ... (geo.c: georadiusroCommand)
// GEORADIUS_RO runs here too: its form accepts no STORE.
func geoRadius(c *Call) error {
	q, err := newGeoQuery(c, 1)
	if err != nil {
		return err
	}
	if q.shape.Center, err = parsePlace(c.Args[2:]); err != nil {
		return err
	}
	if err := q.parseRadius(c.Args[4:]); err != nil {
		return err
	}
	return q.run(c, c.Args[6:], geoForm{store: c.Cmd.Flags&Write != 0}, "georadiusstore")
}

// GEORADIUSBYMEMBER key member radius (M | KM | FT | MI) ... (geo.c: georadiusbymemberCommand)
// GEORADIUSBYMEMBER_RO key member radius (M | KM | FT | MI) ... (geo.c: georadiusbymemberroCommand)
func geoRadiusByMember(c *Call) error {
	q, err := newGeoQuery(c, 1)
	if err != nil {
		return err
	}
	if q.z != nil { // Redis checks only the options of a missing key
		if err := q.centerOn(c.Args[2]); err != nil {
			return err
		}
		if err := q.parseRadius(c.Args[3:]); err != nil {
			return err
		}
	}
	return q.run(c, c.Args[5:], geoForm{store: c.Cmd.Flags&Write != 0}, "georadiusstore")
}

func newGeoQuery(c *Call, key int) (q *geoQuery, err error) {
	q = &geoQuery{}
	q.z, err = store.Read[*store.ZSet](c.DB, c.Args[key])
	return q, err
}

func (q *geoQuery) run(c *Call, options [][]byte, form geoForm, event string) error {
	if err := q.parse(options, form); err != nil {
		return err
	}
	if err := q.check(c, form); err != nil {
		return err
	}
	q.found = c.Ex.places[:0]
	q.search()
	if q.dest != nil {
		q.store(c, event)
	} else {
		q.reply(c)
	}
	const kept = 1000
	if cap(q.found) <= kept {
		clear(q.found) // else members of deleted sets would stay in memory
		c.Ex.places = q.found
	}
	return nil
}

func (q *geoQuery) centerOn(member []byte) error {
	score, ok := q.z.Score(member)
	if !ok {
		return errNoPlace
	}
	q.shape.Center = placeOf(score)
	return nil
}

// parseSide parses one length of a shape.
func parseSide(arg []byte, notNumeric error) (float64, error) {
	v, err := parseFloat(arg)
	if err != nil {
		return 0, notNumeric
	}
	return v, nil
}

// parseRadius parses "radius unit".
func (q *geoQuery) parseRadius(args [][]byte) (err error) {
	if q.shape.Radius, err = parseSide(args[0], errNeedRadius); err != nil {
		return err
	}
	if q.shape.Radius < 0 {
		return errNegativeRadius
	}
	q.shape.Box = false
	q.shape.Unit, err = parseUnit(args[1])
	return err
}

// parseBox parses "width height unit".
func (q *geoQuery) parseBox(args [][]byte) (err error) {
	if q.shape.Width, err = parseSide(args[0], errNeedWidth); err != nil {
		return err
	}
	if q.shape.Height, err = parseSide(args[1], errNeedHeight); err != nil {
		return err
	}
	if q.shape.Width < 0 || q.shape.Height < 0 {
		return errNegativeBox
	}
	q.shape.Box = true
	q.shape.Unit, err = parseUnit(args[2])
	return err
}

func (q *geoQuery) parse(args [][]byte, form geoForm) error {
	for len(args) > 0 {
		taken, err := q.parseOption(args, form)
		if taken == 0 && err == nil && form.shape {
			taken, err = q.parseShape(args)
		}
		if taken == 0 && err == nil {
			err = errSyntax
		}
		if err != nil {
			return err
		}
		args = args[taken:]
	}
	return nil
}

// parseOption parses the option at the beginning of args. It returns the number of words taken, or
// 0 if the option is not one of these.
func (q *geoQuery) parseOption(args [][]byte, form geoForm) (taken int, err error) {
	switch a, more := args[0], len(args) > 1; {
	case is(a, "withdist"):
		q.withDist = true
	case is(a, "withhash"):
		q.withHash = true
	case is(a, "withcoord"):
		q.withCoord = true
	case is(a, "any"):
		q.any = true
	case is(a, "asc"):
		q.order = 1
	case is(a, "desc"):
		q.order = -1
	case is(a, "count") && more:
		if q.count, err = parseIndex(args[1]); err == nil && q.count <= 0 {
			err = errGeoCount
		}
		return 2, err
	case form.store && more && (is(a, "store") || is(a, "storedist")):
		q.dest, q.storeDist = args[1], is(a, "storedist")
		return 2, nil
	case form.storing && is(a, "storedist"):
		q.storeDist = true
	default:
		return 0, nil
	}
	return 1, nil
}

// parseShape does the same for the options that define the shape.
func (q *geoQuery) parseShape(args [][]byte) (taken int, err error) {
	switch a, left := args[0], len(args)-1; {
	case is(a, "frommember") && left >= 1 && !q.byPlace:
		q.byMember = true
		if q.z != nil {
			err = q.centerOn(args[1])
		}
		return 2, err
	case is(a, "fromlonlat") && left >= 2 && !q.byMember:
		q.byPlace = true
		q.shape.Center, err = parsePlace(args[1:])
		return 3, err
	case is(a, "byradius") && left >= 2 && !q.byBox:
		q.byRadius = true
		return 3, q.parseRadius(args[1:])
	case is(a, "bybox") && left >= 3 && !q.byRadius:
		q.byBox = true
		return 4, q.parseBox(args[1:])
	}
	return 0, nil
}

// check refuses options that exclude each other.
func (q *geoQuery) check(c *Call, form geoForm) error {
	switch {
	case q.dest != nil && (q.withDist || q.withHash || q.withCoord):
		what := "STORE option in GEORADIUS"
		if form.shape {
			what = "GEOSEARCHSTORE"
		}
		return errorf("ERR %s is not compatible with WITHDIST, WITHHASH and WITHCOORD options", what)
	case form.shape && !q.byMember && !q.byPlace:
		return errorf("ERR exactly one of FROMMEMBER or FROMLONLAT can be specified for %s", c.Args[0])
	case form.shape && !q.byRadius && !q.byBox:
		return errorf("ERR exactly one of BYRADIUS and BYBOX can be specified for %s", c.Args[0])
	case q.any && q.count == 0:
		return errAnyAlone
	}
	return nil
}

// search finds the places in the shape and their order, and limits them on request. COUNT keeps the
// nearest ones, COUNT with ANY the first ones found.
func (q *geoQuery) search() {
	if q.z == nil {
		return
	}
	enough := 0
	if q.any {
		enough = q.count
	} else if q.count > 0 && q.order == 0 {
		q.order = 1
	}
	q.area = geo.NewSearch(q.shape)
	q.shape.Cells(func(first, end uint64) bool {
		q.searchCell(first, end, enough)
		return enough == 0 || len(q.found) < enough
	})
	q.ranks = make([]uint32, len(q.found))
	for i := range q.ranks {
		q.ranks[i] = uint32(i)
	}
	limit := len(q.ranks)
	if q.count > 0 {
		limit = min(limit, q.count)
	}
	if q.order != 0 {
		q.sort(limit)
	}
	q.ranks = q.ranks[:limit]
}

// sort puts the nearest places first, or the farthest; only the first limit ranks count. Places of
// equal distance keep the order in which they were found.
func (q *geoQuery) sort(limit int) {
	compare := func(i, j uint32) int {
		if d := q.order * q.area.Compare(&q.found[i].Hit, &q.found[j].Hit); d != 0 {
			return d
		}
		return cmp.Compare(i, j)
	}
	if limit < len(q.ranks) {
		selectFirst(q.ranks, limit, compare)
	}
	slices.SortFunc(q.ranks[:limit], compare)
}

// searchCell finds the places in the shape whose scores are in first:end. It stops at enough
// places; 0 means no limit.
func (q *geoQuery) searchCell(first, end uint64, enough int) {
	from, to := q.z.ByScore(&store.ScoreRange{Min: float64(first), Max: float64(end), MaxEx: true})
	for it := q.z.Range(from, to, false); it.Next(); {
		hit, ok := q.area.Holds(placeOf(it.Score))
		if !ok {
			continue
		}
		q.found = append(q.found, found{hit, it.Member, it.Score})
		if len(q.found) == enough {
			break
		}
	}
}

func (q *geoQuery) reply(c *Call) {
	c.Array(len(q.ranks))
	parts := 1
	for _, with := range [...]bool{q.withDist, q.withHash, q.withCoord} {
		if with {
			parts++
		}
	}
	for _, i := range q.ranks {
		f := &q.found[i]
		if parts > 1 {
			c.Array(parts)
		}
		c.Bulk(f.member)
		if q.withDist {
			replyDistance(c.Writer, q.area.Distance(&f.Hit)/q.shape.Unit)
		}
		if q.withHash {
			c.Int(int64(f.score))
		}
		if q.withCoord {
			replyPlace(c.Writer, f.Place)
		}
	}
}

func (q *geoQuery) store(c *Call, event string) {
	b := store.NewZSetBuilder(c.KS)
	for _, i := range q.ranks {
		f := &q.found[i]
		slot, _ := b.Slot(f.member)
		*slot = f.score
		if q.storeDist {
			*slot = q.area.Distance(&f.Hit) / q.shape.Unit
		}
	}
	c.Count(max(len(q.ranks)-1, 0))
	zstore(c, q.dest, b.Finish(), event)
}
