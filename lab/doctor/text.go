package doctor

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
)

// text is what the doctor reads in the text of a script.
type text struct {
	script  string // its SHA1
	size    int    // in bytes
	whole   bool   // the event has all of it
	deletes bool   // it may delete a key
	creates bool   // it may write a value
	extends bool   // it may change a TTL
	tells   []int  // the keys, from 1, to which it publishes
}

const (
	maxTexts = 64       // remembered texts
	maxText  = 16 << 10 // bytes of one of them
)

// textAt returns the place of a script's text among the arguments of a command, -1 if it has none.
func textAt(command string) int {
	switch command {
	case "eval", "eval_ro":
		return 1
	case "script|load":
		return 2
	}
	return -1
}

// op reads an event. A client sends the same few texts again and again, so the doctor reads each of them once.
func (d *Doctor) op(e Event) op {
	o := newOp(e, d.means[e.Command])
	i := textAt(e.Command)
	if i < 0 || i >= len(e.Args) {
		return o
	}
	known, there := d.texts[string(e.Args[i])]
	if !there {
		known = newText(e.Args[i])
		if len(d.texts) >= maxTexts {
			clear(d.texts)
		}
		if len(e.Args[i]) <= maxText {
			d.texts[string(e.Args[i])] = known
		}
	}
	o.text = known
	return o
}

func newText(body []byte) text {
	sum := sha1.Sum(body)
	t := text{script: hex.EncodeToString(sum[:]), size: len(body), whole: true}
	if sha := shortenedSHA(body); sha != "" {
		t.script, t.whole = sha, false
	}
	t.deletes = mentions(body, "del", "unlink", "delex", "delifeq")
	t.creates = mentions(body, "set", "msetex", "hset", "hincrby", "setex", "psetex", "hsetex")
	t.tells = published(string(body))
	t.extends = mentions(body, "expire", "pexpire", "expireat", "pexpireat", "getex", "hexpire", "hpexpire")
	return t
}

// shortenedSHA returns the SHA1 of a text that the log has shortened (lab.Words), "" of a whole one.
func shortenedSHA(text []byte) string {
	const end = ", sha1 "
	i := bytes.LastIndex(text, []byte(end))
	if i < 0 || len(text) != i+len(end)+2*sha1.Size+1 || !bytes.Contains(text[:i], []byte("...(")) {
		return ""
	}
	return string(text[i+len(end) : len(text)-1])
}

// mentions reports whether a script's text has the name of a command in quotes.
func mentions(text []byte, names ...string) bool {
	lower := bytes.ToLower(text)
	for _, name := range names {
		if bytes.Contains(lower, []byte(`'`+name+`'`)) || bytes.Contains(lower, []byte(`"`+name+`"`)) {
			return true
		}
	}
	return false
}
