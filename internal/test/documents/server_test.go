package documents

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A mark starts a server that a reader does not see. So the section says which one to start.
func TestASectionSaysWhichServerItsBlocksNeed(t *testing.T) {
	servers := 0
	for _, p := range pages(t) {
		text, err := os.ReadFile(filepath.Join(top(), filepath.FromSlash(p.name)))
		require.NoError(t, err)
		for _, b := range p.blocks {
			for _, options := range b.words("server") {
				servers++
				section := sectionBefore(string(text), b.line)
				require.Regexp(t, `(?i)\bstart|\bserver (with|runs)\b`, section, "%s:%d", p.name, b.line)
				for _, option := range regexp.MustCompile(`--[\w-]+( [^-\s]\S*)?`).FindAllString(options, -1) {
					require.Contains(t, section, option, "%s:%d", p.name, b.line)
				}
			}
		}
	}
	require.NotZero(t, servers)
}

// sectionBefore returns what a reader sees from the last heading to a line, counted from 1.
func sectionBefore(text string, line int) string {
	before := strings.Join(strings.Split(text, "\n")[:line-1], "\n")
	if at := strings.LastIndex(before, "\n#"); at >= 0 {
		before = before[at:]
	}
	return regexp.MustCompile(`(?s)<!--.*?-->`).ReplaceAllString(before, "")
}
