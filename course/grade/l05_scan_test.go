package grade

import (
	"strconv"
	"strings"
	"testing"

	"github.com/miniredisd/miniredisd/resp"
)

// walker counts and deletes by SCAN. Programs differ in how they walk.
type walker struct {
	*owner
	lock  // nobody asks for a lock
	pages func(w *walker, pattern string, each func(names []string) error) error
	twice bool // it counts repeated names again
	late  bool // it deletes everything at the end
	seen  bool // it counts what it has seen, not what it has deleted
}

func (w *walker) count(pattern string) (int, error) {
	names, n := map[string]bool{}, 0
	err := w.pages(w, pattern, func(page []string) error {
		for _, name := range page {
			names[name] = true
		}
		n += len(page)
		return nil
	})
	if w.twice {
		return n, err
	}
	return len(names), err
}

func (w *walker) purge(pattern string) (sum int, err error) {
	var all []string
	drop := func(names []string) error {
		if len(names) == 0 {
			return nil
		}
		v, err := w.one(append([]string{"UNLINK"}, names...)...)
		if sum += int(v.Int); w.seen {
			sum += len(names) - int(v.Int)
		}
		return err
	}
	each := drop
	if w.late {
		each = func(names []string) error {
			all = append(all, names...)
			return nil
		}
	}
	if err := w.pages(w, pattern, each); err != nil {
		return 0, err
	}
	return sum, drop(all)
}

func texts(v resp.Value) (all []string) {
	for _, e := range v.Elems {
		all = append(all, e.Str)
	}
	return all
}

// scanned walks with a COUNT. If it is hasty, an empty page is the end.
func scanned(count int, hasty bool) func(*walker, string, func([]string) error) error {
	return func(w *walker, pattern string, each func([]string) error) error {
		for next, more := "0", true; more; {
			v, err := w.one("SCAN", next, "MATCH", pattern, "COUNT", strconv.Itoa(count))
			if err != nil {
				return err
			}
			page := texts(v.Elems[1])
			if err := each(page); err != nil {
				return err
			}
			next = v.Elems[0].Str
			more = next != "0" && (!hasty || len(page) > 0)
		}
		return nil
	}
}

// once gets all names by one request.
func once(request string) func(*walker, string, func([]string) error) error {
	return func(w *walker, pattern string, each func([]string) error) error {
		words := strings.Split(request, "|")
		v, err := w.one(append(words, pattern)...)
		if err != nil {
			return err
		}
		return each(texts(v))
	}
}

const loopOfScan = "EVAL|local next, all = '0', {} repeat local r = redis.call('SCAN', next, 'MATCH', ARGV[1]) " +
	"next = r[1] for _, k in ipairs(r[2]) do all[#all + 1] = k end until next == '0' return all|0"

func flush(w *walker, _ string, _ func([]string) error) error {
	_, err := w.one("FLUSHALL")
	return err
}

func lab05Students() map[string]func() {
	with := func(w walker) func() {
		return play("a search in Go", func(o *owner) lock {
			one := w
			one.owner = o
			return &one
		})
	}
	return map[string]func(){
		"L05/small-steps":  with(walker{pages: scanned(50, false)}),
		"L05/large-steps":  with(walker{pages: scanned(mostWalk, false)}),
		"L05/keys":         with(walker{pages: once("KEYS")}),
		"L05/script":       with(walker{pages: once(loopOfScan)}),
		"L05/million":      with(walker{pages: scanned(1_000_000, false)}),
		"L05/hasty":        with(walker{pages: scanned(100, true)}),
		"L05/twice":        with(walker{pages: scanned(50, false), twice: true}),
		"L05/twice-large":  with(walker{pages: scanned(mostWalk, false), twice: true}),
		"L05/late":         with(walker{pages: scanned(100, false), late: true}),
		"L05/counts-seen":  with(walker{pages: scanned(100, false), seen: true}),
		"L05/flush":        with(walker{pages: flush}),
		"L05/does-nothing": with(walker{pages: func(*walker, string, func([]string) error) error { return nil }}),
	}
}

func TestASearchWalksInSmallSteps(t *testing.T) {
	t.Parallel()
	full(t, "L05", "small-steps")
	full(t, "L05", "large-steps")
	keys := "Your program sent KEYS. It walks all keys at once, here 8001"
	loses(t, "L05", "keys", map[int]string{3: keys, 6: "sent KEYS"})
	loses(t, "L05", "script", map[int]string{3: "sent EVAL. For everybody else a script or a transaction is one step"})
	loses(t, "L05", "million", map[int]string{3: "COUNT 1000000. One such step is as long as KEYS"})
	loses(t, "L05", "hasty", map[int]string{4: "answered `found 0`, and there are 3 such keys among 8000 others"})
	loses(t, "L05", "twice", map[int]string{5: "SCAN may return a key twice"})
	loses(t, "L05", "twice-large", map[int]string{5: "SCAN may return a key twice"})
	loses(t, "L05", "late", map[int]string{6: "One UNLINK deleted 3999 keys. Everybody else waited meanwhile"})
	loses(t, "L05", "counts-seen", map[int]string{6: "Add up the replies of UNLINK"})
	loses(t, "L05", "flush", map[int]string{2: "was to leave", 6: "sent FLUSHALL"})
	loses(t, "L05", "does-nothing", map[int]string{1: "answered `found 0`", 2: "are still there", 3: "sent no request"})
}
