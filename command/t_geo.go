package command

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/miniredisd/miniredisd/internal/geo"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/store"
)

// Places are members of an ordinary sorted set: the score encodes longitude and latitude (package
// geo). All commands of sorted sets work on them.
func geoRows() []Row {
	const (
		unit   = "(unit: M | KM | FT | MI)"
		circle = "radius:double " + unit
		from   = "(from: FROMMEMBER member | FROMLONLAT longitude:double latitude:double)"
		disc   = "(circle: (BYRADIUS radius:double) " + unit + ")"
		box    = "(box: (BYBOX width:double) height:double " + unit + ")"
		by     = "(by: " + disc + " | " + box + ")"
		first  = "[count-block: (COUNT count) [ANY]]"
		capped = "[count-block: (COUNT count) [ANY@6.2.0]]" // where COUNT is older than ANY
		order  = "[order: ASC | DESC]"
		with   = "[WITHCOORD] [WITHDIST] [WITHHASH]"
		kept   = " [store: STORE storekey:key/key | STOREDIST storedistkey:key/key]"
		inBox  = "O(log(M)+N) for M places, of which N are in grid cells that the shape touches"
		around = "O(log(M)+N) for M places, of which N are in grid cells that the circle touches"
	)
	source := at(1, RO|Access)
	store := func(from int) *Arguments {
		return keys(source,
			KeySpec{Flags: OW | Update, Keyword: "STORE", Index: from, Step: 1},
			KeySpec{Flags: OW | Update, Keyword: "STOREDIST", Index: from, Step: 1})
	}
	return []Row{
		{"geoadd", "key [condition@6.2.0: NX | XX] [change@6.2.0:CH] (data: longitude:double latitude:double member) ...",
			-5, Write | DenyOOM, keys(at(1, RW|Update)), "geo", "3.2.0",
			"O(M*log(N)) to add M members to a sorted set of N",
			"Adds places to a sorted set, or moves places in it.", geoAdd},
		{"geodist", "key member1 member2 [unit: M | KM | FT | MI]",
			-4, ReadOnly, keys(source), "geo", "3.2.0",
			"O(log(N)) for a sorted set of N members",
			"Returns the distance between two places.", geoDist},
		{"geohash", "key [member ...]",
			-2, ReadOnly, keys(source), "geo", "3.2.0",
			"O(M) for M members",
			"Returns the geohashes of places, as geohash.org writes them.", geoHash},
		{"geopos", "key [member ...]",
			-2, ReadOnly, keys(source), "geo", "3.2.0",
			"O(N) for N members",
			"Returns the longitude and latitude of places.", geoPos},
		{"geosearch", "key " + from + " " + by + " " + order + " " + first + " " + with,
			-7, ReadOnly, keys(source), "geo", "6.2.0",
			inBox,
			"Returns the places inside a circle or a box.", geoSearch},
		{"geosearchstore", "destination source " + from + " " + by + " " + order + " " + first + " [STOREDIST]",
			-8, Write | DenyOOM, keys(at(1, OW|Update), at(2, RO|Access)), "geo", "6.2.0",
			inBox,
			"Stores the places inside a circle or a box.", geoSearchStore},
		{"georadius", "key longitude:double latitude:double " + circle + " " + with + " " + capped + " " + order + kept,
			-6, Write | DenyOOM, store(6), "geo", "3.2.0",
			around,
			"Returns or stores the places within a radius of a point.", geoRadius},
		{"georadius_ro", "key longitude:double latitude:double " + circle + " " + with + " " + capped + " " + order,
			-6, ReadOnly, keys(source), "geo", "3.2.10",
			around,
			"Returns the places within a radius of a point.", geoRadius},
		{"georadiusbymember", "key member " + circle + " " + with + " " + first + " " + order + kept,
			-5, Write | DenyOOM, store(5), "geo", "3.2.0",
			around,
			"Returns or stores the places within a radius of another place.", geoRadiusByMember},
		{"georadiusbymember_ro", "key member " + circle + " " + with + " " + first + " " + order,
			-5, ReadOnly, keys(source), "geo", "3.2.10",
			around,
			"Returns the places within a radius of another place.", geoRadiusByMember},
	}
}

const errUnit store.Error = "ERR unsupported unit provided. please use M, KM, FT, MI"

// parseUnit returns the metres in a unit.
func parseUnit(arg []byte) (float64, error) {
	switch {
	case is(arg, "m"):
		return 1, nil
	case is(arg, "km"):
		return 1000, nil
	case is(arg, "ft"):
		return 0.3048, nil
	case is(arg, "mi"):
		return 1609.34, nil
	}
	return 0, errUnit
}

