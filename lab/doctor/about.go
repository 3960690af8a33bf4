package doctor

import (
	"strconv"
	"strings"
)

// About is what the table of commands says about a request.
type About struct {
	Keys      []string // that it names
	Writes    bool     // it may change a key
	Renews    bool     // it may change the TTL of a lock and nothing else
	Runs      bool     // it runs a script, which may do anything
	Publishes bool     // Keys is the channel
}

// Describe returns what the table of commands says about a request, and reports whether it can be about a lock.
// words are those of an entry of the log.
func Describe(words []string) (a About, ok bool) {
	name := strings.ToLower(words[0])
	m, ok := commands()[name]
	switch {
	case !ok || m.does.has(steers):
		return About{}, false
	case m.does.has(publishes):
		return About{Keys: words[1:min(2, len(words))], Publishes: true}, true
	case m.does.has(runs):
		if len(words) > 2 {
			n, err := strconv.Atoi(words[2])
			if err == nil && n >= 0 && n <= len(words)-3 {
				a.Keys = words[3 : 3+n]
			}
		}
		a.Runs = true
		return a, true
	}
	for _, i := range m.keysOf(nil, name, len(words), func(i int) string { return words[i] }) {
		a.Keys = append(a.Keys, words[i])
	}
	a.Renews = m.does == renews
	a.Writes = m.does.has(takes | sets | damages | renews | removes | moves | clears | counts | uncounts | leases)
	return a, true
}
