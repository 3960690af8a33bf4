package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// conclusions returns what the figures say, in at most twelve sentences. It leaves out sentences about
// models that were not measured.
func (m *matrix) conclusions() []string {
	command := m.cells[0].command
	load := m.typical(command)
	f := m.of(load)
	all := []string{fmt.Sprintf("The sentences below are about %s with %s, unless they name another load.",
		strings.ToUpper(command), load.words())}
	add := func(needs []string, format string, args ...any) {
		for _, name := range needs {
			if _, measured := f[name]; !measured {
				return
			}
		}
		all = append(all, fmt.Sprintf(format, args...))
	}
	reactor, redis := f["reactor"], f["redis-server"]
	four, redisFour := f["io-threads-4"], f["redis-server-io-4"]
	goroutines, queue, owners, rings := f["goroutines"], f["queue"], f["owners"], f["rings"]
	add([]string{"reactor", "redis-server"},
		"The reactor uses %.1f µs of CPU for a request, and redis-server uses %.1f µs.", reactor.cpu, redis.cpu)
	add([]string{"reactor", "io-threads-4"},
		"Four I/O threads leave the executing thread %.1f µs, which is %.0f %% of the reactor's time.",
		four.executing, 100*four.executing/reactor.executing)
	add([]string{"reactor", "io-threads-4"},
		"All threads together then use %.1f µs, %.2f times the reactor's time: threads move work and add some.",
		four.cpu, four.cpu/reactor.cpu)
	add([]string{"io-threads-4", "redis-server-io-4"},
		"redis-server with four I/O threads uses %.1f µs, because its threads spin while they wait.", redisFour.cpu)
	add([]string{"reactor", "goroutines"},
		"A goroutine for each connection uses %.1f µs, %.2f times the reactor's time.",
		goroutines.cpu, goroutines.cpu/reactor.cpu)
	add([]string{"reactor", "queue"},
		"An executor behind a channel uses %.1f µs, %.2f times the reactor's time.", queue.cpu, queue.cpu/reactor.cpu)
	for _, newer := range []struct {
		name, does string
		figures
	}{
		{"owners", "Threads that own clients, as in Redis 8,", owners},
		{"rings", "Rings of jobs for threads, as in Valkey 8,", rings},
	} {
		add([]string{"reactor", newer.name}, "%s leave main %.1f µs of %.1f µs, which is %.0f %% of the reactor's time.",
			newer.does, newer.executing, newer.cpu, 100*newer.executing/reactor.executing)
	}
	best := m.fastest(load)
	add(nil, "The highest rate is that of %s, with %.0f requests per second for server and load together.",
		best, f[best].rate)
	add([]string{"reactor", "io-threads-4"},
		"With cores to spare, the reactor's ceiling is %s requests per second, and four I/O threads raise it to %s.",
		reactor.ceiling(), four.ceiling())
	long := load
	long.pipeline = 16
	if g := m.of(long); g != nil {
		add([]string{"reactor"}, "With a pipeline of 16, the reactor uses %.1f µs for a request: a pass then shares "+
			"its system calls among many requests.", g["reactor"].cpu)
	}
	return all
}

// of returns the figures of a cell by the names of the models, or nil if the cell was not measured.
func (m *matrix) of(c cell) map[string]figures {
	at := slices.Index(m.cells, c)
	if at < 0 {
		return nil
	}
	byName := map[string]figures{}
	for i, f := range m.figures[at] {
		byName[m.models[i].name] = f
	}
	return byName
}

// fastest returns the name of the model with the highest rate in a cell.
func (m *matrix) fastest(c cell) string {
	row := m.figures[slices.Index(m.cells, c)]
	top := slices.MaxFunc(row, func(a, b figures) int { return cmp.Compare(a.rate, b.rate) })
	return m.models[slices.Index(row, top)].name
}
