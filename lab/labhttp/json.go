package labhttp

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/miniredisd/miniredisd/resp"
)

// AppendJSON appends a reply as JSON, on one line. Maps keep their order.
func AppendJSON(b []byte, v resp.Value) []byte {
	if v.Null {
		return append(b, "null"...)
	}
	switch v.Kind {
	case ':':
		return strconv.AppendInt(b, v.Int, 10)
	case '#':
		return strconv.AppendBool(b, v.Int == 1)
	case ',':
		if f, err := strconv.ParseFloat(v.Str, 64); err == nil && !math.IsInf(f, 0) && !math.IsNaN(f) {
			return append(b, v.Str...)
		}
		return appendString(b, v.Str)
	case '(':
		return append(b, v.Str...)
	case '-', '!':
		return append(appendString(append(b, `{"error":`...), v.Str), '}')
	case '=':
		_, text, _ := strings.Cut(v.Str, ":")
		return appendString(b, text)
	case '%':
		return appendObject(b, v.Elems)
	case '*', '~', '>':
		b = append(b, '[')
		for i, e := range v.Elems {
			if i > 0 {
				b = append(b, ',')
			}
			b = AppendJSON(b, e)
		}
		return append(b, ']')
	case '|':
		return AppendJSON(b, v.Elems[len(v.Elems)-1])
	}
	return appendString(b, v.Str)
}

// appendObject appends an object of alternating keys and values. A number becomes a string as a
// key.
func appendObject(b []byte, pairs []resp.Value) []byte {
	b = append(b, '{')
	for i := 0; i+1 < len(pairs); i += 2 {
		if i > 0 {
			b = append(b, ',')
		}
		name := pairs[i].Str
		if pairs[i].Kind == ':' {
			name = strconv.FormatInt(pairs[i].Int, 10)
		}
		b = AppendJSON(append(appendText(b, name), ':'), pairs[i+1])
	}
	return append(b, '}')
}

// appendString appends text as a string, and other bytes as an object with their base64.
func appendString(b []byte, s string) []byte {
	if !utf8.ValidString(s) {
		return append(append(append(b, `{"base64":"`...), base64.StdEncoding.EncodeToString([]byte(s))...), `"}`...)
	}
	return appendText(b, s)
}

// appendText appends a string. It does not escape < and >: the reply is never part of a page.
func appendText(b []byte, s string) []byte {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // never fails for a string
	return append(b, bytes.TrimSuffix(out.Bytes(), []byte("\n"))...)
}
