package aof

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/persist/disk"
	"github.com/miniredisd/miniredisd/resp"
)

// The types of parts in a manifest (server.h: aof_file_type).
const (
	Base    = 'b'
	History = 'h'
	Incr    = 'i'
)

// Part is a file that a manifest names.
type Part struct {
	Name string // without a folder
	Seq  int64
	Type byte
}

// Manifest says which parts there are.
type Manifest struct {
	Base    *Part // nil for none
	History []Part
	Incr    []Part // in the order of their numbers
}

// Parts returns what is loaded, in its order.
func (m *Manifest) Parts() (all []Part) {
	if m.Base != nil {
		all = append(all, *m.Base)
	}
	return append(all, m.Incr...)
}

// What is wrong with a manifest, in Redis's words (aof.c: aofLoadManifestFromFile).
const (
	errEmpty     disk.Error = "Found an empty AOF manifest"
	errLong      disk.Error = "The AOF manifest file contains too long line"
	errFormat    disk.Error = "Invalid AOF manifest file format"
	errPath      disk.Error = "File can't be a path, just a filename"
	errDuplicate disk.Error = "Found duplicate base file information"
	errOrder     disk.Error = "Found a non-monotonic sequence number"
	errType      disk.Error = "Unknown AOF file type"
)

// manifestLine is the most bytes that a line has, with its end (aof.c: MANIFEST_MAX_LINE).
const manifestLine = 1024

// ReadManifest reads a manifest. The error is fs.ErrNotExist if there is none, and a *DamageError if it is none that
// Redis would take.
func ReadManifest(from disk.FS, path string) (*Manifest, error) {
	f, err := from.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return parseManifest(f, path)
}

// parseManifest reads the text of a manifest. path is for errors.
func parseManifest(text io.Reader, path string) (*Manifest, error) {
	m, in := &Manifest{}, bufio.NewReaderSize(text, manifestLine)
	offset := int64(0)
	for n := 1; ; n++ {
		line, err := in.ReadSlice('\n')
		if len(line) == 0 && err == io.EOF {
			if n == 1 {
				return nil, &DamageError{File: path, Why: errEmpty.Error()}
			}
			return m, nil
		}
		if err != nil && err != io.EOF && !errors.Is(err, bufio.ErrBufferFull) {
			return nil, &DamageError{File: path, Offset: offset, Why: err.Error()}
		}
		if err := m.add(line); err != nil {
			return nil, &DamageError{File: path, Offset: offset, Why: fmt.Sprintf("line %d: %v", n, err)}
		}
		offset += int64(len(line))
	}
}

// add reads a line, or the beginning of one that is too long.
func (m *Manifest) add(line []byte) error {
	if line[0] == '#' {
		return nil
	}
	if line[len(line)-1] != '\n' || bytes.IndexByte(line, 0) >= 0 {
		return errLong
	}
	p, err := partOf(line)
	if err != nil {
		return err
	}
	switch {
	case p.Type == Base && m.Base != nil:
		return errDuplicate
	case p.Type == Base:
		m.Base = &p
	case p.Type == History:
		m.History = append(m.History, p)
	case p.Type != Incr:
		return errType
	case p.Seq <= m.lastSeq():
		return errOrder
	default:
		m.Incr = append(m.Incr, p)
	}
	return nil
}

// lastSeq is the number of the last incr.
func (m *Manifest) lastSeq() int64 {
	if len(m.Incr) == 0 {
		return 0
	}
	return m.Incr[len(m.Incr)-1].Seq
}

// partOf reads the words of a line: pairs of a key and its value. Keys of later versions are skipped.
func partOf(line []byte) (p Part, err error) {
	words, ok := resp.Words(bytes.Trim(line, " \t\r\n"))
	if !ok || len(words) < 6 || len(words)%2 != 0 {
		return p, errFormat
	}
	named := false
	for ; len(words) > 0; words = words[2:] {
		value := words[1]
		switch key := words[0]; {
		case ascii.EqualFold(key, "file"):
			if bytes.ContainsAny(value, `/\`) {
				return p, errPath
			}
			p.Name, named = string(value), true
		case ascii.EqualFold(key, "seq"):
			p.Seq = leadingInt(value)
		case ascii.EqualFold(key, "type") && len(value) > 0:
			p.Type = value[0]
		}
	}
	if !named || p.Seq == 0 || p.Type == 0 || strings.ContainsRune(p.Name, 0) {
		return p, errFormat
	}
	return p, nil
}

// leadingInt reads the number at the beginning of a text, 0 if there is none, as C's atoll does.
func leadingInt(text []byte) (n int64) {
	text = bytes.TrimLeft(text, " \t\n\v\f\r")
	negative := len(text) > 0 && text[0] == '-'
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		text = text[1:]
	}
	for _, c := range text {
		if c < '0' || c > '9' {
			break
		}
		if n > (math.MaxInt64-int64(c-'0'))/10 {
			n = math.MaxInt64
			break
		}
		n = 10*n + int64(c-'0')
	}
	if negative {
		return -n
	}
	return n
}
