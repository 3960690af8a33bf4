package doctor

// Foresees tells the doctor, before a finished history is shown, what a script in it does. An EVALSHA may be lost
// before any node has run its script: then only what comes later shows whether that was a release.
func (d *Doctor) Foresees(e Event) {
	o := d.op(e)
	sha := o.by
	if sha == "" {
		sha = o.script
	}
	switch {
	case sha == "" || sha == Exec:
	case o.deletes, o.by != "" && (o.does.has(removes) || o.leaves()):
		d.ledger.foreseen[sha] = true
	case o.whole, o.by != "" && o.does.has(takes|sets|counts|renews):
		d.ledger.foreseen[sha] = d.ledger.foreseen[sha] // known, even if it releases nothing
	}
}
