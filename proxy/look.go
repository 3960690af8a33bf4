package proxy

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/resp"
)

// keyAt names a key.
type keyAt struct {
	db  int
	key string
}

// sight is what the upstream has said of some keys.
type sight struct {
	at      int64          // unix ms, by the clock of the lab
	evicted int64          // how many keys the upstream has evicted so far
	follows bool           // it is a replica
	moved   map[keyAt]bool // another node of the cluster has their slot
	values  map[keyAt]*lab.Value
}

// lookScript reads one key in one moment. No other way does: a client may write between two commands. It says: the
// time, the type, when the key expires, the number of parts, and the parts of a value that is small enough.
const lookScript = `
local k, most, longest = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2])
local now = redis.call('TIME')
local ms = now[1] * 1000 + math.floor(now[2] / 1000)
local t = redis.call('TYPE', k)
t = t.ok or t
if t == 'none' then return {ms, t} end
local at = redis.call('PEXPIRETIME', k)
local n, v, ends = 0, false, false
if t == 'string' then
  n = redis.call('STRLEN', k)
  if n <= longest then v = redis.call('GET', k) end
elseif t == 'list' then
  n = redis.call('LLEN', k)
  if n <= most then v = redis.call('LRANGE', k, 0, -1) end
elseif t == 'set' then
  n = redis.call('SCARD', k)
  if n <= most then v = redis.call('SMEMBERS', k) end
elseif t == 'zset' then
  n = redis.call('ZCARD', k)
  if n <= most then v = redis.call('ZRANGE', k, 0, -1, 'WITHSCORES') end
elseif t == 'hash' then
  n = redis.call('HLEN', k)
  if n <= most then
    v = redis.call('HGETALL', k)
    if ARGV[3] == 'fields' then
      local f = {}
      for i = 1, #v, 2 do f[#f + 1] = v[i] end
      ends = redis.call('HPEXPIRETIME', k, 'FIELDS', #f, unpack(f))
    end
  end
elseif t == 'stream' then
  n = redis.call('XLEN', k)
end
return {ms, t, at, n, v, ends}`

// look asks the upstream what some keys are now. then is called once. The error says why the keys cannot be read. If
// another process answers than before, the log has that first, with what has become of all known keys.
func (l *labState) look(keys []keyAt, then func(*sight, error)) {
	l.lookAt(keys, func(s *sight, err error) {
		if err != nil || !l.ledger.restarted {
			then(s, err)
			return
		}
		all := l.ledger.keys()
		l.lookAt(all, func(now *sight, err error) {
			if err != nil {
				then(nil, err)
				return
			}
			l.ledger.restarted = false
			l.crashed(all, now, false)
			then(s, nil)
		})
	})
}

// lookAt is look in one round trip.
func (l *labState) lookAt(keys []keyAt, then func(*sight, error)) {
	var requests []byte
	n, db := 0, -1
	fields := "none"
	if l.table["hpexpiretime"] != nil {
		fields = "fields"
	}
	for _, k := range keys {
		if k.db != db {
			db = k.db
			requests = resp.AppendRequest(requests, "SELECT", strconv.Itoa(db))
			n++
		}
		if l.p.cfg.Behind == Cluster {
			requests = resp.AppendRequest(requests, "ASKING") // a slot may be on its way to this node
			n++
		}
		requests = resp.AppendRequest(requests, "EVAL", lookScript, "1", k.key, strconv.Itoa(lab.MostParts),
			strconv.Itoa(lab.MostBytes), fields)
		n++
	}
	if l.p.places != nil {
		requests = resp.AppendRequest(requests, "ROLE")
		n++
	}
	requests = resp.AppendRequest(requests, "INFO", "stats")
	l.askFor(n+1, requests, func(got []resp.Value, err error) {
		var s *sight
		if err == nil {
			s, err = l.sightOf(keys, got)
		}
		then(s, err)
	})
}

// mostAsked is how many questions may have no answer before the proxy connects again.
const mostAsked = 64

