package main

import (
	"fmt"
	"strings"

	"github.com/miniredisd/miniredisd/internal/respclient"
	"github.com/miniredisd/miniredisd/resp"
)

// harness is the name (CLIENT SETNAME) of the connections that scenarios use beside their client.
// They change locks that others hold.
const harness = "interop"

// excuse is a correct finding of LAB DOCTOR about a client of the matrix.
type excuse struct {
	pattern, key string // the key contains it
	why          string
}

func excuses() []excuse {
	const onPurpose = "the scenario has the lease run out before it unlocks"
	const noTimeout = "its locks have no TTL unless they are given one, and most scenarios give them none"
	const recipe = "a waiter of this scenario sleeps between its attempts; on a slow machine it makes many of them"
	const twoThirds = "it renews when two thirds of the lease are over, or more"
	return []excuse{
		{"lease-without-slack", ":python-redis-lock ", twoThirds},
		{"lease-without-slack", ":redlock 5", twoThirds},
		{"lease-without-slack", ":redlock-universal ", twoThirds},
		{"script-in-full", ":redisson-3", "it sends EVAL for every lock unless useScriptCache is set; Redisson 4 " +
			"does so by itself"},
		{"script-in-full", ":Laravel ", "it sends EVAL for every release"},
		{"late-unlock", ":stranger:", onPurpose},
		{"polling", ":jedis-", recipe},
		{"polling", ":phpredis ", "its session lock polls, and sixteen workers wait for it"},
		{"polling", ":lettuce-", recipe},
		{"lock-without-ttl", ":redis-py ", noTimeout},
		{"owner-gone", ":redis-py ", noTimeout},
		{"lock-without-ttl", ":python-redis-lock ", noTimeout},
		{"owner-gone", ":python-redis-lock ", noTimeout},
	}
}

// consult reads and resets the findings of LAB DOCTOR on each server. The clients here are correct,
// so a finding is a mistake of the doctor, unless it has an excuse.
func (k *kind) consult() (wrong, excused []string, err error) {
	forget := []string{"LAB", "DOCTOR", "RESET"}
	if k.name == proxied { // its doctor reads the log
		forget = []string{"LAB", "LOG", "RESET"}
	}
	for _, addr := range k.addrs {
		findings, err := askDoctor(addr)
		if err == nil {
			err = tell(addr, forget...)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("LAB DOCTOR: %w", err)
		}
		for _, f := range findings {
			if f["name"] == harness {
				continue
			}
			line := fmt.Sprintf("LAB DOCTOR: %s, key %s, client %s, %s times: %s", f["pattern"], f["key"],
				f["client"], f["count"], f["commands"])
			if why := excuseOf(f); why != "" {
				excused = append(excused, line+"\n    "+why)
			} else {
				wrong = append(wrong, line)
			}
		}
	}
	return wrong, excused, nil
}

func excuseOf(f map[string]string) string {
	for _, e := range excuses() {
		if f["pattern"] == e.pattern && strings.Contains(f["key"], e.key) {
			return e.why
		}
	}
	return ""
}

// askDoctor returns the findings, each by the names of its fields.
func askDoctor(addr string) ([]map[string]string, error) {
	c, err := respclient.Dial(addr)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	c.Limit = startLimit
	reply, err := c.Do("LAB", "DOCTOR")
	if err != nil {
		return nil, err
	}
	if reply.Kind != '*' {
		return nil, fmt.Errorf("%s: is lab yes among the arguments of miniredisd?", reply)
	}
	var all []map[string]string
	for _, v := range reply.Elems {
		fields := map[string]string{}
		for i := 0; i+1 < len(v.Elems); i += 2 {
			fields[v.Elems[i].Str] = text(v.Elems[i+1])
		}
		all = append(all, fields)
	}
	return all, nil
}

func text(v resp.Value) string {
	switch v.Kind {
	case ':':
		return fmt.Sprint(v.Int)
	case '*':
		parts := make([]string, len(v.Elems))
		for i, e := range v.Elems {
			parts[i] = "\n    " + e.Str
		}
		return strings.Join(parts, "")
	}
	return v.Str
}
