package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/respclient"
)

// A cluster of three masters and three replicas, with three Sentinels, in one process. The time is from exec until all
// nine have answered, the cluster serves all slots, and the replicas have the data of their masters.
//
//	go test ./bench -run '^$' -bench Topology
func BenchmarkTopology(b *testing.B) {
	program, err := build(b.TempDir(), "cmd/miniredisd")
	require.NoError(b, err)
	memory := 0.0
	for b.Loop() {
		ports := filepath.Join(b.TempDir(), "ports")
		s := &server{cmd: exec.Command(program, "--lab", "yes", "--cluster", "yes", "--masters", "3", "--replicas", "1",
			"--sentinels", "3", "--port", "0", "--port-file", ports)}
		require.NoError(b, s.cmd.Start())
		for !serves(ports, 9, 3) {
			time.Sleep(100 * time.Microsecond)
		}
		b.StopTimer()
		memory = max(memory, s.rss())
		s.stop()
		b.StartTimer()
	}
	b.ReportMetric(memory, "MiB")
	b.ReportMetric(b.Elapsed().Seconds()*1000/float64(b.N), "ms/start")
}

// serves reports whether all servers of a file of ports answer, and so many replicas follow their masters.
func serves(ports string, servers, replicas int) bool {
	text, err := os.ReadFile(ports)
	if err != nil {
		return false
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	for _, line := range lines {
		port, _, _ := strings.Cut(line, " ")
		if !ping("127.0.0.1:" + port) {
			return false
		}
	}
	first, _, _ := strings.Cut(lines[0], " ")
	c, err := respclient.Dial("127.0.0.1:" + first)
	if err != nil {
		return false
	}
	defer c.Close()
	state, err := c.Do("CLUSTER", "INFO")
	if err != nil || !strings.Contains(state.Str, "cluster_state:ok") {
		return false
	}
	topology, err := c.Do("LAB", "TOPOLOGY")
	return err == nil && len(lines) == servers && strings.Count(fmt.Sprint(topology), "connected") == replicas
}
