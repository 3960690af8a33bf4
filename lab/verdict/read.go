package verdict

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/miniredisd/miniredisd/lab"
)

// Read reads the histories in src: JSON objects of LAB LOG EXPORT, one after another or in arrays, as
// LAB ALL LOG EXPORT writes them, or as texts in quotes, as LAB over HTTP answers. The error says what is wrong with
// the text. Read keeps entries only, so a text without an end cannot fill the memory.
func Read(src io.Reader) ([]lab.History, error) {
	r := reader{seen: map[int]bool{}}
	if err := r.values(newSource(src, &r.budget), 0); err != nil {
		return nil, err
	}
	if len(r.all) == 0 {
		return nil, errors.New("no history found")
	}
	return r.all, nil
}

const (
	maxMasters = 1000
	mostDepth  = 8 // of arrays and quotes around a history
)

// reader reads histories from a text.
type reader struct {
	all    []lab.History
	seen   map[int]bool // nodes
	budget budget
}

// values reads values until the text ends.
func (r *reader) values(in *source, depth int) error {
	for {
		c, err := in.next()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = r.value(in, c, depth)
		}
		if err != nil {
			return jsonError(err)
		}
	}
}

// value reads a value that begins with c.
func (r *reader) value(in *source, c byte, depth int) error {
	switch {
	case depth > mostDepth:
		return fmt.Errorf("is not a history: it is inside of more than %d arrays", mostDepth)
	case c == '{':
		in.unread([]byte{c})
		return r.history(in)
	case c == '[':
		return r.array(in, depth+1)
	case c == '"':
		return r.values(newSource(&unquoter{in: in}, &r.budget), depth+1)
	case strings.IndexByte("-0123456789tfn", c) >= 0:
		return fmt.Errorf("is not a history: it begins with %q", c)
	}
	return fmt.Errorf("is not JSON: it begins with %q", c)
}

// array reads an array behind its bracket.
func (r *reader) array(in *source, depth int) error {
	c, err := in.next()
	if err != nil || c == ']' {
		return err
	}
	for {
		if err := r.value(in, c, depth); err != nil {
			return err
		}
		switch c, err = in.next(); {
		case err != nil || c == ']':
			return err
		case c != ',':
			return fmt.Errorf("is not JSON: %q follows an element of an array", c)
		}
		if c, err = in.next(); err != nil {
			return err
		}
	}
}

// history reads an object. What the decoder has read behind it goes back.
func (r *reader) history(in *source) error {
	values := json.NewDecoder(in)
	h, err := r.fields(values)
	if err != nil {
		return err
	}
	rest, err := io.ReadAll(values.Buffered())
	if err != nil {
		return err
	}
	in.unread(rest)
	if r.seen[h.Number()] {
		return fmt.Errorf("there are two histories of %s", nameOf(h))
	}
	r.seen[h.Number()] = true
	r.all = append(r.all, h)
	r.budget.renew()
	return check(h)
}

// fields reads the fields of a history.
func (r *reader) fields(values *json.Decoder) (h lab.History, err error) {
	if _, err := values.Token(); err != nil {
		return h, err
	}
	for values.More() {
		name, err := values.Token()
		if err != nil {
			return h, err
		}
		switch strings.ToLower(name.(string)) { // as package json does it
		case "format":
			err = values.Decode(&h.Format)
		case "master":
			err = values.Decode(&h.Master)
		case "masters":
			err = values.Decode(&h.Masters)
		case "node", "nodes", "port", "role", "replid", "offset":
			if h.Node == nil {
				h.Node = &lab.Node{}
			}
			err = values.Decode(fieldOf(h.Node, strings.ToLower(name.(string))))
		case "cluster":
			err = values.Decode(&h.Cluster)
		case "proxy":
			err = values.Decode(&h.Proxy)
		case "watched":
			err = values.Decode(&h.Watched)
		case "entries":
			if h.Entries != nil {
				return h, errors.New("is not a history: it has entries twice")
			}
			h.Entries, err = r.entries(values)
		default:
			err = values.Decode(new(json.RawMessage))
		}
		if err != nil {
			return h, err
		}
	}
	_, err = values.Token()
	return h, err
}

// fieldOf returns where a field of a node goes.
func fieldOf(n *lab.Node, name string) any {
	switch name {
	case "node":
		return &n.Node
	case "nodes":
		return &n.Nodes
	case "port":
		return &n.Port
	case "role":
		return &n.Role
	case "replid":
		return &n.ReplID
	}
	return &n.Offset
}

// entries reads an array of entries, or null.
func (r *reader) entries(values *json.Decoder) (all []lab.Entry, err error) {
	begin, err := values.Token()
	switch {
	case err != nil || begin == nil:
		return nil, err
	case begin != json.Delim('['):
		return nil, fmt.Errorf("is not a history: entries is no array, but %v", begin)
	}
	all = []lab.Entry{}
	for values.More() {
		if len(all) == lab.KeepEntries {
			return nil, fmt.Errorf("is not a history: it has more than %d entries", lab.KeepEntries)
		}
		var e lab.Entry
		if err := values.Decode(&e); err != nil {
			return nil, err
		}
		all = append(all, e)
		r.budget.renew()
	}
	_, err = values.Token()
	return all, err
}

// jsonError says what an error of package json means for the text.
func jsonError(err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		return fmt.Errorf("is not JSON: %w", io.ErrUnexpectedEOF)
	case errors.As(err, &syntax):
		return fmt.Errorf("is not JSON: %w", err)
	case errors.As(err, &kind):
		return fmt.Errorf("is not a history: %w", err)
	}
	return err
}

func check(h lab.History) error {
	switch {
	case h.Format != lab.Format && h.Format != lab.FirstFormat:
		return fmt.Errorf("is not a history: format is %q, not %q", h.Format, lab.Format)
	case h.Masters < 1 || h.Masters > maxMasters:
		return fmt.Errorf("masters is %d, not 1 to %d", h.Masters, maxMasters)
	case h.Master < 1 || h.Master > h.Masters:
		return fmt.Errorf("master is %d, not 1 to %d", h.Master, h.Masters)
	case h.Node != nil && (h.Nodes < h.Masters || h.Nodes > maxMasters):
		return fmt.Errorf("nodes is %d, not %d to %d", h.Nodes, h.Masters, maxMasters)
	case h.Node != nil && (h.Node.Node < 1 || h.Node.Node > h.Nodes):
		return fmt.Errorf("node is %d, not 1 to %d", h.Node.Node, h.Nodes)
	}
	for i := 1; i < len(h.Entries); i++ {
		last, e := h.Entries[i-1], h.Entries[i]
		if e.Seq <= last.Seq || e.Mono < last.Mono {
			return fmt.Errorf("master %d: entry %d comes before entry %d, which stands above it", h.Master, e.Seq, last.Seq)
		}
	}
	return nil
}
