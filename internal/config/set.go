package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/miniredisd/miniredisd/internal/ascii"
)

// Get is CONFIG GET: it returns names and values in turn, of every directive that matches one of the
// patterns. A pattern without glob characters must be a directive's name, and the reply has the name as
// it was spelled. match compares other patterns with names.
func (c *Config) Get(patterns []string, match func(pattern, name string) bool) []string {
	var pairs, seen []string
	add := func(name string, r *row) {
		if !slices.Contains(seen, name) {
			seen = append(seen, name)
			pairs = append(pairs, name, c.value(r))
		}
	}
	for _, p := range patterns {
		if !strings.ContainsAny(p, "[*?") {
			if r := c.lookup(p); r != nil {
				add(p, r)
			}
			continue
		}
		for r := range c.rows() {
			for _, name := range [2]string{r.name, r.alias} {
				if name != "" && r.flags&(hidden|own) == 0 && match(p, name) {
					add(name, r)
				}
			}
		}
	}
	return pairs
}

// change is one pair of CONFIG SET.
type change struct {
	name     string // as the client sent it: a name or an alias
	row      *row
	old, new string
}

// Set is CONFIG SET. pairs has names and values in turn. Either all values are stored or none. local
// reports whether the client is on this machine, which protected directives may require.
//
// After storing the values, Set calls apply for each changed directive, to put it into effect. If apply
// fails, Set restores all values, applies them again and returns the error. apply may be nil. changed
// has the names of the directives whose value differs from before, or that name a file.
func (c *Config) Set(pairs []string, local bool, apply func(name string) error) (changed []string, err error) {
	changes, err := c.changes(pairs, local)
	if err != nil {
		return nil, err
	}
	for i := range changes {
		ch := &changes[i]
		value, why := c.parse(ch.row, splitValue(ch.row, ch.new), false)
		if why != "" {
			c.restore(changes[:i])
			return nil, setError(ch.name, why)
		}
		ch.new = value
		c.store(ch.row, value)
		if value != ch.old || ch.row.flags&volatile != 0 {
			changed = append(changed, ch.row.name)
		}
	}
	c.clamp()
	if apply == nil {
		return changed, nil
	}
	for i, name := range changed {
		if err := apply(name); err != nil {
			c.restore(changes)
			for _, undo := range changed[:i+1] {
				_ = apply(undo) // the old value was in effect before; the client gets the first error
			}
			return nil, setError(name, err.Error())
		}
	}
	return changed, nil
}

// changes looks up the directives of a CONFIG SET and checks that they may be set.
func (c *Config) changes(pairs []string, local bool) ([]change, error) {
	var list []change
	seen := map[string]bool{} // by the spelled name: Redis does not notice a name beside its alias
	for i := 0; i+1 < len(pairs); i += 2 {
		name := pairs[i]
		r := c.lookup(name)
		key := ascii.ToLower(name)
		switch {
		case r == nil:
			return nil, fmt.Errorf("ERR Unknown option or number of arguments for CONFIG SET - '%s'", beforeZero(name))
		case r.flags&immutable != 0:
			return nil, setError(name, "can't set immutable config")
		case r.flags&protected != 0 && !c.allowProtected(local):
			return nil, setError(name, "can't set protected config")
		case seen[key]:
			return nil, setError(name, "duplicate parameter")
		}
		seen[key] = true
		list = append(list, change{key, r, c.given(r), pairs[i+1]})
	}
	return list, nil
}

// beforeZero is text up to its first zero byte, where Redis ends an argument in an error.
func beforeZero(text string) string {
	text, _, _ = strings.Cut(text, "\x00")
	return text
}

func (c *Config) allowProtected(local bool) bool {
	return c.EnableProtectedConfigs == "yes" || c.EnableProtectedConfigs == "local" && local
}

// splitValue splits the value of a directive that takes several values.
func splitValue(r *row, value string) []string {
	switch {
	case !r.multi():
		return []string{value}
	case value == "":
		return nil
	}
	return strings.Split(value, " ")
}

func (c *Config) restore(changes []change) {
	for _, ch := range changes {
		c.store(ch.row, ch.old)
	}
}

func setError(name, why string) error {
	return fmt.Errorf("ERR CONFIG SET failed (possibly related to argument '%s') - %s", name, why)
}
