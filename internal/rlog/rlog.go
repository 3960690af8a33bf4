// Package rlog writes log lines in the shape of redis-server's, which wrappers
// and test suites read to learn that a server is ready:
//
//	4711:M 21 Nov 2026 02:05:54.102 * Ready to accept connections tcp
//
// The number is the process, the letter its role (M a master, C a process that
// is not serving yet), the character before the text the level: . debug,
// - verbose, * notice, # warning.
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

// levels orders the level characters; words are loglevel's.
const (
	levels = ".-*#"
	words  = "debug verbose notice warning nothing"
)

// Logger writes to a file, or to a writer as long as no file is set.
type Logger struct {
	*target
	name string       // before every text
	min  atomic.Int32 // index in levels; its length silences everything
}

// target is what loggers of one process write to.
type target struct {
	mu   sync.Mutex
	out  io.Writer
	path string
	role byte
}

// New returns a logger of level notice.
func New(out io.Writer) *Logger {
	l := &Logger{target: &target{out: out, role: Starting}}
	l.min.Store(2)
	return l
}

// Named returns a logger to the same place whose lines say whose they are, and whose
// level is its own from now on.
func (l *Logger) Named(name string) *Logger {
	named := &Logger{target: l.target, name: "[" + name + "] "}
	named.min.Store(l.min.Load())
	return named
}

// SetFile sends the log to a file, to the writer again for "".
func (l *Logger) SetFile(path string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.path = path
}

// SetRole sets the letter after the process number.
func (l *Logger) SetRole(role byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.role = role
}

// SetLevel takes a word of the directive loglevel.
func (l *Logger) SetLevel(word string) {
	for i, w := range strings.Fields(words) {
		if w == word {
			l.min.Store(int32(i))
		}
	}
}

// Log writes a line, unless its level is below the one that is set.
func (l *Logger) Log(level byte, format string, args ...any) {
	if int32(strings.IndexByte(levels, level)) < l.min.Load() {
		return
	}
	now := time.Now().Format("02 Jan 2006 15:04:05.000")
	l.mu.Lock()
	defer l.mu.Unlock()
	l.write(fmt.Sprintf("%d:%c %s %c %s%s\n", os.Getpid(), l.role, now, level, l.name, fmt.Sprintf(format, args...)))
}

// Signal writes the line that redis-server's signal handler writes, which has a
// shape of its own.
func (l *Logger) Signal(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.write(fmt.Sprintf("%d:signal-handler (%d) %s\n", os.Getpid(), time.Now().Unix(), text))
}

// Text writes text without a prefix, as the logo is written.
func (l *Logger) Text(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.write(text)
}

// write opens the file for each line, so that log rotation needs no signal. A
// log that cannot be written is no reason to stop serving.
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
