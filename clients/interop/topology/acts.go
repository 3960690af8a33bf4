package main

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// act does what a program asks for.
func (s *stage) act(what, key string) error {
	switch what {
	case "move":
		return s.move(key)
	case "finish":
		return s.finish(key)
	case "failover":
		return s.failover(key)
	case "cut":
		return s.cut("PUBSUB")
	case "outage":
		return s.outage()
	}
	return fmt.Errorf("a program asks for %q", what)
}

// move lets the slot of a key stand half-way to another master: its keys are there.
func (s *stage) move(key string) error {
	slot, from, err := s.owner(s.nodes[0], key)
	if err != nil {
		return err
	}
	to := (from + 1) % 3
	source, err := ask(s.nodes[from], "CLUSTER", "MYID")
	if err != nil {
		return err
	}
	target, err := ask(s.nodes[to], "CLUSTER", "MYID")
	if err != nil {
		return err
	}
	if _, err := ask(s.nodes[to], "CLUSTER", "SETSLOT", slot, "IMPORTING", source.Str); err != nil {
		return err
	}
	if _, err := ask(s.nodes[from], "CLUSTER", "SETSLOT", slot, "MIGRATING", target.Str); err != nil {
		return err
	}
	keys, err := ask(s.nodes[from], "CLUSTER", "GETKEYSINSLOT", slot, "1000")
	if err != nil || len(keys.Elems) == 0 {
		return err
	}
	_, port, _ := strings.Cut(s.nodes[to], ":")
	words := []string{"MIGRATE", "127.0.0.1", port, "", "0", "5000", "KEYS"}
	for _, k := range keys.Elems {
		words = append(words, k.Str)
	}
	_, err = ask(s.nodes[from], words...)
	return err
}

// finish ends move.
func (s *stage) finish(key string) error {
	slot, from, err := s.owner(s.nodes[0], key)
	if err != nil {
		return err
	}
	to := (from + 1) % 3
	target, err := ask(s.nodes[to], "CLUSTER", "MYID")
	if err != nil {
		return err
	}
	for _, at := range []int{to, from} {
		if _, err := ask(s.nodes[at], "CLUSTER", "SETSLOT", slot, "NODE", target.Str); err != nil {
			return err
		}
	}
	return nil
}

// cut ends the connections of clients of a type.
func (s *stage) cut(kind string) error {
	for _, addr := range s.nodes {
		if _, err := ask(addr, "CLIENT", "KILL", "TYPE", kind); err != nil {
			return err
		}
	}
	return nil
}

// outage cuts the clients of all nodes while no Sentinel answers.
func (s *stage) outage() error {
	for n := range s.sentinels {
		if err := s.away(n); err != nil {
			return err
		}
	}
	if err := s.cut("NORMAL"); err != nil {
		return err
	}
	return until("the Sentinels are back", func() bool { return answers(s.sentinels) })
}

// owner returns the slot of a key, and who serves it, as a node believes.
func (s *stage) owner(at, key string) (slot string, node int, err error) {
	n, err := ask(at, "CLUSTER", "KEYSLOT", key)
	if err != nil {
		return "", 0, err
	}
	ranges, err := ask(at, "CLUSTER", "SLOTS")
	if err != nil {
		return "", 0, err
	}
	for _, r := range ranges.Elems {
		if r.Elems[0].Int <= n.Int && n.Int <= r.Elems[1].Int {
			addr := fmt.Sprintf("127.0.0.1:%d", r.Elems[2].Elems[1].Int)
			return strconv.FormatInt(n.Int, 10), slices.Index(s.nodes, addr), nil
		}
	}
	return "", 0, fmt.Errorf("nobody serves slot %d", n.Int)
}

// failover ends the master of a key, whose replicas have all, and waits for another one.
func (s *stage) failover(key string) error {
	master, at := 0, s.nodes[1]
	var err error
	if s.mode == inCluster {
		if _, master, err = s.owner(s.nodes[0], key); err != nil {
			return err
		}
		at = s.nodes[(master+1)%3]
	}
	if err := until("the replicas have all", func() bool { return caughtUp(infoOf(s.nodes[master])) }); err != nil {
		return err
	}
	if err := s.end(master); err != nil {
		return err
	}
	s.lost = time.Now()
	defer func() { s.named = time.Since(s.lost) }()
	return until("there is another master", func() bool {
		if s.mode == inCluster {
			_, now, err := s.owner(at, key)
			return err == nil && now != master && now >= 0
		}
		v, err := ask(s.sentinels[0], "SENTINEL", "GET-MASTER-ADDR-BY-NAME", masterName)
		return err == nil && len(v.Elems) == 2 && !strings.HasSuffix(s.nodes[master], ":"+v.Elems[1].Str)
	})
}

// caughtUp reports whether all replicas of a master have acknowledged all that it has executed.
func caughtUp(info string) bool {
	own := regexp.MustCompile(`master_repl_offset:(\d+)`).FindStringSubmatch(info)
	replicas := regexp.MustCompile(`slave\d+:.*state=online,offset=(\d+)`).FindAllStringSubmatch(info, -1)
	return own != nil && len(replicas) > 0 &&
		!slices.ContainsFunc(replicas, func(r []string) bool { return r[1] != own[1] })
}
