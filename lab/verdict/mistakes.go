package verdict

import (
	"slices"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/doctor"
	"github.com/miniredisd/miniredisd/lab/holders"
)

// Mistakes returns what a doctor finds in the log of a proxy. now is unix ms.
//
// A proxy does not see what a script reads, and whether it compares a token. It does not see what others have done past
// it. So nothing is said about a key that a script may have touched, or somebody whom the log does not know.
func Mistakes(log lab.History, now int64) ([]doctor.Finding, error) {
	r, err := merge([]lab.History{log})
	if err != nil {
		return nil, err
	}
	opaque := map[holders.Key]bool{}
	for _, e := range r.entries {
		if e.isOpaque() {
			for _, k := range e.touched() {
				opaque[k] = true
			}
		}
	}
	r.entries = slices.DeleteFunc(r.entries, func(e entry) bool { return e.isInScript() })
	r.examine()
	return slices.DeleteFunc(r.doctors[0].Findings(now), func(f doctor.Finding) bool {
		return opaque[holders.Key{DB: f.DB, Name: f.Key}]
	}), nil
}

// isInScript reports whether e is a script, or a command inside of one.
func (e entry) isInScript() bool {
	return e.By != "" && e.By != doctor.Exec || e.isAround("a script")
}

// isOpaque reports whether e does not say who has done what.
func (e entry) isOpaque() bool {
	return e.isInScript() || e.Event == lab.EventStranger || e.Event == lab.EventChanged || e.Outcome.Unknown() ||
		slices.ContainsFunc(e.Changes, func(c lab.Change) bool {
			return c.Before != nil && c.Before.Unread || c.After != nil && c.After.Unread
		})
}

// touched returns the keys of e.
func (e entry) touched() (keys []holders.Key) {
	for _, name := range append(slices.Clone(e.Keys), e.Key) {
		keys = append(keys, holders.Key{DB: e.DB, Name: name})
	}
	for _, c := range e.Changes {
		keys = append(keys, holders.Key{DB: c.DB, Name: c.Key})
	}
	return keys
}
