package command

import "github.com/miniredisd/miniredisd/store"

// HGETEX key [EX seconds | PX milliseconds | ... | PERSIST] FIELDS numfields field ... (t_hash.c: hgetexCommand)
func hgetex(c *Call) error {
	o, err := parseHashOptions(c, true)
	if err != nil {
		return err
	}
	h, err := store.WriteFields(c.DB, c.Args[1])
	if err != nil {
		return err
	}
	if err := o.resolve(c); err != nil {
		return err
	}
	done := fieldChange{at: o.expireAt}
	c.fieldValues(&h, o.fields, func(field []byte) {
		switch {
		case o.unit != ttlNone:
			done.set(c, &h, field)
		case o.persist:
			done.persist(&h, field)
		}
	})
	done.report(c, &h)
	return nil
}

// fieldValues replies with the values of fields. then is called for each field that exists.
func (c *Call) fieldValues(h *store.Fields, fields [][]byte, then func(field []byte)) {
	c.Array(len(fields))
	for _, field := range fields {
		var value []byte
		ok := false
		if h.Hash != nil {
			value, ok = h.Get(field)
		}
		if !ok {
			c.Null()
			continue
		}
		c.Bulk(value)
		then(field)
	}
}

// HSETEX key [NX | XX] [FNX | FXX] [EX seconds | ...] FIELDS numfields (field value) ... (t_hash.c: hsetexCommand)
func hsetex(c *Call) error {
	o, err := parseHashOptions(c, false)
	if err != nil {
		return err
	}
	h, err := store.WriteFields(c.DB, c.Args[1])
	if err != nil {
		return err
	}
	missing := h.Hash == nil
	if o.nx && !missing || o.xx && missing {
		c.Int(0)
		return nil
	}
	if err := o.resolve(c); err != nil {
		return err
	}
	if !o.allows(&h) {
		c.Int(0)
		return nil
	}
	done := fieldChange{at: o.expireAt}
	if o.unit != ttlNone && c.past(o.expireAt) {
		done.setLate(c, &h, o.fields)
	} else {
		if missing {
			h.Create(c.Args[1])
		}
		done.write(&h, &o)
		if c.Propagates() && o.unit != ttlNone {
			c.Propagate(append([][]byte{[]byte("HSETEX"), c.Args[1], []byte("PXAT"), decimal(o.expireAt), []byte("FIELDS"),
				decimal(int64(len(o.fields) / 2))}, o.fields...)...)
		}
	}
	done.report(c, &h)
	c.Int(1)
	return nil
}

// write sets the fields of HSETEX.
func (done *fieldChange) write(h *store.Fields, o *hashOptions) {
	for i := 0; i < len(o.fields); i += 2 {
		if o.keepTTL {
			h.SetKeepTTL(o.fields[i], o.fields[i+1])
		} else {
			h.Set(o.fields[i], o.fields[i+1])
		}
		done.written++
		if o.unit != ttlNone {
			h.SetExpire(o.fields[i], done.at)
			done.timed++
		}
	}
}

// setLate is write for a time in the past: fields that exist go, and the others do not come.
func (done *fieldChange) setLate(c *Call, h *store.Fields, fields [][]byte) {
	done.idle = true
	for i := 0; i < len(fields); i += 2 {
		if h.Hash != nil && h.Delete(fields[i]) {
			done.idle = false
			if c.Propagates() {
				done.propagate = append(done.propagate, fields[i])
			}
		}
		done.written++
		done.timed++
	}
}

// allows reports whether FNX or FXX lets HSETEX set the fields.
func (o *hashOptions) allows(h *store.Fields) bool {
	if !o.fnx && !o.fxx {
		return true
	}
	for i := 0; i < len(o.fields); i += 2 {
		ok := false
		if h.Hash != nil {
			_, ok = h.Get(o.fields[i])
		}
		if ok == o.fnx {
			return false
		}
	}
	return true
}

// HGETDEL key FIELDS numfields field ... (t_hash.c: hgetdelCommand)
func hgetdel(c *Call) error {
	fields, err := parseFields(c)
	if err != nil {
		return err
	}
	h, err := store.WriteFields(c.DB, c.Args[1])
	if err != nil {
		return err
	}
	done := fieldChange{}
	c.fieldValues(&h, fields, func(field []byte) {
		h.Delete(field)
		done.deleted++
	})
	done.report(c, &h)
	return nil
}
