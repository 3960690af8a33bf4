package main

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/lab/explore/trials"
)

func shell(text string) *process { return &process{command: []string{"/bin/sh", "-c", text}} }

func TestAProcessRunsManyScenarios(t *testing.T) {
	p := shell(`n=0; while read addr; do n=$((n + 1)); echo "{\"failed\": \"$addr $n\"}"; done`)
	defer p.end()
	for _, failed := range []string{"here 1", "here 2", "here 3"} {
		a, err := p.play(t.Context(), trials.Task{Addrs: []string{"here"}})
		require.NoError(t, err)
		require.Equal(t, trials.Answer{Failed: failed}, a)
	}
}

func TestAProcessThatEndsOrHangsIsStartedAgain(t *testing.T) {
	ends := shell("echo why >&2; read addr; exit 3")
	hangs := shell("echo why >&2; sleep 600 & wait")
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for range 2 {
		a, err := ends.play(t.Context(), trials.Task{Addrs: []string{"here"}})
		require.NoError(t, err)
		require.Equal(t, trials.Answer{Failed: "the process ended", Output: "why\n"}, a)
		a, err = hangs.play(over, trials.Task{Addrs: []string{"here"}})
		require.NoError(t, err)
		require.Equal(t, "the scenario did not end", a.Failed)
		require.Nil(t, hangs.cmd)
	}
	_, err := (&process{command: []string{"/no/such/program"}}).play(t.Context(), trials.Task{Addrs: []string{"here"}})
	require.Error(t, err)
}