// parsePlace parses a longitude and a latitude.
func parsePlace(args [][]byte) (p geo.Place, err error) {
	if p.Lon, err = parseFloat(args[0]); err != nil {
		return p, err
	}
	if p.Lat, err = parseFloat(args[1]); err != nil {
		return p, err
	}
	if !p.Valid() {
		pair := strings.NewReplacer("+Inf", "inf", "-Inf", "-inf").Replace(fmt.Sprintf("%f,%f", p.Lon, p.Lat))
		return p, errorf("ERR invalid longitude,latitude pair %s", pair)
	}
	return p, nil
}

// placeOf decodes the place in a score. Other commands may have stored any number: it decodes too,
// to a place without a meaning.
func placeOf(score float64) geo.Place { return geo.Decode(uint64(score)) }

// GEOADD key [NX | XX] [CH] (longitude latitude member) ... (geo.c: geoaddCommand)
// GEOADD is ZADD with scores that encode the places.
func geoAdd(c *Call) error {
	var flags store.ZFlags
	ch, args := false, c.Args[2:]
options:
	for ; len(args) > 0; args = args[1:] {
		switch {
		case is(args[0], "nx"):
			flags |= store.ZNX
		case is(args[0], "xx"):
			flags |= store.ZXX
		case is(args[0], "ch"):
			ch = true
		default:
			break options
		}
	}
	if len(args) == 0 || len(args)%3 != 0 || flags == store.ZNX|store.ZXX {
		return errSyntax
	}
	pairs := make([][]byte, 0, len(args)/3*2)
	for ; len(args) > 0; args = args[3:] {
		p, err := parsePlace(args)
		if err != nil {
			return err
		}
		pairs = append(pairs, strconv.AppendUint(nil, geo.Encode(p), 10), args[2])
	}
	dirty := c.KS.Stats.Dirty
	if err := zaddGeneric(c, pairs, flags, ch); err != nil || !c.Propagates() || c.KS.Stats.Dirty == dirty {
		return err
	}
	options := c.Args[1 : len(c.Args)-len(pairs)/2*3]
	c.Propagate(append(append([][]byte{[]byte("zadd")}, options...), pairs...)...)
	return nil
}

// GEODIST key member1 member2 [M | KM | FT | MI] (geo.c: geodistCommand)
func geoDist(c *Call) error {
	unit := 1.0
	switch len(c.Args) {
	case 4:
	case 5:
		var err error
		if unit, err = parseUnit(c.Args[4]); err != nil {
			return err
		}
	default:
		return errSyntax
	}
	z, err := store.Read[*store.ZSet](c.DB, c.Args[1])
	if err != nil {
		return err
	}
	if z == nil {
		c.Null()
		return nil
	}
	from, known := z.Score(c.Args[2])
	to, alsoKnown := z.Score(c.Args[3])
	if !known || !alsoKnown {
		c.Null()
		return nil
	}
	replyDistance(c.Writer, geo.Distance(placeOf(from), placeOf(to))/unit)
	return nil
}

// replyDistance replies with four decimals: a string in either protocol. Like Redis, it rounds the product
// with 10,000, which is itself rounded (util.c: fixedpoint_d2string).
func replyDistance(w *resp.Writer, d float64) {
	var room [32]byte
	const units = 10000
	n := int64(math.RoundToEven(d * units))
	text := append(strconv.AppendInt(room[:0], n/units, 10), '.')
	for digit := int64(units / 10); digit > 0; digit /= 10 {
		text = append(text, '0'+byte(n/digit%10))
	}
	w.Bulk(text)
}

// replyPlace replies with longitude and latitude, in the precision of Redis's long double.
func replyPlace(w *resp.Writer, p geo.Place) {
	w.Array(2)
	for _, degrees := range [...]float64{p.Lon, p.Lat} {
		var room [32]byte
		text := trimDecimals(strconv.AppendFloat(room[:0], degrees, 'f', 17, 64))
		if w.Proto < 3 {
			w.Bulk(text)
		} else {
			w.Buf = append(append(append(w.Buf, ','), text...), "\r\n"...)
		}
	}
}

// GEOHASH key [member ...] (geo.c: geohashCommand)
func geoHash(c *Call) error {
	return c.eachPlace(func(p geo.Place) { c.BulkString(geo.Text(p)) }, c.Null)
}

// GEOPOS key [member ...] (geo.c: geoposCommand)
func geoPos(c *Call) error {
	return c.eachPlace(func(p geo.Place) { replyPlace(c.Writer, p) }, c.NullArray)
}

// eachPlace calls reply with the place of each member, or none for a missing member.
func (c *Call) eachPlace(reply func(geo.Place), none func()) error {
	z, err := store.Read[*store.ZSet](c.DB, c.Args[1])
	if err != nil {
		return err
	}
	members := c.Args[2:]
	c.Array(len(members))
	for _, member := range members {
		if z != nil {
			if score, ok := z.Score(member); ok {
				reply(placeOf(score))
				continue
			}
		}
		none()
	}
	return nil
}
