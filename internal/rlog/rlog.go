// Package rlog writes log lines in the format of redis-server. Programs that start a server and test
// suites read them to learn that it is ready:
//
//	4711:M 21 Nov 2026 02:05:54.102 * Ready to accept connections tcp
//	pid:role date and time level text
//
// The role is M for a master, or C for a process that does not serve yet. The level is . for debug,
// - for verbose, * for notice, and # for warning. Redis writes them in server.c: serverLogRaw.
//
// Any goroutine may log. Log has the signature that server.New takes.
package rlog

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// The roles.
const (
	Starting = 'C'
	Master   = 'M'
)

// levels has the characters of the levels in ascending order. words has the words of the directive
// loglevel in the same order.
const (
	levels = ".-*#"
	words  = "debug verbose notice warning nothing"
)

// Logger writes to a file, or to a writer while no file is set.
type Logger struct {
	*target
	name string       // comes before every text
	min  atomic.Int32 // the lowest level that is written, as an index in levels; 4 means none
}

// target is where all loggers of a process write to.
type target struct {
	mu   sync.Mutex
	out  io.Writer
	path string
	role byte
}

// New returns a logger with the level notice.
func New(out io.Writer) *Logger {
	l := &Logger{target: &target{out: out, role: Starting}}
	l.min.Store(2)
	return l
}

// Named returns a logger to the same target. Its lines begin with [name], and it has its own level.
func (l *Logger) Named(name string) *Logger {
	named := &Logger{target: l.target, name: "[" + name + "] "}
	named.min.Store(l.min.Load())
	return named
}

// SetFile sends the log to a file. With "" it goes to the writer again.
func (l *Logger) SetFile(path string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.path = path
}

// SetRole sets the letter after the process id.
func (l *Logger) SetRole(role byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.role = role
}

// SetLevel sets the level to a word of the directive loglevel.
func (l *Logger) SetLevel(word string) {
	for i, w := range strings.Fields(words) {
		if w == word {
			l.min.Store(int32(i))
		}
	}
}

// Log writes a line, unless level is below the level of the logger. level is a character of levels.
func (l *Logger) Log(level byte, format string, args ...any) {
	if int32(strings.IndexByte(levels, level)) < l.min.Load() {
		return
	}
	now := time.Now().Format("02 Jan 2006 15:04:05.000")
	l.mu.Lock()
	defer l.mu.Unlock()
	l.write(fmt.Sprintf("%d:%c %s %c %s%s\n", os.Getpid(), l.role, now, level, l.name, fmt.Sprintf(format, args...)))
}

// Signal writes a line in the format of redis-server's signal handler (server.c: serverLogFromHandler).
func (l *Logger) Signal(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.write(fmt.Sprintf("%d:signal-handler (%d) %s\n", os.Getpid(), time.Now().Unix(), text))
}

// Text writes text without a prefix, such as the logo.
func (l *Logger) Text(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.write(text)
}

// write opens the file for each line, so that log rotation needs no signal. It ignores errors: a server
// continues without its log.
func (l *target) write(line string) {
	if l.path == "" {
		_, _ = io.WriteString(l.out, line)
		return
	}
	f, err := os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return
	}
	_, _ = f.WriteString(line)
	_ = f.Close()
}
