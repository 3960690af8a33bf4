package proof

import (
	"slices"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/holders"
)

// author is a client that a request may come from, with its belief.
type author struct {
	*belief
	sure bool
	why  string
}

func isSure(a author) bool { return a.sure }

// The kinships of package holders, by shorter names.
type kinship = holders.Kinship

const (
	otherClient = holders.OtherClient
	sameClient  = holders.SameClient
	sameName    = holders.SameName
	renamed     = holders.Renamed
	noNames     = holders.NoNames
)

func (b *belief) kin(a actor) kinship {
	return holders.Kin(a.client == b.client && a.epoch == b.epoch, a.name, b.name, b.sole)
}

// pending returns the beliefs that their clients have not given up. A client that never got the reply gives nothing
// up after its lease.
func (l *lock) pending(now int64) []*belief {
	l.beliefs = slices.DeleteFunc(l.beliefs, func(b *belief) bool { return b.gone })
	return slices.DeleteFunc(slices.Clone(l.beliefs), func(b *belief) bool {
		return b.unknown && b.doubt == "" && b.ends > 0 && now > b.ends
	})
}

// authors returns those that a request may come from. A token among its words decides, and without one the connection.
func (p *prover) authors(r *request, l *lock, writes bool) []author {
	var found []author
	shown := false
	all := l.pending(r.Time)
	a := r.actor(p.epoch)
	for _, b := range all {
		if !slices.Contains(r.words, b.token) {
			continue
		}
		shown = true
		switch kin := b.kin(a); {
		case kin == sameClient, p.isUnique(l, b) && l.named(b, a) && kin != otherClient && kin != renamed:
			found = append(found, author{b, true, ""})
		case kin != otherClient:
			found = append(found, author{b, false, saying(r, l, doubtsAuthor)})
		}
	}
	if !shown && !r.demands() {
		found = p.byClient(r, l, all, a)
	}
	if shown && !writes && p.carriesOther(r, l, found) {
		return unsure(r, l, found)
	}
	return settled(r, l, found)
}

// named reports whether two connections both have a name, or neither has one. A random token needs none, and neither
// does a connection that has never asked for the lock.
func (l *lock) named(b *belief, a actor) bool {
	stranger := l.competes[a.id()] || l.took[a.id()]
	return (a.name == "") == (b.name == "") || holders.LooksRandom(b.token) || a.name == "" && !stranger
}

// isUnique reports whether the token of a belief names one client. A word that several clients send, and that is the
// only token of a lock, may be a word of all.
func (p *prover) isUnique(l *lock, b *belief) bool {
	w := word{l.Key, b.token}
	return len(p.takers[w]) < 2 && (p.senders[w] < 2 || p.distinct[l.Key] > 1) || holders.LooksRandom(b.token)
}

// ofTheirOwn returns the authors of a request that has changed nothing. If it shows a token with which a client has
// tried for the lock, it belongs to that try alone. A script with another token may come from another worker on the
// connection, which has only read the key.
func (p *prover) ofTheirOwn(r *request, l *lock) []author {
	found := p.authors(r, l, false)
	own := func(a author) bool { return slices.Contains(r.words, a.token) }
	tried := func(text string) bool { return text != l.Name && p.tokens[word{l.Key, text}] }
	other := func(text string) bool { return holders.IsToken(text) && !holders.IsNumber(text) }
	switch {
	case slices.ContainsFunc(r.words, tried):
		return slices.DeleteFunc(found, func(a author) bool { return !own(a) })
	case !slices.ContainsFunc(found, own) && slices.ContainsFunc(r.scriptArgs(), other):
		return unsure(r, l, found)
	}
	return found
}

// byClient returns the authors of a request without a token.
func (p *prover) byClient(r *request, l *lock, all []*belief, a actor) (found []author) {
	for _, b := range all {
		random := holders.LooksRandom(b.token)
		sent := p.uses[use{word{l.Key, b.token}, a.id()}]
		switch kin := b.kin(a); {
		case kin == sameClient && !l.isShared(b, a):
			found = append(found, author{b, true, ""})
		case kin == noNames && random && sent && !p.carriesOther(r, l, nil):
			found = append(found, author{b, true, ""})
		case kin == sameClient, kin == renamed, kin == sameName, kin == noNames && (random && sent || p.isNew(r, l, b)):
			found = append(found, author{b, false, saying(r, l, doubtsAuthor)})
		}
	}
	return found
}

// isNew reports whether a connection without a name may be a new one of a client whose connection has ended, or one to
// the node that was promoted.
func (p *prover) isNew(r *request, l *lock, b *belief) bool {
	if b.name != "" || r.Name != "" {
		return false
	}
	if b.on != p.node {
		me := r.actor(p.epoch).id()
		return !l.competes[me] && !l.took[me]
	}
	if b.client == r.Client {
		return false
	}
	if b.epoch != p.epoch {
		return true
	}
	for i := r.index - 1; i >= max(0, r.index-mostLooked); i-- {
		if e := &p.history.Entries[i]; e.Client == b.client && len(e.Cmd) > 0 {
			return e.Outcome.Unknown() || e.Outcome == lab.NotExecuted || e.Outcome == lab.ReplyLate
		}
	}
	return false
}

// isShared reports whether another worker has tried for the lock over the connection of a holder.
func (l *lock) isShared(b *belief, a actor) bool { return l.competes[a.id()] && b.before > 0 }

// carriesOther reports whether a request also has the token of another holder, before or behind it.
func (p *prover) carriesOther(r *request, l *lock, found []author) bool {
	return slices.ContainsFunc(r.words, func(text string) bool {
		return len(p.takers[word{l.Key, text}]) > 0 && text != l.Name &&
			!slices.ContainsFunc(found, func(a author) bool { return a.token == text || holders.Within(a.token, text) })
	})
}

// demands reports whether a command itself compares a token.
func (r *request) demands() bool {
	name := lower(r.Cmd)
	return name == "delifeq" || name == "delex" && r.has(2, "ifeq") || name == "set" && r.has(3, "ifeq")
}

// settled leaves the authors sure only if they are one client.
func settled(r *request, l *lock, found []author) []author {
	for i := 1; i < len(found); i++ {
		one := holders.LooksRandom(found[0].token) || found[0].sole && found[0].kin(found[i].actor) == sameClient
		if found[0].token == found[i].token && one {
			continue
		}
		return unsure(r, l, found)
	}
	return found
}

// unsure leaves no author sure.
func unsure(r *request, l *lock, found []author) []author {
	for i := range found {
		if found[i].sure {
			found[i].sure, found[i].why = false, saying(r, l, doubtsAuthor)
		}
	}
	return found
}

// whose returns the author that is a belief.
func whose(found []author, b *belief) (a author, is bool) {
	for _, a := range found {
		if a.belief == b {
			return a, true
		}
	}
	return author{}, false
}
