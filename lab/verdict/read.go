package verdict

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/miniredisd/miniredisd/lab"
)

// Read reads the histories in r: JSON objects of LAB LOG EXPORT, one after another or in arrays, as
// LAB ALL LOG EXPORT writes them. The error says what is wrong with the text.
func Read(r io.Reader) ([]lab.History, error) {
	var all []lab.History
	values := json.NewDecoder(r)
	for {
		var raw json.RawMessage
		switch err := values.Decode(&raw); {
		case errors.Is(err, io.EOF) && len(all) == 0:
			return nil, errors.New("no history found")
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, fmt.Errorf("is not JSON: %w", err)
		}
		some, err := histories(raw)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
}

func histories(raw json.RawMessage) ([]lab.History, error) {
	if bytes.HasPrefix(raw, []byte("[")) {
		var parts []json.RawMessage
		if err := json.Unmarshal(raw, &parts); err != nil {
			return nil, err
		}
		var all []lab.History
		for _, part := range parts {
			some, err := histories(part)
			if err != nil {
				return nil, err
			}
			all = append(all, some...)
		}
		return all, nil
	}
	if text := ""; json.Unmarshal(raw, &text) == nil { // a reply of LAB over HTTP
		return Read(bytes.NewReader([]byte(text)))
	}
	var h lab.History
	if err := json.Unmarshal(raw, &h); err != nil {
		return nil, fmt.Errorf("is not a history: %w", err)
	}
	return []lab.History{h}, check(h)
}

func check(h lab.History) error {
	switch {
	case h.Format != lab.Format:
		return fmt.Errorf("is not a history: format is %q, not %q", h.Format, lab.Format)
	case h.Masters < 1 || h.Masters > maxMasters:
		return fmt.Errorf("masters is %d, not 1 to %d", h.Masters, maxMasters)
	case h.Master < 1 || h.Master > h.Masters:
		return fmt.Errorf("master is %d, not 1 to %d", h.Master, h.Masters)
	}
	for i := 1; i < len(h.Entries); i++ {
		last, e := h.Entries[i-1], h.Entries[i]
		if e.Seq <= last.Seq || e.Mono < last.Mono {
			return fmt.Errorf("master %d: entry %d comes before entry %d, which stands above it", h.Master, e.Seq, last.Seq)
		}
	}
	return nil
}

const maxMasters = 1000
