package miniredistest

import (
	"fmt"
	"strings"
	"sync"
)

// lines holds the newest lines of the servers' logs. Any goroutine may add one.
type lines struct {
	mu   sync.Mutex
	kept []string
}

const keptLines = 200

func (l *lines) add(name string, level byte, format string, args []any) {
	if level == '.' || level == '-' {
		return
	}
	line := name + fmt.Sprintf("%c "+format, append([]any{level}, args...)...)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.kept = append(l.kept, line); len(l.kept) > keptLines {
		l.kept = l.kept[1:]
	}
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.kept, "\n")
}
