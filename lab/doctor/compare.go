package doctor

import (
	"slices"
	"strings"

	"github.com/miniredisd/miniredisd/lab/holders"
)

// Some commands compare the lock's value themselves, as a script does: DELIFEQ, and SET and DELEX with IFEQ.
// EXEC with IFEQ does so for all commands of its transaction.

// demand is a condition of EXEC: the key has this value, or it is missing.
type demand struct {
	key     holders.Key
	token   string
	missing bool
}

// demanded returns the conditions IFEQ and NX of an EXEC.
func (o op) demanded() (all []demand) {
	for i := 1; i+1 < len(o.args); {
		k, words := holders.Key{DB: o.db, Name: o.args[i+1]}, 2
		switch strings.ToLower(o.args[i]) {
		case "nx":
			all = append(all, demand{key: k, missing: true})
		case "ifeq":
			if words = 3; i+2 < len(o.args) {
				all = append(all, demand{key: k, token: o.args[i+2]})
			}
		case "ifne":
			words = 3
		}
		i += words
	}
	return all
}

// wasMissing reports whether the EXEC around a command has found that the key is missing.
func (o op) wasMissing(k holders.Key) bool {
	return slices.ContainsFunc(o.demands, func(d demand) bool { return d.key == k && d.missing })
}

// compared returns the token that a command demands of a lock, and reports whether the command compares
// at all. The token is "" for a digest. A command with IFNE asks for no owner.
func (o op) compared(k holders.Key) (token string, compares bool) {
	for _, d := range o.demands {
		if d.key == k && !d.missing {
			return d.token, true
		}
	}
	if o.name == "delifeq" && len(o.args) == 3 {
		return o.args[2], true
	}
	if o.name != "set" && o.name != "delex" {
		return "", false
	}
	if v, is := o.option("ifeq"); is {
		return v, true
	}
	_, is := o.option("ifdeq")
	return "", is
}

// words returns the token that a command demands of a lock, if any, in front of others.
func (o op) words(k holders.Key, others ...string) []string {
	if token, is := o.compared(k); is && token != "" {
		return append([]string{token}, others...)
	}
	return others
}

// wasEqual reports whether a SET with GET has found the value that it demands, or avoids. A digest does not show
// that: then known is false.
func (o op) wasEqual() (met, known bool) {
	if v, is := o.option("ifeq"); is {
		return o.reply.kind == '$' && o.reply.text == v, true
	}
	if v, is := o.option("ifne"); is {
		return o.reply.kind != '$' || o.reply.text != v, true
	}
	_, deq := o.option("ifdeq")
	_, dne := o.option("ifdne")
	return false, !deq && !dne
}

// removeCompared handles a command that deletes a lock only if it has a value. A release with another
// token releases nothing. But the holder that had this token gives up.
func (d *Doctor) removeCompared(o op, k holders.Key, token string, in *run) {
	h, done := d.holds.Get(k), o.reply.kind == ':' && o.reply.n > 0
	words := o.words(k)
	mine := d.authors(o, k, in.carried(words...), token == "")
	if token != "" && !slices.ContainsFunc(mine, func(a author) bool { return a.value == token }) {
		mine = nil // a token that nobody has cannot come from the holder
	}
	switch {
	case h != nil && done:
		d.released(o, k, h)
		d.free(o, k, h, mine, in)
	case done:
		d.gaveUp(o, k, mine, nil)
	default:
		d.releasesAgain(o, k, words)
		d.gaveUp(o, k, mine, nil)
		d.lateScript(o, k, words)
	}
}

// conditioned reports whether a SET has a condition on the value.
func (o op) conditioned() bool {
	return len(o.args) > 3 && slices.ContainsFunc(o.args[3:], conditional)
}

// conditional reports whether a word is an option whose next word is a value to compare with.
func conditional(word string) bool {
	return slices.ContainsFunc([]string{"ifeq", "ifne", "ifdeq", "ifdne"}, func(option string) bool {
		return strings.EqualFold(word, option)
	})
}
