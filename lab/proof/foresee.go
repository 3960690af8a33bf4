package proof

import (
	"regexp"
	"slices"
	"strings"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/holders"
)

// script is what the log shows of a script.
type script struct {
	text                string // "" if the log does not have it
	frees, adds, writes bool   // it has removed a token, added one, changed a key and removed none
}

// releases reports whether a script may give locks up, and keeps whether it certainly does not.
func (s *script) releases() bool {
	return s.frees || strings.Contains(s.text, "'del'") || strings.Contains(s.text, `"del"`) ||
		strings.Contains(s.text, "unlink")
}

// has notes the text of a script. A call that sets a time of zero or less frees the key.
func (s *script) has(text string) {
	if s.text == "" {
		s.text = strings.ToLower(text)
		ends := regexp.MustCompile(`expire['"]\s*,[^,()]*,\s*['"]?(0|-\d+)['"]?\s*\)`)
		s.frees = s.frees || ends.MatchString(s.text)
	}
}

func (s *script) keeps() bool { return !s.releases() && (s.writes || s.adds || s.text != "") }

// use is a word that a client has sent together with a key, and word is the same of any client.
type use struct {
	word
	client string
}

type word struct {
	holders.Key
	text string
}

// foresee notes who sends which words with which key, and what the scripts do.
func (p *prover) foresee() {
	p.ways()
	p.leases()
	epoch, in := p.epoch, pool{map[word]string{}, map[use]bool{}}
	for i := range p.history.Entries {
		e := &p.history.Entries[i]
		if e.Event == lab.EventCrash {
			epoch += p.Proof.nodes
		}
		r := p.request(i)
		who := r.actor(epoch).id()
		p.foreseeClock(r, who)
		if len(e.Cmd) == 0 {
			continue
		}
		s := p.script(r)
		if strings.HasPrefix(lower(e.Cmd), "eval") && len(e.Cmd) > 1 {
			if _, whole := shaOf(e.Cmd[1]); whole && !strings.HasPrefix(lower(e.Cmd), "evalsha") {
				s.has(e.Cmd[1])
			}
		}
		if r.isScript() && renews(lower(e.Cmd)) && answered(e) == yes { // no change, while the clock stands still
			s.writes = true
		}
		for _, c := range e.Changes {
			k := holders.Key{DB: c.DB, Name: c.Key}
			s.frees, s.adds = s.frees || c.After == nil || countsDown(c), s.adds || c.Before == nil
			s.writes = s.writes || c.After != nil
			p.foreseePool(in, r, c, who)
			p.foreseeRenewal(r, c)
			p.sends(k, r.words, who)
			p.scores[k] = p.scores[k] || endsInScores(c, e.Time)
			for _, token := range asChanged(c).added(c) {
				if c.After.Deadline == 0 || c.After.Deadline > e.Time+1 {
					p.takes(word{k, token}, who)
				}
			}
		}
		k := holders.Key{DB: e.DB, Name: e.Key}
		p.sends(k, r.words, who)
		if token := triesWith(r); token != "" {
			p.takes(word{k, token}, who)
		}
	}
}

// foreseeRefused notes who has tried for a lock that was not free, or that had the same token.
func (p *prover) foreseeRefused() {
	for i := range p.history.Entries {
		e := &p.history.Entries[i]
		r := p.request(i)
		adds := p.taking[word{holders.Key{DB: e.DB, Name: e.Key}, r.way()}] && !r.has(3, "xx")
		if len(e.Cmd) > 0 && r.By == "" && (adds || r.runs() && p.script(r).adds) {
			for _, text := range r.words {
				if w := (word{holders.Key{DB: e.DB, Name: e.Key}, text}); len(p.takers[w]) > 0 {
					p.takes(w, r.actor(p.epoch).id())
				}
			}
		}
	}
}

// endsInScores reports whether a change writes a score that is a time to come.
func endsInScores(c lab.Change, now int64) bool {
	return c.After != nil && c.After.Type == "zset" && slices.ContainsFunc(c.After.Parts, func(q lab.Part) bool {
		return scoredTime(q.Value) > now
	})
}

// countsDown reports whether a change lowers the count of a holder.
func countsDown(c lab.Change) bool {
	return c.Before != nil && c.After != nil && slices.ContainsFunc(c.After.Parts, func(a lab.Part) bool {
		return slices.ContainsFunc(c.Before.Parts, func(b lab.Part) bool {
			return a.Name == b.Name && isLess(a.Value, b.Value)
		})
	})
}

// script returns what the log shows of the script that a request runs, or in which it ran.
func (p *prover) script(r *request) *script {
	name := r.script()
	if name == "" {
		return &script{text: "none"}
	}
	if p.scripts[name] == nil {
		p.scripts[name] = &script{}
	}
	return p.scripts[name]
}

// asChanged returns a lock of which only a change is known.
func asChanged(c lab.Change) *lock {
	l := &lock{claims: &claims{}}
	l.starts(c)
	return l
}

// added returns the tokens that a change adds.
func (l *lock) added(c lab.Change) (all []string) {
	before := l.partsOf(c.Before)
	for _, a := range l.partsOf(c.After) {
		if !slices.ContainsFunc(before, func(b part) bool { return b.name == a.name }) {
			all = append(all, a.token)
		}
	}
	return all
}

func (p *prover) sends(k holders.Key, words []string, who string) {
	for _, text := range words {
		if w := (word{k, text}); !p.uses[use{w, who}] {
			p.uses[use{w, who}] = true
			p.senders[w]++
		}
	}
}

func (p *prover) takes(w word, who string) {
	if !p.tokens[w] {
		p.distinct[w.Key]++
	}
	p.tokens[w] = true
	if !slices.Contains(p.takers[w], who) {
		p.takers[w] = append(p.takers[w], who)
	}
}
