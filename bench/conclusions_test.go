package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestConclusionsLeaveOutWhatWasNotMeasured(t *testing.T) {
	m := &matrix{
		models: []model{{name: "reactor"}, {name: "queue"}, {name: "rings"}},
		cells:  []cell{{"get", 50, 1, 1024}, {"get", 50, 16, 1024}},
		figures: [][]figures{
			{{rate: 1000, cpu: 10, executing: 8}, {rate: 2000, cpu: 15, executing: 4}, {rate: 900, cpu: 16, executing: 6}},
			{{rate: 9000, cpu: 2, executing: 1}, {rate: 8000, cpu: 3, executing: 1}, {rate: 900, cpu: 4, executing: 1}},
		},
	}
	require.Equal(t, []string{
		"The sentences below are about GET with 50 connections, pipeline 1, values of 1 KB, unless they name " +
			"another load.",
		"An executor behind a channel uses 15.0 µs, 1.50 times the reactor's time.",
		"Rings of jobs for threads, as in Valkey 8, leave main 6.0 µs of 16.0 µs, which is 75 % of the reactor's time.",
		"The highest rate is that of queue, with 2000 requests per second for server and load together.",
		"With a pipeline of 16, the reactor uses 2.0 µs for a request: a pass then shares its system calls among " +
			"many requests.",
	}, m.conclusions())
}
