package command

import (
	"math"

	"github.com/miniredisd/miniredisd/store"
)

// parseScoreRange parses the two ends of a range of scores. A "(" excludes the number after it
// (t_zset.c: zslParseRange).
func parseScoreRange(low, high []byte) (r store.ScoreRange, err error) {
	if r.Min, r.MinEx, err = parseScoreEnd(low); err != nil {
		return r, err
	}
	r.Max, r.MaxEx, err = parseScoreEnd(high)
	return r, err
}

// parseScoreEnd parses a number as strtod does, unlike the strict parseFloat: an empty string is 0,
// leading space is skipped, and a number out of range is an infinity.
func parseScoreEnd(arg []byte) (v float64, ex bool, err error) {
	if len(arg) > 0 && arg[0] == '(' {
		arg, ex = arg[1:], true
	}
	for len(arg) > 0 && (arg[0] == ' ' || '\t' <= arg[0] && arg[0] <= '\r') {
		arg = arg[1:]
	}
	if len(arg) == 0 {
		return 0, ex, nil
	}
	if v, err = strtod(arg); err != nil && !math.IsInf(v, 0) || math.IsNaN(v) {
		return 0, ex, errScoreRange
	}
	return v, ex, nil
}

// parseLexRange parses the two ends of a range of names: "[" includes the name after it, "("
// excludes it, "-" and "+" are before and after all names (t_zset.c: zslParseLexRange).
func parseLexRange(low, high []byte) (r store.LexRange, err error) {
	if r.Min, err = parseLexEnd(low); err != nil {
		return r, err
	}
	r.Max, err = parseLexEnd(high)
	return r, err
}

func parseLexEnd(arg []byte) (b store.LexBound, err error) {
	switch {
	case len(arg) == 0:
		return b, errLexRange
	case arg[0] == '[', arg[0] == '(':
		return store.LexBound{Member: arg[1:], Ex: arg[0] == '('}, nil
	case len(arg) == 1 && arg[0] == '-':
		return store.LexBound{Inf: -1}, nil
	case len(arg) == 1 && arg[0] == '+':
		return store.LexBound{Inf: 1}, nil
	}
	return b, errLexRange
}
