package adversary

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/miniredistest"
)

var update = flag.Bool("update", false, "write docs/lab/sentences.md again: read it")

// sentences are the histories of docs/lab/sentences.md, each with its title there.
func sentences() [][2]string {
	return [][2]string{
		{"Somebody deletes the lock", "take-px-del"},
		{"A renewal does not compare the token", "blind-renewal"},
		{"The server evicts the lock", "stranger-eviction"},
		{"The lock expires too early", "stranger-pexpire"},
		{"A client pauses before its DEL", "late-del-held"},
		{"The server crashes", "stranger-crash"},
		{"The clock of one master jumps", "masters-jump"},
		{"All clients have one token", "token-constant-one"},
		{"RENAME puts a key over the lock", "over-rename"},
		{"SETEX takes the lock", "blind-setex"},
		{"A semaphore has too many holders", "sentence-semaphore"},
		{"The key is a queue", "queue"},
		{"PEXPIRE 0 renews the lock", "past-pexpire-0"},
		{"PXAT comes from a clock that is behind", "past-take-twice"},
		{"A script deletes the lock", "stranger-eval"},
		{"The reply to a DEL is lost", "lost-release-del-retry"},
		{"FLUSHALL deletes the lock", "take-pxat-flushall"},
		{"The server restarts with an older snapshot", "restart-snapshot-older"},
		{"A release comes too late", "expiry-late-del"},
		{"The next client in a fair queue does not wait", "sentence-fair"},
	}
}

const page = "../../../docs/lab/sentences.md"

// The page shows what the verdict says, word for word. Each history has servers of its own, so that ids are the same.
func TestThePageOfSentencesShowsTheVerdictAsItIs(t *testing.T) {
	byName := map[string]history{}
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	for _, file := range files {
		for _, h := range readFile(t, file) {
			byName[h.name] = h
		}
	}
	old, err := os.ReadFile(page)
	require.NoError(t, err)
	head, _, found := strings.Cut(string(old), "\n## 1. ")
	require.True(t, found)
	text := head + "\n"
	for i, s := range sentences() {
		h, known := byName[s[1]]
		require.True(t, known, s[1])
		masters := miniredistest.RunMasters(brief{t}, h.masters, miniredistest.Watch(), miniredistest.Dialect(h.dialect))
		p := newPlayer(t, masters, h)
		p.play()
		text += fmt.Sprintf("## %d. %s\n\n```text\n%s```\n\n```text\n%s```\n\n", i+1, s[0], stepsOf(h),
			said(field(p.lab("VERDICT", "lock:*"), "text").Str))
	}
	text = strings.TrimSuffix(text, "\n")
	if *update {
		require.NoError(t, os.WriteFile(page, []byte(text), 0o644))
		return
	}
	require.Equal(t, text, string(old), "the words have changed: read the page, and write it with -update")
}

// stepsOf returns the steps of a history without the beliefs of its workers.
func stepsOf(h history) (text string) {
	for _, l := range h.lines {
		switch l.words[0] {
		case "hold", "share", "gone", "nobody":
		default:
			text += l.raw + "\n"
		}
	}
	return text
}

// said returns what a verdict says about its first lock, without the ids of connections and the line on fencing.
func said(text string) string {
	parts := strings.Split(strings.TrimSpace(text), "\n\n")
	part := parts[min(1, len(parts)-1)]
	return regexp.MustCompile(`client \d+ |\n  Fencing: .*`).ReplaceAllString(part, "") + "\n"
}