// askFor asks the upstream, and gives up after a while.
func (l *labState) askFor(n int, requests []byte, then func(got []resp.Value, err error)) {
	var q *question
	timer := l.p.loop.After(patience, func() time.Duration {
		if q.answer(errSilent); len(l.asker.asked) > mostAsked {
			l.asker.end(errSilent)
		}
		return 0
	})
	q = l.asker.ask(n, requests, func(got []resp.Value, err error) {
		l.p.loop.Cancel(timer)
		then(got, err)
	})
}

// later is why a look has to be tried again.
type later string

func (e later) Error() string { return string(e) }

const (
	errSilent later = "the upstream does not answer"
	errBusy   later = "the upstream is busy"
)

// sightOf reads the replies to look.
func (l *labState) sightOf(keys []keyAt, got []resp.Value) (*sight, error) {
	s := &sight{values: map[keyAt]*lab.Value{}, at: l.ledger.now()}
	i, db := 0, -1
	for _, k := range keys {
		if k.db != db {
			if db = k.db; got[i].Kind == '-' {
				return nil, refusal(got[i].Str)
			}
			i++
		}
		if l.p.cfg.Behind == Cluster {
			i++
		}
		v := got[i]
		i++
		if v.Kind == '-' && isElsewhere(v.Str) {
			if s.moved == nil {
				s.moved = map[keyAt]bool{}
			}
			s.moved[k] = true
			continue
		}
		if v.Kind == '-' {
			return nil, refusal(v.Str)
		}
		if len(v.Elems) < 2 {
			return nil, errors.New("the upstream does not run scripts as Redis does")
		}
		l.ledger.skew = v.Elems[0].Int - time.Now().UnixMilli()
		s.at = v.Elems[0].Int + l.ledger.ahead
		if len(v.Elems) > 2 {
			s.values[k] = l.valueOf(v.Elems[1:])
		}
	}
	if l.p.places != nil && len(got[i].Elems) > 0 {
		s.follows = got[i].Elems[0].Str == "slave"
	}
	last := got[len(got)-1]
	if last.Kind == '-' {
		return nil, refusal(last.Str)
	}
	s.evicted, _ = strconv.ParseInt(infoField(last.Str, "evicted_keys"), 10, 64)
	return s, nil
}

// isElsewhere reports whether a node of a cluster has not shown a key because another one has its slot, or gets it.
func isElsewhere(text string) bool {
	return strings.HasPrefix(text, "MOVED ") || strings.HasPrefix(text, "ASK ")
}

// refusal is the error of an upstream that does not say what a key is.
func refusal(text string) error {
	for _, busy := range []string{"BUSY ", "LOADING "} {
		if len(text) > len(busy) && text[:len(busy)] == busy {
			return errBusy
		}
	}
	return errors.New("the upstream has refused to show a key: " + text)
}

// valueOf reads what lookScript says of a key.
func (l *labState) valueOf(e []resp.Value) *lab.Value {
	v := &lab.Value{Type: e[0].Str, Deadline: l.deadline(e[1].Int)}
	size, parts := int(e[2].Int), e[3]
	if parts.Null {
		v.Unread, v.Len = true, size
		return v
	}
	if v.Type == "string" {
		v.Text = lab.Word([]byte(parts.Str))
		return v
	}
	v.Len = size
	step := 1
	if v.Type == "zset" || v.Type == "hash" {
		step = 2
	}
	for i := 0; i+step <= len(parts.Elems); i += step {
		one := lab.Part{Name: lab.Word([]byte(parts.Elems[i].Str))}
		switch {
		case v.Type == "zset":
			score, _ := strconv.ParseFloat(parts.Elems[i+1].Str, 64)
			one.Value = strconv.FormatFloat(score, 'g', -1, 64)
		case v.Type == "hash":
			one.Value = lab.Word([]byte(parts.Elems[i+1].Str))
			if len(e) > 4 && i/2 < len(e[4].Elems) {
				one.Deadline = l.deadline(e[4].Elems[i/2].Int)
			}
		}
		v.Parts = append(v.Parts, one)
	}
	if v.Type != "list" {
		slices.SortFunc(v.Parts, func(a, b lab.Part) int { return cmp.Compare(a.Name, b.Name) })
	}
	return v
}

// deadline turns a time of the upstream into one of the lab; 0 is never.
func (l *labState) deadline(at int64) int64 {
	if at <= 0 {
		return 0
	}
	return at + l.ledger.ahead
}
