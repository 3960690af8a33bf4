package command

import (
	"bytes"
	"math"

	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/store"
)

// idForm is the form of XADD's ID.
type idForm uint8

const (
	idAuto    idForm = iota // *
	idAutoSeq               // ms-*
	idGiven
)

// trimOptions are the options of XADD and XTRIM, and the ID of XADD.
type trimOptions struct {
	trim     store.StreamTrim
	trims    bool // MAXLEN or MINID was given
	noCreate bool
	form     idForm
	id       store.StreamID
	next     int // the argument after the ID
	at       int // the argument with the threshold
}

const (
	errStreamID   store.Error = "ERR Invalid stream ID specified as stream command argument"
	errTrimTwice  store.Error = "ERR syntax error, MAXLEN and MINID options at the same time are not compatible"
	errMaxLen     store.Error = "ERR The MAXLEN argument must be >= 0."
	errLimit      store.Error = "ERR The LIMIT argument must be >= 0."
	errLimitAlone store.Error = "ERR syntax error, LIMIT cannot be used without specifying a trimming strategy"
	errLimitExact store.Error = "ERR syntax error, LIMIT cannot be used without the special ~ option"
	errNoStrategy store.Error = "ERR syntax error, XTRIM must be called with a trimming strategy"
)

// parseTrim parses the options after the key; for XADD it ends with the ID.
func parseTrim(c *Call, xadd bool) (o trimOptions, err error) {
	limited := false
	o.next = len(c.Args) + 1
	for i := 2; i < len(c.Args); i++ {
		arg, more := c.Args[i], i+1 < len(c.Args)
		switch {
		case xadd && len(arg) == 1 && arg[0] == '*':
			o.next = i + 1
		case more && (is(arg, "maxlen") || is(arg, "minid")):
			i, err = o.parseStrategy(c.Args, i)
		case more && is(arg, "limit"):
			i++
			limited = true
			if o.trim.Limit, err = parseInt(c.Args[i]); err == nil && o.trim.Limit < 0 {
				err = errLimit
			}
		case xadd && is(arg, "nomkstream"):
			o.noCreate = true
		case xadd:
			o.id, o.form, err = parseNewID(arg)
			o.next = i + 1
		default:
			return o, errSyntax
		}
		if err != nil {
			return o, err
		}
		if o.next <= i+1 {
			break
		}
	}
	return o, o.settleLimit(c, xadd, limited)
}

// parseStrategy parses MAXLEN or MINID at i with its arguments and returns the index of the last
// one.
func (o *trimOptions) parseStrategy(args [][]byte, i int) (int, error) {
	o.trim.ByID, o.trim.Approx = is(args[i], "minid"), false
	if o.trims {
		return i, errTrimTwice
	}
	o.trims = true
	i++
	if i+1 < len(args) && len(args[i]) == 1 && (args[i][0] == '~' || args[i][0] == '=') {
		o.trim.Approx = args[i][0] == '~'
		i++
	}
	o.at = i
	var err error
	if o.trim.ByID {
		o.trim.MinID, err = parseStreamID(args[i], 0)
	} else if o.trim.MaxLen, err = parseInt(args[i]); err == nil && o.trim.MaxLen < 0 {
		err = errMaxLen
	}
	return i, err
}

// settleLimit checks LIMIT against the other options. Approximate trimming without LIMIT gets a
// default limit, so that one XADD does not pay for a stream that was never trimmed.
func (o *trimOptions) settleLimit(c *Call, xadd, limited bool) error {
	switch {
	case o.trim.Limit > 0 && !o.trims:
		return errLimitAlone
	case !xadd && !o.trims:
		return errNoStrategy
	case c.KS.Loading: // the threshold is what a limit has left over
		o.trim.Limit = 0
	case limited && !o.trim.Approx:
		return errLimitExact
	case !limited && o.trim.Approx:
		o.trim.Limit = 100 * int64(c.KS.Limits.StreamNodeMaxEntries)
		if o.trim.Limit <= 0 {
			o.trim.Limit = 10_000
		}
		o.trim.Limit = min(o.trim.Limit, 1_000_000)
	}
	return nil
}

// parseNewID parses the ID of XADD unless it is "*".
func parseNewID(arg []byte) (id store.StreamID, form idForm, err error) {
	if ms, ok := bytes.CutSuffix(arg, []byte("-*")); ok && bytes.IndexByte(ms, '-') < 0 {
		if id.Ms, ok = parseStreamNumber(ms); !ok {
			return id, idAutoSeq, errStreamID
		}
		return id, idAutoSeq, nil
	}
	id, err = parseStreamID(arg, 0)
	return id, idGiven, err
}

// parseStreamID parses "ms" or "ms-seq". seq is the default for a missing sequence.
func parseStreamID(arg []byte, seq uint64) (id store.StreamID, err error) {
	ok := len(arg) < 128
	ms, rest, both := bytes.Cut(arg, []byte{'-'})
	if ok {
		id.Ms, ok = parseStreamNumber(ms)
	}
	if id.Seq = seq; ok && both {
		id.Seq, ok = parseStreamNumber(rest)
	}
	if !ok {
		return id, errStreamID
	}
	return id, nil
}

// parseStreamNumber parses an unsigned number as util.c: string2ull does. Text that is not a plain
// number goes through strtoull, which accepts leading space and signs, and wraps around.
func parseStreamNumber(b []byte) (uint64, bool) {
	if v, ok := ascii.ParseInt(b); ok {
		return uint64(v), v >= 0
	}
	for len(b) > 0 && (b[0] == ' ' || b[0] >= '\t' && b[0] <= '\r') {
		b = b[1:]
	}
	negative := len(b) > 0 && b[0] == '-'
	if negative || len(b) > 0 && b[0] == '+' {
		b = b[1:]
	}
	var v uint64
	for _, c := range b {
		d := uint64(c - '0')
		if d > 9 || v > (math.MaxUint64-d)/10 {
			return 0, false
		}
		v = v*10 + d
	}
	if negative {
		v = -v
	}
	return v, len(b) > 0
}

// parseInterval parses both ends of a range: "-", "+", an ID, or an ID excluded by "(". Without a
// sequence a start means the first ID of its millisecond, an end the last.
func parseInterval(start, end []byte) (from, to store.StreamID, err error) {
	if from, err = parseStart(start); err != nil {
		return from, to, err
	}
	to, excluded, err := parseBound(end, math.MaxUint64)
	if err == nil && excluded {
		var ok bool
		if to, ok = to.Prev(); !ok {
			return from, to, store.Error("ERR invalid end ID for the interval")
		}
	}
	return from, to, err
}

func parseStart(arg []byte) (store.StreamID, error) {
	from, excluded, err := parseBound(arg, 0)
	if err == nil && excluded {
		var ok bool
		if from, ok = from.Next(); !ok {
			err = store.Error("ERR invalid start ID for the interval")
		}
	}
	return from, err
}

func parseBound(arg []byte, seq uint64) (id store.StreamID, excluded bool, err error) {
	if len(arg) == 1 && arg[0] == '-' {
		return id, false, nil
	}
	if len(arg) == 1 && arg[0] == '+' {
		return store.MaxStreamID(), false, nil
	}
	if excluded = len(arg) > 1 && arg[0] == '('; excluded {
		arg = arg[1:]
	}
	id, err = parseStreamID(arg, seq)
	return id, excluded, err
}
