package command

import (
	"fmt"
	"strings"
)

func latencyRows() []Row {
	const flags = Admin | NoScript | Loading | Stale
	return []Row{
		{"latency", "",
			-2, 0, nil, "server", "2.8.13",
			"See the subcommands.",
			"Reports slow events and the latency of commands.", nil},
		{"latency|latest", "",
			2, flags | NondeterministicOutput | RequestAllNodes | ResponseSpecial, nil, "server", "2.8.13",
			"O(1)",
			"Lists the latest sample of each event.", latencyLatest},
		{"latency|history", "event",
			3, flags | NondeterministicOutput | RequestAllNodes | ResponseSpecial, nil, "server", "2.8.13",
			"O(1)",
			"Lists the samples of an event.", latencyHistory},
		{"latency|reset", "[event ...]",
			-2, flags | RequestAllNodes | ResponseSum, nil, "server", "2.8.13",
			"O(1)",
			"Deletes the samples of some events, or of all.", latencyReset},
		{"latency|graph", "event",
			3, flags | NondeterministicOutput | RequestAllNodes | ResponseSpecial, nil, "server", "2.8.13",
			"O(1)",
			"Draws the samples of an event.", latencyGraph},
		{"latency|doctor", "",
			2, flags | NondeterministicOutput | RequestAllNodes | ResponseSpecial, nil, "server", "2.8.13",
			"O(1)",
			"Explains the recorded slow events in sentences.", latencyDoctor},
		{"latency|histogram", "[command ...]",
			-2, flags | NondeterministicOutput | RequestAllNodes | ResponseSpecial, nil, "server", "7.0.0",
			"O(N) to return N commands",
			"Returns how the latencies of commands are distributed.", latencyHistogram},
		{"latency|help", "",
			2, Loading | Stale, nil, "server", "2.8.13",
			"O(1)",
			"Lists the subcommands.", Help},
	}
}

// LATENCY LATEST (latency.c: latencyCommand)
func latencyLatest(c *Call) error {
	l := &c.Ex.Latency
	c.Array(len(l.events))
	for _, name := range l.names() {
		e := l.events[name]
		last := e.samples[len(e.samples)-1]
		c.Array(4)
		c.BulkString(name)
		c.Int(last.unix)
		c.Int(last.ms)
		c.Int(e.max)
	}
	return nil
}

// LATENCY HISTORY event (latency.c: latencyCommand)
func latencyHistory(c *Call) error {
	e := c.Ex.Latency.events[string(c.Args[2])]
	if e == nil {
		c.Array(0)
		return nil
	}
	c.Array(len(e.samples))
	for _, s := range e.samples {
		c.Array(2)
		c.Int(s.unix)
		c.Int(s.ms)
	}
	return nil
}

// LATENCY RESET [event ...] (latency.c: latencyCommand)
func latencyReset(c *Call) error {
	l := &c.Ex.Latency
	before := len(l.events)
	if len(c.Args) == 2 {
		l.events = nil
	}
	for _, name := range c.Args[2:] {
		delete(l.events, string(name))
	}
	c.Int(int64(before - len(l.events)))
	return nil
}

// LATENCY GRAPH event (latency.c: latencyCommand)
// Each sample is a column; the latest is on the right.
func latencyGraph(c *Call) error {
	e := c.Ex.Latency.events[string(c.Args[2])]
	if e == nil {
		return errorf("ERR No samples available for event '%s'", c.Args[2])
	}
	const height, width = 5, 80
	shown := e.samples[max(len(e.samples)-width, 0):]
	low, high := shown[0].ms, shown[0].ms
	for _, s := range shown {
		low, high = min(low, s.ms), max(high, s.ms)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s - high %d ms, low %d ms (all time high %d ms)\n%s\n",
		c.Args[2], high, low, e.max, strings.Repeat("-", width))
	for row := int64(height); row > 0; row-- {
		for _, s := range shown {
			if s.ms*height > high*(row-1) {
				b.WriteByte('#')
			} else {
				b.WriteByte(' ')
			}
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "\nFrom %d seconds ago to %d seconds ago.\n",
		c.Now/1000-shown[0].unix, c.Now/1000-shown[len(shown)-1].unix)
	c.Verbatim("txt", b.String())
	return nil
}

// LATENCY DOCTOR (latency.c: latencyCommand)
func latencyDoctor(c *Call) error {
	var b strings.Builder
	l := &c.Ex.Latency
	switch {
	case c.Cfg.LatencyMonitorThreshold == 0:
		b.WriteString("Latency monitoring is off, because latency-monitor-threshold is 0. " +
			"CONFIG SET latency-monitor-threshold <milliseconds> switches it on.\n")
	case len(l.events) == 0:
		fmt.Fprintf(&b, "No event has taken %d ms or longer.\n", c.Cfg.LatencyMonitorThreshold)
	}
	for _, name := range l.names() {
		e := l.events[name]
		sum := int64(0)
		for _, s := range e.samples {
			sum += s.ms
		}
		n := int64(len(e.samples))
		fmt.Fprintf(&b, "%s: %d samples, %d ms on average, %d ms at worst.", name, n, sum/n, e.max)
		switch name {
		case "command", "fast-command":
			b.WriteString(" SLOWLOG GET lists the commands.")
		case "expire-cycle":
			b.WriteString(" Many keys expire at the same time: spread their expiry times.")
		case "eviction-cycle":
			b.WriteString(" Clients wait while keys are evicted: raise maxmemory or store less.")
		}
		b.WriteByte('\n')
	}
	c.Verbatim("txt", b.String())
	return nil
}

// LATENCY HISTOGRAM [command ...] (latency.c: latencyCommand)
func latencyHistogram(c *Call) error {
	var cmds []*Command
	table := c.Ex.Table
	add := func(cmd *Command) {
		if table.Calls(cmd).Latency != nil {
			cmds = append(cmds, cmd)
		}
		for _, sub := range cmd.SubCommands() {
			if table.Calls(sub).Latency != nil {
				cmds = append(cmds, sub)
			}
		}
	}
	if len(c.Args) == 2 {
		for _, cmd := range table.All() {
			add(cmd)
		}
	}
	for _, name := range c.Args[2:] {
		if cmd := table.Find(string(name)); cmd != nil {
			add(cmd)
		}
	}
	c.Map(len(cmds))
	for _, cmd := range cmds {
		latency := table.Calls(cmd).Latency
		c.BulkString(cmd.Name)
		c.Map(2)
		c.BulkString("calls")
		c.Int(latency.Count)
		c.BulkString("histogram_usec")
		m, n := c.Defer(), 0
		latency.cumulative(func(micros, calls int64) {
			c.Int(micros)
			c.Int(calls)
			n++
		})
		c.EndMap(m, n)
	}
	return nil
}
