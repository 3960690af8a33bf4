package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/internal/freeport"
)

// startProxied starts a process for each server, and miniredisd proxy before them. Clients are told its ports alone.
func startProxied(ctx context.Context, o options, mode string) (*stage, error) {
	s, err := startReal(ctx, o, mode)
	if err != nil {
		return nil, err
	}
	if err = s.putProxy(ctx, o.ours); err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

// putProxy starts the proxy, and learns which of its ports leads where.
func (s *stage) putProxy(ctx context.Context, program string) error {
	port, err := freeport.Choose()
	if err != nil {
		return err
	}
	way := []string{"--upstream-cluster", s.nodes[0]}
	if s.mode == sentinels {
		way = []string{"--upstream-sentinel", s.sentinels[0]}
	}
	if err := s.start(ctx, program, append([]string{"proxy", "--port", port}, way...)...); err != nil {
		return err
	}
	all := slices.Concat(s.nodes, s.sentinels)
	return until("each server has a port of the proxy", func() bool {
		v, err := ask("127.0.0.1:"+port, "LAB", "TOPOLOGY")
		s.doors = map[string]string{}
		for _, place := range v.Elems {
			at, _ := strconv.Atoi(field(place, "same"))
			if at == 0 {
				at = int(valueOf(place, "port").Int)
			}
			s.doors[field(place, "upstream")] = fmt.Sprintf("127.0.0.1:%d", at)
		}
		return err == nil && !slices.ContainsFunc(all, func(addr string) bool { return s.doors[addr] == "" })
	})
}

// door returns the address at which clients find a server.
func (s *stage) door(addr string) string {
	if s.doors == nil {
		return addr
	}
	return s.doors[addr]
}

// past returns a connection to one of the servers that belongs to none of the processes of the stage, "" if there is
// none.
func (s *stage) past() (string, error) {
	pids := []int{os.Getpid()}
	for _, p := range s.processes {
		pids = append(pids, p.Process.Pid)
	}
	for _, addr := range slices.Concat(s.nodes, s.sentinels) {
		if !answers([]string{addr}) { // it has ended, or is stopped
			continue
		}
		if found, err := strangers(addr, pids); err != nil || len(found) > 0 {
			return strings.Join(found, "; "), err
		}
	}
	return "", nil
}

// strangers returns the connections in the CLIENT LIST of a server that belong to none of these processes. One that has
// just ended belongs to nobody, so it is looked for several times.
func strangers(addr string, pids []int) (found []string, err error) {
	for range 5 {
		list, err := ask(addr, "CLIENT", "LIST")
		if err != nil {
			return nil, err
		}
		owned, err := portsOf(pids)
		if err != nil {
			return nil, err
		}
		found = nil
		for line := range strings.Lines(list.Str) {
			_, rest, _ := strings.Cut(line, " addr=")
			from, _, _ := strings.Cut(rest, " ")
			_, port, _ := strings.Cut(from, ":")
			if !owned[port] && !strings.Contains(line, "cmd=client|list") {
				found = append(found, strings.TrimSpace(line))
			}
		}
		if found == nil {
			return nil, nil
		}
		time.Sleep(glance)
	}
	return found, nil
}

// portsOf returns the local ports of the connections of some processes. One of them may have ended.
func portsOf(pids []int) (map[string]bool, error) {
	sockets := map[string]bool{}
	for _, pid := range pids {
		links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid)) // the pattern is right
		for _, link := range links {
			if to, err := os.Readlink(link); err == nil {
				sockets[to] = true
			}
		}
	}
	table, err := os.ReadFile("/proc/self/net/tcp")
	ports := map[string]bool{}
	for line := range strings.Lines(string(table)) {
		columns := strings.Fields(line)
		if len(columns) < 10 || !sockets["socket:["+columns[9]+"]"] {
			continue
		}
		_, hex, _ := strings.Cut(columns[1], ":")
		port, err := strconv.ParseUint(hex, 16, 16)
		if err != nil {
			return nil, fmt.Errorf("/proc/self/net/tcp: %w", err)
		}
		ports[strconv.FormatUint(port, 10)] = true
	}
	return ports, err
}
