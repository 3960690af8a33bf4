package main

import (
	"fmt"
	"slices"
	"time"
)

// Below these a difference is noise, or the runtime of Go.
const (
	timeFloor   = 150 * time.Millisecond
	memoryFloor = 80.0 // MB: the collector lets 64 MB of garbage lie
	countFloor  = 24.0 // MB
)

// judge returns what is wrong with ours. An attack may take twice redis-server's time and 1.5 times its memory.
// Others wait at most for busy-reply-threshold longer than they do in redis-server, or they are told BUSY.
// What kills redis-server may do so here, and an attack that starves the clients of redis-server may be refused.
// All bounds on time and memory are slack times as large.
func judge(a attack, ours, redis outcome, busy time.Duration, slack float64) (findings []string) {
	if redis.death != "" {
		return nil
	}
	longest := func(d time.Duration) time.Duration { return time.Duration(slack * float64(d)) }
	find := func(bad bool, format string, args ...any) {
		if bad {
			findings = append(findings, fmt.Sprintf(format, args...))
		}
	}
	find(ours.death != "", "ends: %s", ours.death)
	find(ours.took > longest(2*redis.took+timeFloor), "time %.1f times",
		ratio(ours.took.Seconds(), redis.took.Seconds()))
	find(ours.peakMB > slack*(1.5*redis.peakMB+memoryFloor), "memory %.1f times", ratio(ours.peakMB, redis.peakMB))
	find(ours.stall > longest(busy+redis.stall+timeFloor), "others wait %d ms", ours.stall.Milliseconds())
	find(a.endless && redis.killed && !ours.killed && ours.busy > 0, "SCRIPT KILL in vain")
	counted := min(redis.usedMB, ours.peakMB) // what redis-server reserves and we do not needs no count
	find(a.held && counted > countFloor && ours.usedMB < counted/3, "counts %.0f MB of %.0f", ours.usedMB, ours.peakMB)
	starved := redis.stall > busy+timeFloor // by what we refuse
	find(ours.refused != "" && redis.refused == "" && !starved, "refuses: %.80s", ours.refused)
	find(!slices.Equal(ours.same, redis.same), "answers %.60q, not %.60q", ours.same, redis.same)
	return findings
}

func ratio(ours, redis float64) float64 { return ours / max(redis, 1e-3) }
