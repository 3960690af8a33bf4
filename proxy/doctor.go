package proxy

import "github.com/miniredisd/miniredisd/resp"

// diagnose is LAB DOCTOR. The doctor reads the log, so it knows watched keys only.
func (l *labState) diagnose(c *pair, d *due, _ [][]byte) []byte {
	switch {
	case l.turn.free:
		l.fail(c, d, "doctor", "it reads what LAB LOG WATCH writes, and that needs --order exact")
		return nil
	case len(l.log.Globs()) == 0:
		l.fail(c, d, "doctor", "it reads the log, and no key is watched: use LAB LOG WATCH first")
		return nil
	}
	l.looksAgain(func(err error) {
		if err != nil {
			l.fail(c, d, "doctor", "%v", err)
			return
		}
		w := c.writer()
		if err := l.doctor(w, l.export(), l.ledger.now()); err != nil {
			l.fail(c, d, "doctor", "%v", err)
			return
		}
		l.answer(c, d, func(to *resp.Writer) { to.Raw(w.Buf) })
	})
	return nil
}
