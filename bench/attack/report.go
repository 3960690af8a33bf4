package main

import (
	"fmt"
	"strings"
)

// line is a row of the text that is printed.
func (r result) line() string {
	return fmt.Sprintf("%-36s %9d  %s | %s  %s", r.name, r.n, r.ours.text(), r.redis.text(), r.verdict())
}

func (o outcome) text() string {
	return fmt.Sprintf("%8.3fs %6.0f MB %6d ms%s", o.took.Seconds(), o.peakMB, o.stall.Milliseconds(), o.marks())
}

// marks are what happened besides, such as " busy killed".
func (o outcome) marks() string {
	marks := ""
	if o.busy > 0 {
		marks += " busy"
	}
	if o.killed {
		marks += " killed"
	}
	if o.death != "" {
		marks += " (" + o.death + ")"
	}
	return marks
}

func (r result) verdict() string {
	switch {
	case r.redis.death != "":
		return "redis-server dies"
	case len(r.findings) == 0 && r.known != "":
		return "passes; was known: " + r.known
	case len(r.findings) == 0:
		return "ok"
	case r.known != "":
		return "known: " + strings.Join(r.findings, "; ") + " (" + r.known + ")"
	}
	return "FINDING: " + strings.Join(r.findings, "; ")
}

func (r result) bad() bool { return len(r.findings) > 0 && r.known == "" }

// summary prints the rows with a finding that is not known and a last line. It returns the number of these findings.
func summary(results []result) (bad int) {
	known := 0
	for _, r := range results {
		switch {
		case r.bad():
			bad++
			fmt.Println("finding:", r.line())
		case len(r.findings) > 0:
			known++
		}
	}
	fmt.Printf("%d attacks: %d findings, %d known ones\n", len(results), bad, known)
	return bad
}

// markdown is the report of -o.
func markdown(results []result, b bench) string {
	var m strings.Builder
	m.WriteString("# Attacks on miniredisd and redis-server\n\n")
	fmt.Fprintf(&m, "busy-reply-threshold %s; a server ends at %d MB or %s.\n\n",
		b.caps.busy, b.caps.memoryMB, b.caps.time)
	m.WriteString("| attack | n | s | redis s | ratio | MB | redis MB | ratio | wait ms | redis wait ms | verdict |\n")
	m.WriteString("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|\n")
	for _, r := range results {
		fmt.Fprintf(&m, "| %s: %s | %d | %.3f%s | %.3f%s | %.2f | %.0f | %.0f | %.2f | %d | %d | %s |\n",
			r.name, cell(r.does), r.n,
			r.ours.took.Seconds(), r.ours.marks(), r.redis.took.Seconds(), r.redis.marks(),
			ratio(r.ours.took.Seconds(), r.redis.took.Seconds()),
			r.ours.peakMB, r.redis.peakMB, ratio(r.ours.peakMB, r.redis.peakMB),
			r.ours.stall.Milliseconds(), r.redis.stall.Milliseconds(), cell(r.verdict()))
	}
	return m.String()
}

func cell(text string) string { return strings.NewReplacer("|", "\\|", "\n", " ").Replace(text) }
