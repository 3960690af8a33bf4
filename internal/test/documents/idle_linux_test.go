package documents

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// clockTick is the unit of the times in /proc/PID/stat, on every architecture of Linux that Go knows.
const clockTick = 10 * time.Millisecond

// An idleWatch sees for how long the processes of this namespace have done next to nothing. A compiler on
// a busy machine is silent for minutes and works. A command that waits for ever does not.
type idleWatch struct {
	busy   time.Time     // when they worked last
	looked time.Time     // when the watch looked last
	used   time.Duration // their CPU time then
}

func watchIdle() *idleWatch {
	now := time.Now()
	return &idleWatch{busy: now, looked: now, used: cpuTime()}
}

// since returns for how long all processes together have used less than a twentieth of a core.
func (w *idleWatch) since(now time.Time) time.Duration {
	if passed := now.Sub(w.looked); passed >= 100*time.Millisecond {
		used := cpuTime()
		if 20*(used-w.used) > passed {
			w.busy = now
		}
		w.looked, w.used = now, used
	}
	return now.Sub(w.busy)
}

// cpuTime returns the CPU time of all processes in /proc and of the children that they have waited for.
// Of this process, the first one, only the children count.
func cpuTime() time.Duration {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	total := 0
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		_, rest, _ := strings.Cut(string(text), ") ")
		fields := strings.Fields(rest)
		from := 11 // utime, stime, cutime, cstime
		if path == "/proc/1/stat" {
			from = 13
		}
		for _, field := range fields[min(from, len(fields)):min(15, len(fields))] {
			ticks, _ := strconv.Atoi(field)
			total += ticks
		}
	}
	return time.Duration(total) * clockTick
}
