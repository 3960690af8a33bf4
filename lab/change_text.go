package lab

import (
	"fmt"
	"strings"
)

// mostShown bounds the changes of an entry, and the parts of a value, that ChangesText shows.
const mostShown = 8

// ChangesText says in a line what an entry has changed: "lock:x: absent -> 'token' until +30000 ms". Times count from
// the moment of the change, so the text of a test is always the same.
func (e *Entry) ChangesText() string {
	var all []string
	for i, c := range e.Changes {
		if i == mostShown {
			all = append(all, fmt.Sprintf("%d more", len(e.Changes)-mostShown))
			break
		}
		at, where, why := e.Time, "", ""
		if c.At != 0 {
			at = c.At
		}
		if c.DB != e.DB {
			where = fmt.Sprintf(" in database %d", c.DB)
		}
		if c.Cause != ByCommand {
			why = fmt.Sprintf(" (%s)", c.Cause)
		}
		all = append(all, fmt.Sprintf("%s%s: %s -> %s%s", c.Key, where, c.Before.text(at), c.After.text(at), why))
	}
	return strings.Join(all, "; ")
}

func (v *Value) text(at int64) string {
	if v == nil {
		return "absent"
	}
	text := "'" + v.Text + "'"
	switch {
	case v.Unread:
		text = fmt.Sprintf("%s of %d, too large to compare", v.Type, v.Len)
	case v.Type != "string":
		text = fmt.Sprintf("%s of %d", v.Type, v.Len)
		if len(v.Parts) > 0 {
			text += " {" + partsText(v.Parts, at) + "}"
		}
	}
	return text + untilText(v.Deadline, at)
}

func partsText(parts []Part, at int64) string {
	var all []string
	for i, p := range parts {
		if i == mostShown {
			all = append(all, fmt.Sprintf("%d more", len(parts)-mostShown))
			break
		}
		text := "'" + p.Name + "'"
		if p.Value != "" {
			text += ": '" + p.Value + "'"
		}
		all = append(all, text+untilText(p.Deadline, at))
	}
	return strings.Join(all, ", ")
}

func untilText(deadline, at int64) string {
	if deadline == 0 {
		return ""
	}
	return fmt.Sprintf(" until %+d ms", deadline-at)
}
